"""Rows of a CSV or TSV stream as JSON objects by column name; a row may go over several lines."""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO

import orjson

from harness.console import counted
from harness.cut import BOM, MOST, Numbered, cut_lines
from harness.unpack import Block

DELIMITERS = "\t,;|"
_PIECE = 1 << 18
_LARGEST_FIELD = 8 * 2**20
"""Characters; the `csv` module takes up to eight bytes for each while it reads a field."""


def cut_rows(blocks: Iterable[Block], delimiter: str, most: int = MOST) -> Iterator[Numbered]:
    """Every row after the first, which names the columns, with the line it begins on."""
    csv.field_size_limit(_LARGEST_FIELD)
    text = _Text(blocks, most)
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    columns: list[str] = []
    while True:
        first = text.number + 1
        problem = None
        try:
            row = next(reader, None)
        except csv.Error as error:
            row, problem = [], _said(error)
        if text.broken:
            problem, text.broken = text.broken, None
        if problem is not None:
            yield first, problem
        elif row is None:
            return
        elif not columns:
            columns = _named(row)
        elif row:
            yield first, _record(columns, row)


def columns_of(line: bytes, delimiter: str) -> list[str]:
    """The names in a first line; none where it cannot be one."""
    try:
        return _named(next(csv.reader([line.decode()], delimiter=delimiter, strict=True), []))
    except (csv.Error, UnicodeDecodeError):
        return []


class _Text:
    """The lines of a stream as text for the `csv` module, which asks for as many as a row has.

    Bytes that are no UTF-8 become lone surrogates, so that only their row is refused. `broken` is why a line
    of the row that is being read could not be given.
    """

    def __init__(self, blocks: Iterable[Block], most: int) -> None:
        self._pieces = cut_lines(blocks, _PIECE, most)
        self._lines: Iterator[str] = iter(())
        self.number = 0
        self.broken: str | None = None

    def __iter__(self) -> "_Text":
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        while line is None:
            piece = next(self._pieces)
            if isinstance(piece.content, str):
                self.broken = piece.content
                line = "\n"
            else:
                content = piece.content.removeprefix(BOM) if piece.first == 1 else piece.content
                self._lines = iter(StringIO(content.decode("utf-8", "surrogateescape"), newline="\n"))
                line = next(self._lines, None)
        self.number += 1
        return line


def _named(row: list[str]) -> list[str]:
    """A name that is there again has its place added, so that no column is lost."""
    names = [name.strip() for name in row]
    return [
        name if name not in names[:place] else f"{name} ({place + 1})" for place, name in enumerate(names)
    ]


def _record(columns: list[str], row: list[str]) -> bytes | str:
    if len(row) != len(columns):
        return f"{counted(len(row), 'field')} where there are {counted(len(columns), 'column')}"
    try:
        return orjson.dumps(dict(zip(columns, row, strict=True)))
    except orjson.JSONEncodeError:
        return "it is not UTF-8"


def _said(error: csv.Error) -> str:
    said = str(error)
    if "field larger" in said or "unexpected end" in said:
        return f"not CSV: {said}; is a quotation mark not closed?"
    return f"not CSV: {said}"
