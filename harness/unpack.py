"""Bytes of a file as they were before somebody compressed them: a stream, never the whole.

What a file is compressed with is told by its first bytes, not by its name.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

Compression = Literal["gzip", "zstd"]
BLOCK = 1 << 18
_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ZSTD_STEP = 256
"""At most 8 MB come out of it, whoever made it: four bytes can stand for a block of 128 kB."""
_WINDOW = 1 << 27
"""What `zstd --long` asks of a reader without telling it."""


@dataclass(frozen=True, slots=True)
class Torn:
    """The stream could not be read to its end; it is the last thing given."""

    reason: str


Block = bytes | Torn


def compression_of(head: bytes) -> Compression | None:
    """What the file is compressed with; None where it is plain."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def unpacked(file: BinaryIO, compression: Compression | None) -> Iterator[Block]:
    """The content in blocks; raises OSError where the file itself cannot be read."""
    if compression == "gzip":
        return _gzip(file)
    if compression == "zstd":
        return _joined(_zstd(file))
    return iter(lambda: file.read(BLOCK), b"")


def _gzip(file: BinaryIO) -> Iterator[Block]:
    """One member after the other; zeros after the last are padding, as tapes leave it."""
    stream = zlib.decompressobj(31)
    begun = False
    while data := file.read(BLOCK):
        while data:
            if not begun and not data.strip(b"\0"):
                break
            try:
                block = stream.decompress(data, BLOCK)
            except zlib.error as error:
                yield Torn(f"the gzip data is damaged: {error}")
                return
            begun, data = True, stream.unconsumed_tail
            if block:
                yield block
            if stream.eof:
                data, begun, stream = stream.unused_data, False, zlib.decompressobj(31)
    while begun and (block := stream.decompress(stream.unconsumed_tail, BLOCK)):
        yield block
    if begun and not stream.eof:
        yield Torn("the gzip data ends too early")


def _zstd(file: BinaryIO) -> Iterator[Block]:
    """Frame after frame, in small steps: the decompressor has no limit on what it gives at once."""
    import zstandard

    frames = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    stream = frames.decompressobj()
    begun = False
    while data := file.read(_ZSTD_STEP):
        while data:
            try:
                block = stream.decompress(data)
            except zstandard.ZstdError as error:
                yield Torn(f"the zstd data is damaged: {error}")
                return
            begun, data = True, b""
            if block:
                yield block
            if stream.eof:
                data, begun, stream = stream.unused_data, False, frames.decompressobj()
    if begun:
        yield Torn("the zstd data ends too early")


def _joined(blocks: Iterator[Block]) -> Iterator[Block]:
    """Small blocks put together, since everything after works by the block."""
    kept: list[bytes] = []
    size = 0
    for block in blocks:
        if isinstance(block, Torn):
            yield b"".join(kept)
            yield block
            return
        kept.append(block)
        size += len(block)
        if size >= BLOCK:
            yield b"".join(kept)
            kept, size = [], 0
    yield b"".join(kept)
