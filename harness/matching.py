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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, NamedTuple

from harness.lexicon_file import Entry
from harness.records import Hit, Side
from harness.text import LONG_SENTENCE, Folded

MOST_HITS = 1000
"""Places listed per rule and text; one who says a thing more often than this is judged no differently."""

REACH = 300
"""Characters on each side of a hit that `unless` sees, where the sentence is longer."""

REMEMBERED = 1 << 13
"""Sentences whose places are remembered, per set of rules; the oldest half goes when there are more."""

_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)


class Place(NamedTuple):
    """Where a rule matched, in offsets of the sentence or text that was searched."""

    start: int
    end: int
    rule: str
    group: str


@dataclass(frozen=True)
class Rule:
    """An entry made ready to match; `unless` is all its cancelling patterns in one, or None."""

    entry: Entry
    pattern: Any
    unless: Any

    @property
    def crosses_sentences(self) -> bool:
        """Whether the pattern names the line break between two sentences."""
        pattern = self.pattern.pattern
        return r"\n" in pattern and r"\n" in _CLASS.sub("", pattern)

    def stands(self, text: str, start: int, end: int) -> bool:
        """Whether nothing around a match cancels it."""
        return self.unless is None or self.unless.search(_marked(text, start, end)) is None

    def places(self, text: str) -> Iterator[Place]:
        """Every place in a text where the pattern matches and nothing around it cancels it."""
        for match in self.pattern.finditer(searchable(text)):
            start, end = match.span()
            if end > start and self.stands(text, start, end):
                yield Place(start, end, self.entry.id, self.entry.group)


def searchable(text: str) -> str | bytes:
    """As RE2 takes a text: bytes where they are one per character, which is much the faster."""
    return text.encode("ascii") if text.isascii() else text


def _marked(text: str, start: int, end: int) -> str:
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
        self._known: dict[str, tuple[Place, ...]] = {}

    def hits(self, folded: Folded, view: str, side: Side) -> list[Hit]:
        """All hits in a view of the folded text of the same length, by their place."""
        lines = view.split("\n")
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
        known = self._known
        try:
            return [known[line] for line in lines]
        except KeyError:
            old = {line: known[line] for line in lines if line in known}
        both = old | self.learn(lines)
        return [both[line] for line in lines]

    def learn(self, lines: Iterable[str]) -> dict[str, tuple[Place, ...]]:
        """Search all sentences that are not known yet, together; gives what was found in these."""
        fresh = [line for line in dict.fromkeys(lines) if line not in self._known]
        new: dict[str, tuple[Place, ...]] = {}
        for ascii_only in (True, False):
            new |= self._searched([line for line in fresh if line.isascii() is ascii_only])
        if len(self._known) > REMEMBERED:
            for line in list(islice(self._known, REMEMBERED // 2)):
                del self._known[line]
        self._known |= {line: places for line, places in new.items() if len(line) < LONG_SENTENCE}
        return new

    def _searched(self, lines: list[str]) -> dict[str, tuple[Place, ...]]:
        found: list[list[Place]] = [[] for _ in lines]
        text = searchable("\n".join(lines))
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        for rule in self._within if lines else ():
            for index, place in _by_line(rule, lines, text, starts):
                found[index].append(place)
        return {line: tuple(sorted(places)) for line, places in zip(lines, found, strict=True)}


def _by_line(rule: Rule, lines: list[str], text: str | bytes, starts: list[int]) -> list[tuple[int, Place]]:
    """The places of one rule, each with the number of its line."""
    found: list[tuple[int, Place]] = []
    at = before = 0
    for match in rule.pattern.finditer(text):
        start, end = match.span()
        if not starts[at] <= start < starts[at + 1]:
            at, before = bisect_right(starts, start) - 1, len(found)
        first, last = start - starts[at], end - starts[at]
        if last > len(lines[at]):
            return [
                (index, place)
                for index, line in enumerate(lines)
                for place in islice(rule.places(line), MOST_HITS)
            ]
        if last > first and len(found) - before < MOST_HITS and rule.stands(lines[at], first, last):
            found.append((at, Place(first, last, rule.entry.id, rule.entry.group)))
    return found


def _first_of_each(hits: Iterable[Hit]) -> Iterator[Hit]:
    seen: dict[str, int] = {}
    for hit in hits:
        seen[hit.rule] = seen.get(hit.rule, 0) + 1
        if seen[hit.rule] <= MOST_HITS:
            yield hit


def _hit(place: Place, folded: Folded, side: Side) -> Hit:
    start, end = folded.origin(place.start, place.end)
    return Hit(place.rule, place.group, folded.original[start:end], start, end, side)
