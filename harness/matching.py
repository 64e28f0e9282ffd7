"""Find where rules match: sentence by sentence, many sentences at once, and each sentence only once.

A rule sees one sentence at a time, unless it has a line break written in its pattern. So what it finds in a
sentence does not depend on the rest of the text, and sentences come back: openings, offers, stock advice.
What was found in one is remembered. Sentences that are new are joined and put to one rule after the other,
which costs a small part of asking every rule about every sentence. RE2's sets, which ask all rules at once,
are no way around that: with rules as rich as these, text that is new to them makes them build states without
end.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, NamedTuple

from harness.errors import SynthesisError
from harness.folded import LONG_SENTENCE, Folded
from harness.lazy import Lazy
from harness.lexicon_file import Entry
from harness.pattern import GUARD_MEMORY, KEPT_MEMORY, MEMORY, compiled
from harness.records import Hit, Side

MOST_HITS = 1000
"""Places listed per rule and text; one who says a thing more often than this is judged no differently."""

REACH = 300
"""Characters on each side of a hit that `unless` sees, where the sentence is longer."""

REMEMBERED = 1 << 13
"""Sentences whose places are remembered, per set of rules; when there are twice as many, the oldest go."""

MUCH = 20_000
"""Characters of new sentences from which on every pattern is compiled for their sake alone."""

_WIDER = ("[^", r"\W", r"\D", r"\s")
"""What can stand for a line break without naming it; few patterns have any of it."""
_WIDE = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]", re.S)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)


class Place(NamedTuple):
    """Where a rule matched, in offsets of the sentence or text that was searched."""

    start: int
    end: int
    rule: str
    group: str


class Rule:
    """An entry made ready to match; its patterns are compiled when they are first used."""

    def __init__(self, entry: Entry, pattern: str, unless: Iterable[str]) -> None:
        self.entry = entry
        self.crosses_sentences = r"\n" in pattern and r"\n" in _CLASS.sub("", pattern)
        """Whether the pattern names the line break between two sentences."""
        self.searched = pattern if self.crosses_sentences else confined(pattern)
        """The pattern as it is searched."""
        self.unless = tuple(unless if self.crosses_sentences else map(confined, unless))

    @Lazy
    def pattern(self) -> Any:
        """What it matches; it keeps little of the text it has seen."""
        try:
            return compiled(self.searched, KEPT_MEMORY)
        except SynthesisError:  # it does not fit
            return compiled(self.searched, 3 * KEPT_MEMORY, f"entry {self.entry.id}")

    def roomy(self) -> Any:
        """What it matches, for one large search: quicker there, and too large to be kept."""
        return compiled(self.searched, MEMORY, f"entry {self.entry.id}")

    def stands(self, text: str, start: int, end: int) -> bool:
        """Whether nothing around a match cancels it."""
        marked = marked_in(text, start, end) if self.unless else ""
        return not any(guard(each).search(marked) for each in self.unless)

    def places(self, text: str) -> Iterator[Place]:
        """Every place in a text where the pattern matches and nothing around it cancels it."""
        for start, end in self.spans(text):
            if end > start and self.stands(text, start, end):
                yield Place(start, end, self.entry.id, self.entry.group)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Every place where the pattern matches."""
        return (match.span() for match in self.pattern.finditer(searchable(text)))


@lru_cache(maxsize=1024)
def confined(pattern: str) -> str:
    """The pattern with no line break in what it matches by naming what it does not."""
    return _WIDE.sub(_without_break, pattern) if any(part in pattern for part in _WIDER) else pattern


def _without_break(match: "re.Match[str]") -> str:
    piece = match.group()
    if piece[0] == "[":
        return (
            piece if piece[1] != "^" or r"\n" in piece else rf"[^\n{piece[2:]}" if piece[2] != "]" else piece
        )
    return {r"\W": r"[^\w\n]", r"\D": r"[^\d\n]", r"\s": r"[\t\f\r ]"}.get(piece, piece)


@lru_cache(maxsize=1024)
def guard(pattern: str) -> Any:
    """A cancelling pattern, which many rules share."""
    return compiled(pattern, GUARD_MEMORY)


def searchable(text: str) -> str | bytes:
    """As RE2 takes a text: bytes where they are one per character, which is much the faster."""
    return text.encode("ascii") if text.isascii() else text


def marked_in(text: str, start: int, end: int) -> str:
    """The hit's sentence with the hit between `<` and `>`; of an endless sentence only what is near."""
    first, last = max(0, start - REACH), start + REACH
    begin = text.rfind("\n", first, start)
    stop = text.find("\n", start, last)
    before = text[first if begin < 0 else begin + 1 : start]
    return f"{before}<{text[start:end]}>{text[end : max(last if stop < 0 else stop, end)]}"


class RuleSet:
    """Some rules of a lexicon, asked together."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        every = tuple(rules)
        self._across = [rule for rule in every if rule.crosses_sentences]
        self._within = [rule for rule in every if not rule.crosses_sentences]
        self._lot: dict[str, tuple[Place, ...]] = {}
        """All sentences of the last lot."""
        self._known: dict[str, tuple[Place, ...]] = {}
        """Sentences of earlier ones, without those that are long."""

    def hits(self, folded: Folded, view: str, side: Side) -> list[Hit]:
        """All hits in a view of the folded text of the same length, by their place."""
        lines = folded.lines_of(view)
        original, origin = folded.original, folded.origin if folded.edits else None
        hits: list[Hit] = []
        offset = 0
        for line, places in zip(lines, self._places(lines), strict=True):
            for start, end, name, group in places:
                first, last = start + offset, end + offset
                if origin is not None:
                    first, last = origin(first, last)
                hits.append(Hit(name, group, original[first:last], first, last, side))
            offset += len(line) + 1
        for rule in self._across:
            hits += [_hit(place, folded, side) for place in islice(rule.places(view), MOST_HITS)]
        if self._across or origin is not None:
            hits.sort(key=lambda hit: (hit.start, hit.end, hit.rule))
        return hits if len(hits) <= MOST_HITS else list(_first_of_each(hits))

    def _places(self, lines: Sequence[str]) -> list[tuple[Place, ...]]:
        try:
            return [self._lot[line] for line in lines]
        except KeyError:
            found = self._recalled(lines)
        new = self._search([line for line in dict.fromkeys(lines) if line not in found])
        self._remember(new)
        found |= new
        return [found[line] for line in lines]

    def learn(self, lines: Iterable[str]) -> None:
        """Search a whole lot of sentences together; those that are known already are not searched again."""
        wanted = dict.fromkeys(lines)
        found = self._recalled(wanted)
        self._remember(self._lot)
        self._lot = found | self._search([line for line in wanted if line not in found])

    def _recalled(self, lines: Iterable[str]) -> dict[str, tuple[Place, ...]]:
        lot, known = self._lot, self._known
        return {
            line: lot[line] if line in lot else known[line] for line in lines if line in lot or line in known
        }

    def _remember(self, places: Mapping[str, tuple[Place, ...]]) -> None:
        self._known |= {line: found for line, found in places.items() if len(line) < LONG_SENTENCE}
        if len(self._known) > 2 * REMEMBERED:
            for line in list(islice(self._known, len(self._known) - REMEMBERED)):
                del self._known[line]

    def _search(self, lines: list[str]) -> dict[str, tuple[Place, ...]]:
        parts = [_Joined([line for line in lines if line.isascii() is plain]) for plain in (True, False)]
        roomy = sum(map(len, lines)) >= MUCH
        for rule in self._within if lines else ():
            pattern = rule.roomy() if roomy else rule.pattern
            for part in parts:
                part.search(rule, pattern)
        return {line: places for part in parts for line, places in part.found()}


class _Joined:
    """Sentences joined to one text, which a rule searches in one go."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._text = searchable("\n".join(lines))
        self._starts = _starts(lines)
        self._found: list[tuple[int, Place]] = []
        self._guarded: dict[str, list[int]] = {}
        """For each cancelling pattern the places, by number, that it may cancel."""

    def search(self, rule: Rule, pattern: Any) -> None:
        """Note all places of the rule."""
        if not self._lines:
            return
        spans = _spans(pattern.finditer(self._text), self._lines, self._starts)
        if spans is None:
            spans = [(at, *span) for at, line in enumerate(self._lines) for span in rule.spans(line)]
        first = len(self._found)
        name, group = rule.entry.id, rule.entry.group
        self._found += [(at, Place(start, end, name, group)) for at, start, end in _few_each(spans)]
        for each in rule.unless if len(self._found) > first else ():
            self._guarded.setdefault(each, []).extend(range(first, len(self._found)))

    def found(self) -> Iterator[tuple[str, tuple[Place, ...]]]:
        """Each sentence with the places that nothing around them cancels, in order."""
        gone: set[int] = set()
        marked = [marked_in(self._lines[at], place.start, place.end) for at, place in self._found]
        for each, numbers in self._guarded.items():
            left = [number for number in numbers if number not in gone]
            cancelled = _matched(guard(each), [marked[number] for number in left])
            gone.update(left[index] for index in cancelled)
        places: list[list[Place]] = [[] for _ in self._lines]
        for number, (at, place) in enumerate(self._found):
            if number not in gone:
                places[at].append(place)
        for line, found in zip(self._lines, places, strict=True):
            yield line, tuple(sorted(found))


def _starts(lines: Iterable[str]) -> list[int]:
    return list(accumulate((len(line) + 1 for line in lines), initial=0))


def _matched(pattern: Any, texts: list[str]) -> set[int]:
    """Which of these texts have a match; they are joined, as long as none of them is left by one."""
    spans = _spans(pattern.finditer(searchable("\n".join(texts))), texts, _starts(texts)) if texts else []
    if spans is None:
        return {number for number, each in enumerate(texts) if pattern.search(each)}
    return {at for at, _, _ in spans}


def _spans(matches: Iterable[Any], lines: list[str], starts: list[int]) -> list[tuple[int, int, int]] | None:
    """Matches in joined lines: the line's number and the offsets in it; None where one leaves its line."""
    found = []
    for match in matches:
        start, end = match.span()
        at = bisect_right(starts, start) - 1
        if end - starts[at] > len(lines[at]):
            return None
        found.append((at, start - starts[at], end - starts[at]))
    return found


def _few_each(spans: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Those that are not empty, and of each line no more than are looked at."""
    seen: Counter[int] = Counter()
    for at, start, end in spans:
        if end > start and seen[at] < 2 * MOST_HITS:
            seen[at] += 1
            yield at, start, end


def _first_of_each(hits: Iterable[Hit]) -> Iterator[Hit]:
    seen: dict[str, int] = {}
    for hit in hits:
        seen[hit.rule] = seen.get(hit.rule, 0) + 1
        if seen[hit.rule] <= MOST_HITS:
            yield hit


def _hit(place: Place, folded: Folded, side: Side) -> Hit:
    start, end = folded.origin(place.start, place.end)
    return Hit(place.rule, place.group, folded.original[start:end], start, end, side)
