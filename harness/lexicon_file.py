"""The file of a lexicon: its shape, and everything that can be wrong with it."""

import re
import tomllib
from collections.abc import Iterator
from typing import Annotated, Any

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import Problems, SynthesisError
from harness.problems import shown

MEMORY = 8 << 20
"""Bytes RE2 may use for one pattern: with less it forgets states that it needs again at once."""
KEPT_MEMORY = 1 << 20
"""The same for a pattern that is kept and put to a few sentences at a time."""
GUARD_MEMORY = 2 << 20
"""The same for a pattern that cancels hits."""
SET_MEMORY = 64 << 20
"""The same for a set of patterns; with less it gives up its fast engine."""

_NAME = re.compile(r"(?<!\\[pPx])\{([A-Za-z_]\w*)\}")
_PIECE = r"(?>\\[pP](?:\{[^}]*\}|.)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*+\]|.)"
_ENDLESS = r"(?:[*+]|\{\d+,\})"
_REPEATED = re.compile(f"(?:{_PIECE}(?!{_ENDLESS}))*+(?:({_PIECE})({_ENDLESS})|\\Z)", re.S)
"""The next character, escape or class of a pattern that is repeated without end, or the end."""

_ANYTHING = re.compile(r"[.)]|\\[SWDP].*|\[\^.*|\[.*(?:\\[SWDP]|\[:\^).*", re.S)
_SPACE = re.compile(r"[ ]|\\s|\[:space:\]")
_LETTER = re.compile(r"\\[wdpx]|\[:(?!space)|(?<![\\:])[^\W_](?!:)")
_NEVER = r"[^\x00-\x{10ffff}]"
_LITERAL = re.compile(r"[\w' -]*")
_DEEPEST = 10
"""Word lists may be made of word lists, but not of themselves."""


Example = Annotated[str, Field(pattern=r"\S")]


class Entry(BaseModel):
    """One rule: what it is called, what it matches, why it counts, and the examples that test it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    group: str = Field(min_length=1)
    pattern: str = Field(min_length=1)
    unless: tuple[str, ...] = ()
    why: str = Field(min_length=1)
    match: tuple[Example, ...] = Field(min_length=1)
    no_match: tuple[Example, ...] = Field(min_length=1)


class LexiconFile(BaseModel):
    """The shape of a lexicon file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    words: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    guards: dict[str, str] = {}
    entry: tuple[Entry, ...] = Field(min_length=1)


def read_file(source: bytes, where: str) -> LexiconFile:
    """The file's content, if its shape is right."""
    try:
        data = tomllib.loads(source.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SynthesisError(f"not readable as TOML: {error}", where=where, fix="mend the syntax") from error
    try:
        return LexiconFile.model_validate(data)
    except ValidationError as error:
        raise Problems(_shape_problems(error, data, where)) from error


def pattern_problems(file: LexiconFile, where: str) -> list[SynthesisError]:
    """Ids used twice, and what no entry may ever use but is wrong all the same: guards and word lists."""
    return [*_duplicate_ids(file, where), *_bad_guards(file, where), *_bad_lists(file, where)]


def compile_list(name: str, file: LexiconFile, where: str) -> Any:
    """A pattern for any word of a list as a whole, which matches nothing where there is no such list."""
    spot = f"{where}: word list {name}"
    return _compiled(rf"\b{_expand(f'{{{name}}}', file, spot)}\b" if name in file.words else _NEVER, spot)


def written_out(entry: Entry, file: LexiconFile, where: str) -> tuple[str, tuple[str, ...]]:
    """The entry's pattern and those that cancel it, all of which are known to compile."""
    spot = f"{where}: entry {entry.id}"
    pattern = _compiled(_expand(entry.pattern, file, spot), spot)
    guards = [_expand(_guard(text, file, spot), file, spot) for text in entry.unless]
    for text, guard in zip(entry.unless, guards, strict=True):
        if not text.startswith("@"):
            _compiled(guard, spot)  # alone: "(" and ")" would be fine together
    return pattern.pattern, tuple(f"(?m:{guard})" for guard in guards)


def _shape_problems(error: ValidationError, data: dict[str, Any], where: str) -> Iterator[SynthesisError]:
    for detail in error.errors():
        place, *rest = detail["loc"]
        if place == "entry" and not rest and data.get("entry") and detail["type"] == "too_short":
            continue  # its entries are wrong, which is said of each
        if place == "entry" and rest:
            index, *inside = rest
            entry = data["entry"][index]
            name = entry.get("id") if isinstance(entry, dict) else None
            spot = f"{where}: entry {f'number {int(index) + 1}' if name is None else shown(name)}"
            known = list(Entry.model_fields)
        else:
            inside, spot, known = list(detail["loc"]), where, list(LexiconFile.model_fields)
        key = shown(".".join(str(part) for part in inside) or "entry")
        yield SynthesisError(
            f'"{key}": {detail["msg"]}', where=spot, fix=_shape_fix(detail["type"], key, known)
        )


def _shape_fix(kind: str, key: str, known: list[str]) -> str:
    if kind == "extra_forbidden":
        return f'remove "{key}"; the known keys are {", ".join(known)}'
    if key.partition(".")[0] in ("match", "no_match"):
        return f'give "{key.partition(".")[0]}" at least one example sentence, and none that is blank'
    if key.startswith("words.") and kind == "too_short":
        return f'give "{key}" at least one word, or remove it'
    if kind == "missing":
        return f'add "{key}"'
    return f'correct "{key}"'


def _duplicate_ids(file: LexiconFile, where: str) -> Iterator[SynthesisError]:
    seen: set[str] = set()
    for entry in file.entry:
        if entry.id in seen:
            yield SynthesisError(
                "the id is used twice", where=f"{where}: entry {entry.id}", fix="give each entry its own id"
            )
        seen.add(entry.id)


def _bad_guards(file: LexiconFile, where: str) -> Iterator[SynthesisError]:
    for name, text in file.guards.items():
        try:
            _compiled(_expand(text, file, f"{where}: guard @{name}"), f"{where}: guard @{name}")
        except SynthesisError as problem:
            yield problem


def _bad_lists(file: LexiconFile, where: str) -> Iterator[SynthesisError]:
    """Lists that some entry or guard reaches are checked with it."""
    texts = (text for entry in file.entry for text in (entry.pattern, *entry.unless))
    pieces = [*file.guards.values(), *texts]
    reached: set[str] = set()
    while pieces:
        fresh = {name for piece in pieces for name in _NAME.findall(piece)} - reached
        reached |= fresh
        pieces = [word for name in fresh for word in file.words.get(name, ())]
    for name, listed in file.words.items():
        if name in reached or all(map(_LITERAL.fullmatch, listed)):
            continue
        try:
            compile_list(name, file, where)
        except SynthesisError as problem:
            yield problem


def _guard(text: str, file: LexiconFile, spot: str) -> str:
    if not text.startswith("@"):
        return text
    if text[1:] not in file.guards:
        known = ", ".join(f"@{name}" for name in file.guards) or "none"
        raise SynthesisError(
            f'no guard "{text}"', where=spot, fix=f"define it under [guards]; known: {known}"
        )
    return file.guards[text[1:]]


def _compiled(expanded: str, spot: str) -> Any:
    if gap := next(filter(None, map(_gap, _REPEATED.finditer(expanded))), None):
        raise SynthesisError(
            f"unbounded gap {gap!r} in {shown(expanded)!r}",
            where=spot,
            fix="write the gap's size, as in .{0,30}",
        )
    try:
        return re2.compile(f"(?m:{expanded})", re2_options())
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace")
        what = f"the pattern {shown(expanded)!r} does not compile: {why}"
        raise SynthesisError(what, where=spot, fix="mend the pattern") from error


def _gap(repeated: re.Match[str]) -> str | None:
    """The repeated piece, if it can run on through any number of words."""
    what, mark = repeated.groups()
    if what is None:
        return None
    words = what[0] == "[" and _SPACE.search(what) and _LETTER.search(what)
    return what + mark if words or _ANYTHING.fullmatch(what) else None


def _expand(text: str, file: LexiconFile, spot: str) -> str:
    """The pattern with every `{name}` replaced by its words."""

    def listed(match: re.Match[str]) -> str:
        if match[1] not in file.words:
            known = ", ".join(f"{{{name}}}" for name in file.words) or "none"
            raise SynthesisError(
                f'no word list "{match[1]}"', where=spot, fix=f"define it under [words]; known: {known}"
            )
        return f"(?:{'|'.join(file.words[match[1]])})"

    for _ in range(_DEEPEST):
        if not _NAME.search(text):
            return text
        text = _NAME.sub(listed, text)
    raise SynthesisError(
        "a word list is made of itself", where=spot, fix="let no list under [words] name itself"
    )


def re2_options(memory: int = MEMORY) -> Any:
    """Enough memory, and no word of its own on standard error."""
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
