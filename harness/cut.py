"""Cut a stream of bytes into records, and hold no more of it than one record or one piece.

What cannot be given, because it is too large or because the stream broke off, is given as the reason.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.unpack import Block, Torn

MOST = 64 * 2**20
"""Bytes of one record; a longer one is refused, and what follows it is read."""
BOM = b"\xef\xbb\xbf"
Numbered = tuple[int, bytes | str]
"""A record with its line or item, counted from 1; a `str` is why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of a file: where they stand and what they say; a `str` is why they cannot be read."""

    first: int
    start: int
    end: int
    content: bytes | str


def too_large(most: int) -> str:
    """Why a record of more bytes than `most` is refused."""
    return f"it is larger than {most / 2**20:g} MB"


def cut_lines(blocks: Iterable[Block], size: int, most: int = MOST) -> Iterator[Piece]:
    """Pieces of about `size` bytes that end where a line ends; a longer line is a piece of its own."""
    cutter = _Lines(size, most)
    for block in blocks:
        yield from cutter.torn(block.reason) if isinstance(block, Torn) else cutter.add(block)
    yield from cutter.rest()


class _Lines:
    """`kept` is what has not been given yet, `searched` how much of it is known to be inside a first line."""

    def __init__(self, size: int, most: int) -> None:
        self._size, self._most = size, most
        self._kept = bytearray()
        self._searched = self._start = 0
        self._line = 1
        self._dropping = False

    def add(self, block: bytes) -> Iterator[Piece]:
        self._kept += block
        while self._dropping or len(self._kept) >= self._size:
            end = 0 if self._dropping else self._kept.rfind(b"\n", self._searched, self._size) + 1
            end = end or self._kept.find(b"\n", self._searched) + 1
            if end:
                yield self._piece(end)
                continue
            self._searched = len(self._kept)
            if len(self._kept) > self._most or self._dropping:
                self._drop()
            return

    def _drop(self) -> None:
        """Forget the line that is too long, but not where it began."""
        if not self._dropping:
            self._dropping, self._began = True, self._start
        self._start += len(self._kept)
        self._kept.clear()
        self._searched = 0

    def _piece(self, end: int) -> Piece:
        first, start = self._line, self._began if self._dropping else self._start
        with memoryview(self._kept) as view:
            content: bytes | str = bytes(view[:end])
        self._line += self._kept.count(b"\n", 0, end)
        self._start += end
        if self._dropping or (end > self._most and self._kept.find(b"\n", 0, end - 1) < 0):
            content = too_large(self._most)
        del self._kept[:end]
        self._searched, self._dropping = 0, False
        return Piece(first, start, self._start, content)

    def rest(self) -> Iterator[Piece]:
        if self._kept or self._dropping:
            yield self._piece(len(self._kept))

    def torn(self, reason: str) -> Iterator[Piece]:
        """The whole lines before it broke off, then why there are no more."""
        end = 0 if self._dropping else self._kept.rfind(b"\n") + 1
        if end:
            yield self._piece(end)
        yield Piece(self._line, self._start, self._start + len(self._kept), reason)
        self._kept.clear()
        self._dropping = False


def lines(pieces: Iterable[Piece]) -> Iterator[Numbered]:
    """The single lines of pieces, without the blank ones."""
    for piece in pieces:
        if isinstance(piece.content, str):
            yield piece.first, piece.content
        else:
            yield from numbered_lines(piece.content, piece.first)


def numbered_lines(content: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, the first of all being number `first`."""
    if first == 1:
        content = content.removeprefix(BOM)
    for number, line in enumerate(content.split(b"\n"), first):
        if line and not line.isspace():
            yield number, line


_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FLAT = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+", re.S)


def _inside(deep: int) -> bytes:
    """What may lie in an item: anything but brackets, or whole pairs of them, so deep in one another."""
    plain = rb'[^"\[\]{}]++|' + _STRING
    return plain if deep == 0 else plain + rb"|[\[{](?:" + _inside(deep - 1) + rb")*+[\]}]"


_DEEP = re.compile(rb"(?:" + _inside(3) + rb")*+", re.S)
"""To the next bracket that matters: not to stop at commas and at pairs is what makes it quick."""
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.S)


def cut_items(blocks: Iterable[Block], most: int = MOST) -> Iterator[Numbered]:
    """The items of a JSON array, or the values that follow one another where there is no array.

    Brackets and strings are told apart and nothing more: whether an item is JSON is for its reader to say.
    """
    scanner = _Items(most)
    for block in blocks:
        if isinstance(block, Torn):
            yield from scanner.end(block.reason)
            return
        yield from scanner.add(block)
    yield from scanner.end(None)


class _Items:
    """The item that is being read begins at `begin` of `kept`; what lies before `at` has been looked at."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = b""
        self._at = self._begin = self._depth = self._number = 0
        self._begun = self._array = self._string = self._dropping = False

    def add(self, block: bytes) -> Iterator[Numbered]:
        self._kept += block
        if not self._begun and len(self._kept) < len(BOM):
            return
        if not self._begun:
            self._kept, self._begun = self._kept.removeprefix(BOM), True
        if not self._string or self._leave_string():
            while (start := self._next()) < len(self._kept):
                self._at = start + 1
                char = self._kept[start : self._at]
                if char == b'"':
                    self._string = True
                    self._leave_string()
                    break
                if item := self._punctuation(char, start):
                    yield item
            else:
                self._at = start
        self._shorten()

    def _next(self) -> int:
        """Where the next bracket, comma between items, or string that does not end here stands."""
        skipped = (_DEEP if self._depth > self._array else _FLAT).match(self._kept, self._at)
        assert skipped is not None
        return skipped.end()

    def _punctuation(self, char: bytes, start: int) -> Numbered | None:
        """A bracket or a comma; gives the item that ends there."""
        if char in b"[{":
            self._depth += 1
            if char == b"[" and self._depth == 1 and not self._kept[self._begin : start].strip():
                self._array, self._begin = True, self._at
            return None
        if char == b",":
            return self._item(start) if self._array and self._depth == 1 else None
        self._depth = max(self._depth - 1, 0)
        if self._depth:
            return None
        ended, self._array = self._array, False
        return self._item(start, optional=True) if ended else self._item(self._at)

    def _leave_string(self) -> bool:
        """Go on to the end of the string that is being read; an escape may be cut in two."""
        inside = _INSIDE.match(self._kept, self._at)
        assert inside is not None
        self._at = inside.end()
        if self._kept[self._at : self._at + 1] != b'"':
            return False
        self._string = False
        self._at += 1
        return True

    def _item(self, end: int, *, optional: bool = False) -> Numbered | None:
        """What lies between the last item and `end`; at the end of an array that may be nothing."""
        dropping, self._dropping = self._dropping, False
        item = self._kept[self._begin : end].strip()
        self._begin = self._at
        if optional and not item and not dropping:
            return None
        self._number += 1
        return self._number, too_large(self._most) if dropping or len(item) > self._most else item

    def _shorten(self) -> None:
        """Forget what has been given, and what is too large to be."""
        if len(self._kept) - self._begin > self._most or (self._dropping and self._begin == 0):
            self._begin, self._dropping = self._at, True
        self._kept = self._kept[self._begin :]
        self._at -= self._begin
        self._begin = 0

    def end(self, reason: str | None) -> Iterator[Numbered]:
        """What is left over is no whole item; where the stream broke off, that is the reason."""
        if not self._begun:
            self._begun = True
            yield from self.add(b"")
        rest = self._kept.strip()
        if reason is None and (self._dropping or len(rest) > self._most):
            reason = too_large(self._most)
        if reason is not None:
            yield self._number + 1, reason
        elif rest or self._array:
            yield self._number + 1, rest or "the array is not closed"
