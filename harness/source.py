"""Open conversations from elsewhere: files, folders and standard input, whatever they are packed in.

`open_inputs` finds out what there is, `Input.chunks` cuts it, `read_chunk` reads a part. How an input is cut
depends on the input alone, so that every engine and any number of workers find the same.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

from harness import plugins
from harness.chunk import Chunk, Reading, Span, Stamp, changed, grouped, read_chunk
from harness.cut import Numbered, Piece, cut_lines
from harness.detect import FOLDER, importer
from harness.errors import Problems, SynthesisError
from harness.importer import Archive, Grouping, ImportOptions, Shape
from harness.input_paths import STANDARD_INPUT, input_files
from harness.look import Look, Seen, cut_records
from harness.unpack import Compression, unpacked

__all__ = ["Chunk", "Input", "Reading", "open_inputs", "read_chunk"]
CHUNK = 2 * 2**20


@dataclass(frozen=True)
class Input:
    """One file, known for what it is. `path` is as people gave it; `stamp` is None for standard input."""

    path: str
    stamp: Stamp | None
    options: ImportOptions
    seen: Seen = field(repr=False)
    _taken: list[bool] = field(default_factory=list, repr=False, compare=False)
    """Whether standard input is gone: a second reading would find its beginning and not its end."""

    @property
    def importer(self) -> str:
        """The name of the importer that reads it."""
        return self.seen.importer

    @property
    def why(self) -> str:
        """What it was taken for, and by what sign: one line for people."""
        return self.seen.why

    @property
    def shape(self) -> Shape:
        """How it is cut into records."""
        return self.seen.form.shape

    @property
    def compression(self) -> Compression | None:
        """What it is compressed with."""
        return self.seen.compression

    @property
    def size(self) -> int | None:
        """Bytes of the file as it lies there; None where nobody can know."""
        return None if self.stamp is None else self.stamp.size

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """Parts of about `size` bytes; standard input can be cut once."""
        with _told(self.path):
            if self.shape == "archive":
                archive = cast("Archive", self._module)
                yield from self._packed(enumerate(archive.unpack(Path(self.path)), 1), size)
                self._check(Path(self.path).stat())
                return
            with self._opened() as file:
                blocks = unpacked(file, self.compression)
                if self.shape == "lines" and not hasattr(self._module, "belongs"):
                    yield from map(self._piece, cut_lines(blocks, size))
                else:
                    yield from self._packed(cut_records(blocks, self.seen.form), size)
                if self.stamp is not None:
                    self._check(os.fstat(file.fileno()))

    @property
    def _module(self) -> object:
        return plugins.module(FOLDER, self.importer)

    def _check(self, status: os.stat_result) -> None:
        if Stamp.of(status) != self.stamp:
            raise changed(self.path)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if self.stamp is None:
            if self._taken:
                raise SynthesisError("standard input can be read once", where=self.path, fix="use a file")
            self._taken.append(True)
            yield cast("BinaryIO", _Resumed(self.seen.head, sys.stdin.buffer))
            return
        with Path(self.path).open("rb") as file:
            self._check(os.fstat(file.fileno()))
            yield file

    def _piece(self, piece: Piece) -> Chunk:
        if isinstance(piece.content, str):
            return self._chunk(piece.first, ((piece.first, piece.content),))
        if self.stamp is None or self.compression:
            return self._chunk(piece.first, piece.content)
        return self._chunk(piece.first, Span(piece.start, piece.end, self.stamp))

    def _chunk(self, first: int, body: Span | bytes | tuple[Numbered, ...]) -> Chunk:
        return Chunk(self.path, self.importer, self.options, first, body)

    def _packed(self, records: Iterable[Numbered], size: int) -> Iterator[Chunk]:
        """Chunks that carry their records; a conversation is never cut in two."""
        kept: list[Numbered] = []
        total = 0
        for group in self._grouped(records):
            kept += group
            total += sum(len(raw) for _, raw in group)
            if total >= size:
                yield self._chunk(kept[0][0], tuple(kept))
                kept, total = [], 0
        if kept:
            yield self._chunk(kept[0][0], tuple(kept))

    def _grouped(self, records: Iterable[Numbered]) -> Iterator[list[Numbered]]:
        if not hasattr(self._module, "belongs"):
            return ([record] for record in records)
        groups = grouped(records, cast("Grouping", self._module), self.options)
        return ([(line.number, line.raw) for line in group] for group in groups)


class _Resumed:
    """Standard input from its beginning, though some of it was taken to look at."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int) -> bytes:
        """Up to this many bytes; none at the end."""
        if self._head:
            taken, self._head = self._head[:size], self._head[size:]
            return taken
        return self._rest.read(size)


def open_inputs(
    paths: Sequence[str],
    wanted: str = "auto",
    options: ImportOptions = ImportOptions(),
    *,
    quoting: bool = True,
) -> list[Input]:
    """Look at every file; those that cannot be read are refused, all together.

    `wanted` is the name of an importer, or `auto` to have it found out for each file. With `quoting`, what
    stands on the first lines of a file that is refused is shown.
    """
    if wanted != "auto":
        importer(wanted)
    inputs: list[Input] = []
    problems: list[SynthesisError] = []
    for path in input_files(paths):
        try:
            with _told(path):
                inputs.append(_open(path, Look(path, wanted, options, quoting=quoting)))
        except SynthesisError as error:
            problems.append(error)
    if problems:
        raise Problems(problems)
    return inputs


def _open(path: str, look: Look) -> Input:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise SynthesisError("standard input is closed", fix="name a file, or pipe something in")
        name = "standard input"
        look = replace(look, path=name, stream=True)
        return Input(name, None, look.options, look.at(sys.stdin.buffer))
    with Path(path).open("rb") as file:
        stamp = Stamp.of(os.fstat(file.fileno()))
        seen = look.at(file)
    return Input(path, stamp, look.options, Seen(seen.importer, seen.why, seen.form, seen.compression))


@contextmanager
def _told(path: str) -> Iterator[None]:
    """What the system says when a file cannot be read, as an error of ours."""
    try:
        yield
    except OSError as error:
        fix = "check the file and its permissions, and leave it in its place until all is read"
        raise SynthesisError(f"cannot be read: {error.strerror}", where=path, fix=fix) from error
