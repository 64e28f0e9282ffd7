"""The patterns of a lexicon: written out in full, and everything that can be wrong with them."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from harness.errors import SynthesisError
from harness.lexicon_file import Entry, LexiconFile
from harness.pattern import by_line, compiled
from harness.problems import shown

Item = TypeVar("Item")

_NAME = re.compile(r"\{(?<!\\[pPx]\{)([A-Za-z_]\w*)\}")
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


class LexiconPatterns:
    """The patterns of one file; a list or guard is written out once, however many entries use it."""

    def __init__(self, file: LexiconFile, where: str) -> None:
        self._file = file
        self._where = where
        self._lists: dict[str, str] = {}
        self._guards: dict[str, str] = {}

    def of_entry(self, entry: Entry) -> tuple[str, list[str]]:
        """The entry's pattern and those that cancel it; whether they compile is told by `problems`."""
        spot = self._spot(entry)
        return by_line(self._expand(entry.pattern, spot)), [self._guard(text, spot) for text in entry.unless]

    def any_of(self, name: str) -> str:
        """For any word of a list as a whole; for nothing at all where there is no such list."""
        return by_line(self._any_of(name, self._list_spot(name)))

    def _any_of(self, name: str, spot: str) -> str:
        return rf"\b{self._list(name, spot)}\b" if name in self._file.words else _NEVER

    def _list_spot(self, name: str) -> str:
        return f"{self._where}: word list {name}"

    def problems(self) -> Iterator[SynthesisError]:
        """Ids used twice, and every guard, word list and entry that is wrong."""
        yield from self._duplicate_ids()
        yield from _raised(self._check_guard, self._file.guards)
        yield from _raised(self._check_list, self._unused_lists())
        yield from _raised(self._check_entry, self._file.entry)

    def _spot(self, entry: Entry) -> str:
        return f"{self._where}: entry {entry.id}"

    def _duplicate_ids(self) -> Iterator[SynthesisError]:
        seen: set[str] = set()
        for entry in self._file.entry:
            if entry.id in seen:
                yield SynthesisError(
                    "the id is used twice", where=self._spot(entry), fix="give each entry its own id"
                )
            seen.add(entry.id)

    def _unused_lists(self) -> Iterator[str]:
        """Those with more than plain words; lists that some entry or guard reaches are checked with it."""
        file = self._file
        texts = (text for entry in file.entry for text in (entry.pattern, *entry.unless))
        pieces = [*file.guards.values(), *texts]
        reached: set[str] = set()
        while pieces:
            fresh = {name for piece in pieces for name in _NAME.findall(piece)} - reached
            reached |= fresh
            pieces = [word for name in fresh for word in file.words.get(name, ())]
        for name, listed in file.words.items():
            if name not in reached and not all(map(_LITERAL.fullmatch, listed)):
                yield name

    def _check_guard(self, name: str) -> None:
        spot = f"{self._where}: guard @{name}"
        _checked(self._expand(self._file.guards[name], spot), spot)

    def _check_list(self, name: str) -> None:
        spot = self._list_spot(name)
        _checked(self._any_of(name, spot), spot)

    def _check_entry(self, entry: Entry) -> None:
        spot = self._spot(entry)
        _checked(self._expand(entry.pattern, spot), spot)
        for text in entry.unless:
            self._guard(text, spot)
        for text in entry.unless:
            if not text.startswith("@"):
                _checked(self._expand(text, spot), spot)  # alone: "(" and ")" would be fine together

    def _guard(self, text: str, spot: str) -> str:
        if text not in self._guards:
            self._guards[text] = by_line(self._expand(self._guard_text(text, spot), spot))
        return self._guards[text]

    def _guard_text(self, text: str, spot: str) -> str:
        guards = self._file.guards
        if not text.startswith("@"):
            return text
        if text[1:] not in guards:
            known = ", ".join(f"@{name}" for name in guards) or "none"
            raise SynthesisError(
                f'no guard "{text}"', where=spot, fix=f"define it under [guards]; known: {known}"
            )
        return guards[text[1:]]

    def _expand(self, text: str, spot: str, depth: int = 1) -> str:
        """The pattern with every `{name}` replaced by its words."""
        return _NAME.sub(lambda match: self._list(match[1], spot, depth), text) if "{" in text else text

    def _list(self, name: str, spot: str, depth: int = 1) -> str:
        if name not in self._lists:
            if depth >= _DEEPEST:
                fix = "let no list under [words] name itself"
                raise SynthesisError("a word list is made of itself", where=spot, fix=fix)
            if name not in self._file.words:
                known = ", ".join(f"{{{name}}}" for name in self._file.words) or "none"
                raise SynthesisError(
                    f'no word list "{name}"', where=spot, fix=f"define it under [words]; known: {known}"
                )
            self._lists[name] = self._expand(f"(?:{'|'.join(self._file.words[name])})", spot, depth + 1)
        return self._lists[name]


def _raised(check: Callable[[Item], object], items: Iterable[Item]) -> Iterator[SynthesisError]:
    for item in items:
        try:
            check(item)
        except SynthesisError as problem:
            yield problem


def _checked(expanded: str, spot: str) -> None:
    if gap := next(filter(None, map(_gap, _REPEATED.finditer(expanded))), None):
        raise SynthesisError(
            f"unbounded gap {gap!r} in {shown(expanded)!r}",
            where=spot,
            fix="write the gap's size, as in .{0,30}",
        )
    compiled(by_line(expanded), where=spot)


def _gap(repeated: re.Match[str]) -> str | None:
    """The repeated piece, if it can run on through any number of words."""
    what, mark = repeated.groups()
    if what is None:
        return None
    words = what[0] == "[" and _SPACE.search(what) and _LETTER.search(what)
    return what + mark if words or _ANYTHING.fullmatch(what) else None
