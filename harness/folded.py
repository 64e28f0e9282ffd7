"""A text made plain, with the way back to the original: what folding gives."""

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.lazy import Lazy
from harness.quotation import mask_quotations

LONG_SENTENCE = 500
"""Characters from which on nothing about a sentence is remembered: it hardly comes back."""

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_IN_ORDER = array("l", range(4000))
"""Copying a piece of it is far quicker than counting anew."""


class Folded:
    """One plain view of `original`; `items` are the folded offsets where list items begin."""

    def __init__(self, original: str, text: str, items: tuple[int, ...], edits: tuple["Edit", ...]) -> None:
        self.original = original
        self.text = text
        self.items = items
        self.edits = edits

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a folded span stands in the original, in code points."""
        if not self.edits:
            return start, max(start, end)
        if end <= start:
            return self._places[start], self._places[start]
        return self._places[start], self._places[end - 1] + 1

    @Lazy
    def _places(self) -> "array[int]":
        """For each place in the folded text, and the one behind it, the place in the original."""
        size = len(self.original) + 1
        places = _IN_ORDER[:size] if size <= len(_IN_ORDER) else array("l", range(size))
        for edit in self.edits:
            places = edit.moved(places)
        return places

    @Lazy
    def own(self) -> str:
        """The folded text with quotations blanked out, letter for letter: the speaker's own words."""
        return mask_quotations(self.text)

    @Lazy
    def lines(self) -> list[str]:
        """Every sentence; a text without words has none."""
        return self.text.split("\n") if self.text else []

    def lines_of(self, view: str) -> list[str]:
        """The sentences of a view of the text; those of our own views are cut once, and kept but once."""
        if view is self.text:
            return self.lines
        return self._own_lines if view is self.own else view.split("\n")

    @Lazy
    def _own_lines(self) -> list[str]:
        return self.own.split("\n")

    @Lazy
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of every sentence, in folded offsets."""
        spans, start = [], 0
        for line in self.lines:
            end = start + len(line)
            spans.append((start, end))
            start = end + 1
        return tuple(spans)

    @Lazy
    def words(self) -> list[str]:
        """All words, with inner apostrophes kept."""
        return [word for line in self.lines for word in words_in(line)]

    def sentence_at(self, position: int, reach: int) -> tuple[int, int]:
        """The sentence that holds a folded offset, or as much of it as lies within reach."""
        nearest, furthest = max(0, position - reach), min(len(self.text), position + reach)
        start = self.text.rfind("\n", nearest, position)
        end = self.text.find("\n", position, furthest)
        return nearest if start < 0 else start + 1, furthest if end < 0 else end


class Edit(NamedTuple):
    """One pattern replaced throughout `before`. The way back is worked out only when it is asked for."""

    before: str
    pattern: re.Pattern[str]
    replacement: str

    def moved(self, places: "array[int]") -> "array[int]":
        """The places of the text before the edit as those of the text after it."""
        found = array("l")
        width, kept = len(self.replacement), 0
        for match in self.pattern.finditer(self.before):
            start, end = match.span()
            found += places[kept:start]
            found.extend([places[min(start + inside, end - 1)] for inside in range(width)])
            kept = end
        return found + places[kept:]


@lru_cache(maxsize=1 << 12)
def _short_words(sentence: str) -> tuple[str, ...]:
    return tuple(WORD.findall(sentence))


def words_in(sentence: str) -> Sequence[str]:
    """The words of a folded sentence, with inner apostrophes kept; those of short ones are remembered."""
    return _short_words(sentence) if len(sentence) < LONG_SENTENCE else WORD.findall(sentence)
