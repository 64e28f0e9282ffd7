"""A part of an input, small enough to be read at once, and what is found in it. The same for every engine."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import orjson

from harness import plugins
from harness.console import counted
from harness.conversation import Conversation
from harness.cut import MOST, Numbered, numbered_lines, too_large
from harness.errors import SynthesisError
from harness.importer import Found, Grouping, Importer, ImportOptions, PassedOver, Rejected, Unreadable
from harness.transcript import Json

_NESTED = 200
"""Brackets in a record that are nothing to look into."""
Reading = Found | PassedOver | Rejected


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file was when it was first looked at; another stamp is another file."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        """From what the system says about the file."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Span:
    """Whole lines of a plain file, by their bytes; whoever reads the chunk reads them from the file."""

    start: int
    end: int
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records of one input. `first` is the number of the first; carried records have their own."""

    path: str
    importer: str
    options: ImportOptions
    first: int
    body: Span | bytes | tuple[Numbered, ...]


def changed(path: str) -> SynthesisError:
    """A file that is being written cannot be told the same way twice."""
    fix = "wait until nothing writes to it, or read a copy"
    return SynthesisError("the file changed while it was read", where=path, fix=fix)


def read_chunk(chunk: Chunk) -> Iterator[Reading]:
    """Everything in it, in order: conversations, what is passed over, and what cannot be read."""
    module = plugins.module("importers", chunk.importer)
    if hasattr(module, "belongs"):
        yield from _read_groups(chunk, cast("Grouping", module))
        return
    read = cast("Importer", module).read
    path, options, loads = chunk.path, chunk.options, orjson.loads
    for number, raw in _records(chunk):
        try:
            if isinstance(raw, str):
                raise Unreadable(raw)  # noqa: TRY301 - the one way out for what cannot be read
            record = loads(raw)
            if raw.count(b"[") + raw.count(b"{") > _NESTED:
                _refuse_deep(record)
            found = list(read(record, options))
        except Unreadable as error:
            yield Rejected.of(path, number, error)
            continue
        except orjson.JSONDecodeError as error:
            yield Rejected(path, number, _no_json(error))
            continue
        for place, each in enumerate(found, 1):
            yield _placed(each, path, number, place)


def _read_groups(chunk: Chunk, module: Grouping) -> Iterator[Reading]:
    read = cast("Importer", module).read
    for group in grouped(_records(chunk), module, chunk.options):
        first = group[0].number
        if any(line.problem for line in group):
            yield from _spoiled(chunk.path, group)
            continue
        try:
            found = list(read([line.record for line in group], chunk.options))
        except Unreadable as error:
            yield Rejected.of(chunk.path, first, error)
            continue
        for place, each in enumerate(found, 1):
            yield _placed(each, chunk.path, first, place)


def _spoiled(path: str, group: list["Line"]) -> Iterator[Rejected]:
    """Each line that cannot be read, and the conversation around them where there is one."""
    good = [line for line in group if line.problem is None]
    if good:
        bad, rest = counted(len(group) - len(good), "line"), counted(len(good), "good line")
        yield Rejected(path, good[0].number, f"{bad} of this conversation cannot be read: {rest} left out")
    for line in group:
        if line.problem is not None:
            yield Rejected(path, line.number, line.problem)


def _records(chunk: Chunk) -> Iterable[Numbered]:
    if isinstance(chunk.body, tuple):
        return chunk.body
    content = chunk.body if isinstance(chunk.body, bytes) else _content(chunk.path, chunk.body)
    return numbered_lines(content, chunk.first)


def _content(path: str, span: Span) -> bytes:
    try:
        with Path(path).open("rb") as file:
            file.seek(span.start)
            content = file.read(span.end - span.start)
            if Stamp.of(os.fstat(file.fileno())) != span.stamp:
                raise changed(path)
    except OSError as error:
        fix = "leave the files in their place until all is read"
        raise SynthesisError(f"cannot be read any more: {error.strerror}", where=path, fix=fix) from error
    return content


def _refuse_deep(record: Json) -> None:
    """What could be read, but never be written or handed to another process."""
    try:
        orjson.dumps(record)
    except orjson.JSONEncodeError as error:
        raise Unreadable("it is nested too deeply") from error


def _no_json(error: orjson.JSONDecodeError) -> str:
    """orjson says where in a record it stopped; the record's own line is known already."""
    return f"not JSON: {error}"


def _placed(each: Conversation | PassedOver | Unreadable, path: str, number: int, place: int) -> Reading:
    """With where it stands; a conversation without an id goes by that."""
    if isinstance(each, PassedOver):
        return each
    if isinstance(each, Unreadable):
        return Rejected.of(path, number, each)
    if not each.id:
        name = f"{path}:{number}" if place == 1 else f"{path}:{number}#{place}"
        each = Conversation(name, each.messages, each.tags, each.fields)
    return Found(path, number, each)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a conversation that goes over several; `problem` is why it cannot be read."""

    number: int
    raw: bytes | str
    record: Json
    problem: str | None


def grouped(
    records: Iterable[Numbered], module: Grouping, options: ImportOptions, most: int = MOST
) -> Iterator[list[Line]]:
    """The lines of each conversation; one that cannot be read spoils the one it stands in, if any."""
    groups = _Groups(module, options, most)
    for number, raw in records:
        line = _line(number, raw)
        yield from groups.add(line) if line.problem is None else groups.add_bad(line)
    yield from groups.end()


class _Groups:
    """`waiting` are bad lines of which the next good one says whether they stand in the open group.

    `before` is the last good line; None where nothing is open. `dropping`: the open group is told already.
    """

    def __init__(self, module: Grouping, options: ImportOptions, most: int) -> None:
        self._module, self._options, self._most = module, options, most
        self._group: list[Line] = []
        self._waiting: list[Line] = []
        self._size = 0
        self._before: Json = None
        self._dropping = False

    def add(self, line: Line) -> Iterator[list[Line]]:
        if not (self._before and self._belongs(line.record)):
            yield from self.end()
        self._before = line.record
        if not self._dropping:
            self._group += [*self._waiting, line]
            self._waiting = []
            yield from self._grown(line)

    def add_bad(self, line: Line) -> Iterator[list[Line]]:
        if self._group and (self._belongs(None) or self._belongs(self._before)):
            self._waiting.append(line)
            yield from self._grown(line)
            return
        if self._group:
            yield from self.end()
        yield [line]

    def end(self) -> Iterator[list[Line]]:
        """What is open; bad lines at its end are of it only where any line would be."""
        if self._waiting and self._belongs(None):
            self._group += self._waiting
            self._waiting = []
        if self._group:
            yield self._group
        yield from ([line] for line in self._waiting)
        self._close()

    def _close(self) -> None:
        self._group, self._waiting, self._size = [], [], 0
        self._before, self._dropping = None, False

    def _belongs(self, record: Json) -> bool:
        return self._module.belongs(self._before, record, self._options)

    def _grown(self, line: Line) -> Iterator[list[Line]]:
        """A conversation that has become too large is told at once, and its further lines are dropped."""
        self._size += len(line.raw)
        if self._size <= self._most:
            return
        lines, before = [*self._group, *self._waiting], self._before
        said = too_large(self._most)
        yield [Line(lines[0].number, said, None, said)]
        yield from ([each] for each in lines if each.problem is not None)
        self._close()
        self._before, self._dropping = before, True


def _line(number: int, raw: bytes | str) -> Line:
    if isinstance(raw, str):
        return Line(number, raw, None, raw)
    try:
        record = orjson.loads(raw)
        _refuse_deep(record)
    except Unreadable as error:
        return Line(number, raw, None, str(error))
    except orjson.JSONDecodeError as error:
        return Line(number, raw, None, _no_json(error))
    return Line(number, raw, record, None)
