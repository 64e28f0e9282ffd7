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
        while len(self._kept) >= self._size:
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
        content: bytes | str = bytes(self._kept[:end])
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


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.S)
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
    """`kept` begins with the item that is being read; what lies before `at` has been looked at."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = b""
        self._at = self._depth = self._number = 0
        self._array = self._string = self._dropping = False

    def add(self, block: bytes) -> Iterator[Numbered]:
        self._kept = self._kept + block if self._number or self._kept else block.removeprefix(BOM)
        begin = 0
        if self._string and not self._leave_string():
            self._shorten(0)
            return
        for token in _TOKEN.finditer(self._kept, self._at):
            self._at = token.end()
            char = token.group()
            if char[0] == 34:
                if len(char) == 1:
                    self._string = True
                    self._leave_string()
                    break
            elif char in b"[{":
                self._depth += 1
                if char == b"[" and self._depth == 1 and not self._kept[begin : token.start()].strip():
                    self._array, begin = True, token.end()
            elif char == b",":
                if self._array and self._depth == 1:
                    yield from self._item(begin, token.start())
                    begin = token.end()
            else:
                end = self._close(token)
                if end is not None:
                    yield from self._item(begin, end, optional=end < token.end())
                    begin = token.end()
        else:
            self._at = len(self._kept)
        self._shorten(begin)

    def _close(self, token: re.Match[bytes]) -> int | None:
        """Where the item ends that this bracket closes; None where it is inside one."""
        self._depth = max(self._depth - 1, 0)
        if self._depth:
            return None
        ended, self._array = self._array, False
        return token.start() if ended else token.end()

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

    def _item(self, begin: int, end: int, *, optional: bool = False) -> Iterator[Numbered]:
        dropping, self._dropping = self._dropping, False
        item = self._kept[begin:end].strip()
        if not (optional and not item and not dropping):
            self._number += 1
            yield self._number, too_large(self._most) if dropping or len(item) > self._most else item

    def _shorten(self, begin: int) -> None:
        if len(self._kept) - begin > self._most or (self._dropping and begin == 0):
            begin, self._dropping = self._at, True
        self._kept = self._kept[begin:]
        self._at -= begin

    def end(self, reason: str | None) -> Iterator[Numbered]:
        """What is left over is no whole item; where the stream broke off, that is the reason."""
        rest = self._kept.strip()
        if reason is None and (self._dropping or len(rest) > self._most):
            reason = too_large(self._most)
        if reason is not None:
            yield self._number + 1, reason
        elif rest or self._array:
            yield self._number + 1, rest or "the array is not closed"
