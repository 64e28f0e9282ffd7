"""Look at the beginning of a file, unpack it, and find out what is in it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from harness import plugins
from harness.cut import MOST, Numbered, cut_items, cut_lines, lines
from harness.detect import FOLDER, Form, choose, form_of, importer, refusal
from harness.errors import SynthesisError
from harness.importer import Archive, ImportOptions
from harness.rows import cut_rows
from harness.unpack import BLOCK, Block, Compression, Torn, compression_of, unpacked

_HEADS = (2**20, MOST + 2**20)
"""Bytes that are looked at; the second only where no record ends within the first."""


@dataclass(frozen=True)
class Seen:
    """What a file was found to be; `head` is what was taken from it to find that out."""

    importer: str
    why: str
    form: Form
    compression: Compression | None
    head: bytes = b""


def cut_records(blocks: Iterable[Block], form: Form) -> Iterator[Numbered]:
    """The records of a stream of this form."""
    if form.shape == "lines":
        return lines(cut_lines(blocks, BLOCK))
    return cut_rows(blocks, form.delimiter) if form.shape == "table" else cut_items(blocks)


@dataclass(frozen=True)
class Look:
    """At one file, or at a stream where there is no file that could be opened again."""

    path: str
    wanted: str
    options: ImportOptions
    stream: bool = False
    quoting: bool = True
    """Whether a refusal may show what was seen."""

    def at(self, file: BinaryIO) -> Seen:
        """Raises `SynthesisError` where it is nothing that is known."""
        head = b""
        for most in _HEADS:
            head += _read(file, most - len(head))
            compression = compression_of(head)
            text, torn = _beginning(head, compression, most)
            if torn and not text and len(head) < most:
                raise SynthesisError(torn, where=self.path, fix="copy the file again")
            if seen := self._seen(text, compression):
                return Seen(seen.importer, seen.why, seen.form, compression, head)
            if len(head) < most and len(text) < most:
                break
        raise refusal(self.path, text, self.options, quoting=self.quoting)

    def _seen(self, text: bytes, compression: Compression | None) -> Seen | None:
        if archives := _archives(text):
            if compression or self.stream:
                fix = "unpack it, and give it as a file of its own"
                raise SynthesisError("an archive cannot be read from a stream", where=self.path, fix=fix)
            return self._archive(archives)
        form = form_of(text, self.options, table=self.wanted == "table")
        if self.wanted != "auto":
            return self._as_wanted(form or Form("lines"))
        chosen = form and choose(cut_records([text], form), form.shape, self.options)
        return Seen(*chosen, form, None) if form and chosen else None

    def _as_wanted(self, form: Form) -> Seen:
        """What the user says it is, where that can come in such a file."""
        shapes = importer(self.wanted).SHAPES
        if form.shape not in shapes:
            what = f"this is {_WORDS[form.shape]}; {self.wanted} reads {_listed(shapes)}"
            raise SynthesisError(what, where=self.path, fix="name another format, or leave --from out")
        return Seen(self.wanted, f"{self.wanted}: as --from says", form, None)

    def _archive(self, names: Sequence[str]) -> Seen | None:
        if self.wanted != "auto":
            if self.wanted in names:
                return self._as_wanted(Form("archive"))
            fix = f"use --from {' or '.join(names)}, or leave --from out"
            raise SynthesisError(f"{self.wanted} cannot open such a file", where=self.path, fix=fix)
        for name in names:
            archive = cast("Archive", plugins.module(FOLDER, name))
            records = enumerate(archive.unpack(Path(self.path)), 1)
            if chosen := choose(records, "archive", self.options, (name,)):
                return Seen(*chosen, Form("archive"), None)
        return None


_WORDS = {"lines": "JSON lines", "document": "one JSON document", "table": "a table", "archive": "an archive"}


def _listed(shapes: frozenset[str]) -> str:
    return " or ".join(word for shape, word in _WORDS.items() if shape in shapes)


def _archives(text: bytes) -> list[str]:
    """Importers that open such a file themselves."""
    magic = {name: getattr(plugins.module(FOLDER, name), "MAGIC", None) for name in plugins.names(FOLDER)}
    return [name for name, begin in magic.items() if begin and text.startswith(begin)]


def _beginning(head: bytes, compression: Compression | None, most: int) -> tuple[bytes, str | None]:
    """What the head says, unpacked no further than `most`, and why there is no more of it.

    Where the head is not the whole file, that it breaks off is nobody's fault.
    """
    blocks: list[bytes] = []
    size = 0
    for block in unpacked(BytesIO(head), compression):
        if isinstance(block, Torn):
            return b"".join(blocks)[:most], block.reason
        blocks.append(block)
        size += len(block)
        if size >= most:
            break
    return b"".join(blocks)[:most], None


def _read(file: BinaryIO, size: int) -> bytes:
    """As many bytes as there are: a pipe may give them one by one."""
    blocks = []
    while size and (block := file.read(size)):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)
