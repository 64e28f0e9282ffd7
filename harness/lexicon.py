"""Lexicons: words as data. Load them, refuse what is wrong with them, find their hits.

A lexicon is one TOML file, `lexicons/<checker>/<language>.toml`. Patterns are RE2 syntax and see folded
text (`harness.text.fold`): lower case, straight quotes, one sentence a line. `{name}` in a pattern stands
for any of the words listed under `[words]`. An entry's `unless` cancels a hit: it sees the hit's sentence
with the hit between `<` and `>`, so `not <` is a negation just before it and `\\?$` a question; `@name`
refers to a pattern under `[guards]`.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import Any

import re2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import Problems, SynthesisError
from harness.problems import shown
from harness.records import Hit, Side
from harness.text import Folded

MEMORY = 64 << 20
"""Bytes RE2 may use for one set of patterns; with its default of 8 MB it gives up its fast engine."""

MOST_HITS = 200
"""Places listed per rule and text; one who says a thing more often than this is judged no differently."""

REACH = 300
"""Characters on each side of a hit that `unless` sees, where the sentence is longer."""

_NAME = re.compile(r"\{([a-z_]+)\}")
_GAP = r"(?<!\\)\.|\[\^[^\]]*\]|\[[^\]]*\\[SWD][^\]]*\]|\\[SWD]|(?<!\\)\)"
_UNBOUNDED = re.compile(rf"(?:{_GAP})(?:[*+]|\{{\d+,\}})")
_DEEPEST = 10
"""Word lists may be made of word lists, but not of themselves."""


class Entry(BaseModel):
    """One rule: what it is called, what it matches, why it counts, and the examples that test it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    group: str = Field(min_length=1)
    pattern: str = Field(min_length=1)
    unless: tuple[str, ...] = ()
    why: str = Field(min_length=1)
    match: tuple[str, ...] = Field(min_length=1)
    no_match: tuple[str, ...] = Field(min_length=1)


class LexiconFile(BaseModel):
    """The shape of a lexicon file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    words: dict[str, tuple[str, ...]] = {}
    guards: dict[str, str] = {}
    entry: tuple[Entry, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Rule:
    """An entry made ready to match; `unless` is all its cancelling patterns in one, or None."""

    entry: Entry
    pattern: Any
    unless: Any

    def hits(self, folded: Folded, view: "View", side: Side) -> Iterator[Hit]:
        """Every place where the pattern matches and nothing around it cancels it."""
        for match in islice(self._matches(folded, view), MOST_HITS):
            first, last = folded.origin(*match)
            yield Hit.model_construct(
                rule=self.entry.id,
                group=self.entry.group,
                text=folded.original[first:last],
                start=first,
                end=last,
                side=side,
            )

    def _matches(self, folded: Folded, view: "View") -> Iterator[tuple[int, int]]:
        for match in self.pattern.finditer(view.searched):
            start, end = match.span()
            if end > start and not (
                self.unless and self.unless.search(_marked(folded, view.text, start, end))
            ):
                yield start, end


def _marked(folded: Folded, text: str, start: int, end: int) -> str:
    """The hit's sentence with the hit between `<` and `>`; of an endless sentence only what is near."""
    first, last = folded.sentence_at(start, REACH)
    return f"{text[first:start]}<{text[start:end]}>{text[end : max(last, end)]}"


class View:
    """A folded text as RE2 takes it: bytes where they are one per character, which is much the faster."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.searched: str | bytes = text.encode("ascii") if text.isascii() else text


class Lexicon:
    """The rules of one checker in one language."""

    def __init__(self, name: str, source: bytes, file: LexiconFile, rules: tuple[Rule, ...]) -> None:
        self.name = name
        self.version = file.version
        self.sha256 = hashlib.sha256(source).hexdigest()
        self.words = file.words
        self.rules = rules
        self.groups = tuple(dict.fromkeys(rule.entry.group for rule in rules))
        self._by_group = {
            group: _RuleSet(tuple(rule for rule in rules if rule.entry.group == group))
            for group in self.groups
        }

    def hits(
        self, folded: Folded, group: str, *, view: str | None = None, side: Side = "assistant"
    ) -> list[Hit]:
        """All hits of one group in the folded text, or in a view of it of the same length."""
        if group not in self._by_group:
            raise SynthesisError(
                f'no entry has the group "{group}"',
                where=self.name,
                fix=f'add entries with group = "{group}"',
            )
        return self._by_group[group].hits(folded, View(folded.text if view is None else view), side)


class _RuleSet:
    """Rules that are first asked all at once which of them match, and then one by one where."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._set = re2.Set.SearchSet(_options())
        for rule in rules:
            self._set.Add(rule.pattern.pattern)
        self._sentinel = self._set.Add("")
        self._set.Compile()

    def hits(self, folded: Folded, view: View, side: Side) -> list[Hit]:
        found: list[Hit] = []
        for index in self._candidates(view):
            found.extend(self._rules[index].hits(folded, view, side))
        return sorted(found, key=lambda hit: (hit.start, hit.end, hit.rule))

    def _candidates(self, view: View) -> Sequence[int]:
        """A set that runs out of memory answers like one that matched nothing, but for the sentinel."""
        matched = self._set.Match(view.searched)
        if matched is None or self._sentinel not in matched:
            return range(len(self._rules))
        return sorted(index for index in matched if index != self._sentinel)


def _options() -> Any:
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    return options


@cache
def load(checker: str, language: str = "en", package: str = "harness") -> Lexicon:
    """The lexicon of a checker in a language, from `lexicons/` in the package that brings the checker."""
    folder = resources.files(package) / "lexicons" / checker
    there = languages(folder)
    if language not in there:
        raise SynthesisError(
            f'no lexicon for language "{shown(language)}"',
            where=checker,
            fix=f"use one of: {', '.join(there) or 'none there yet'}, or add {checker}/<language>.toml",
        )
    return parse((folder / f"{language}.toml").read_bytes(), f"{checker}/{language}.toml")


def languages(folder: Traversable) -> list[str]:
    """The languages that a folder of lexicons has."""
    if not folder.is_dir():
        return []
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml"))


def parse(source: bytes, where: str) -> Lexicon:
    """Read and check a whole lexicon file; everything wrong with it is reported together."""
    try:
        data = tomllib.loads(source.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SynthesisError(f"not readable as TOML: {error}", where=where, fix="mend the syntax") from error
    try:
        file = LexiconFile.model_validate(data)
    except ValidationError as error:
        raise Problems(_shape_problems(error, data, where)) from error
    problems = [*_duplicate_ids(file, where), *_bad_guards(file, where)]
    rules = tuple(rule for entry in file.entry if (rule := _compile_entry(entry, file, where, problems)))
    if problems:
        raise Problems(problems)
    try:
        return Lexicon(where, source, file, rules)
    except re2.error as error:
        what = "the patterns of a group are too large together"
        raise SynthesisError(what, where=where, fix="make their gaps smaller") from error


def _shape_problems(error: ValidationError, data: dict[str, Any], where: str) -> Iterator[SynthesisError]:
    for detail in error.errors():
        place, *rest = detail["loc"]
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
    if key in ("match", "no_match"):
        return f'give "{key}" at least one example sentence'
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


def _compile_entry(
    entry: Entry, file: LexiconFile, where: str, problems: list[SynthesisError]
) -> Rule | None:
    spot = f"{where}: entry {entry.id}"
    try:
        pattern = _compiled(_expand(entry.pattern, file, spot), spot)
        guards = [_expand(_guard(text, file, spot), file, spot) for text in entry.unless]
        for text, guard in zip(entry.unless, guards, strict=True):
            if not text.startswith("@"):
                _compiled(guard, spot)  # alone: "(" and ")" would be fine together
        unless = _compiled("|".join(f"(?:{guard})" for guard in guards), spot) if guards else None
    except SynthesisError as problem:
        problems.append(problem)
        return None
    return Rule(entry, pattern, unless)


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
    if gap := _UNBOUNDED.search(expanded):
        raise SynthesisError(
            f"unbounded gap {gap.group()!r} in {shown(expanded)!r}",
            where=spot,
            fix="write the gap's size, as in .{0,30}",
        )
    try:
        return re2.compile(f"(?m:{expanded})", _options())
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace")
        what = f"the pattern {shown(expanded)!r} does not compile: {why}"
        raise SynthesisError(what, where=spot, fix="mend the pattern") from error


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
