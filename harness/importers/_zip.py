"""Members of a zip archive, one at a time and none larger than a record may be; zstd inside is read too."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from harness.cut import MOST, too_large
from harness.errors import SynthesisError
from harness.unpack import BLOCK, Torn, unpacked

_ZSTD = 93
_LOCAL_HEADER = 30


def members(path: Path, wanted: Callable[[str], bool], most: int = MOST) -> Iterator[bytes | str]:
    """The content of each wanted member, in the archive's order; a `str` is why one cannot be read."""
    try:
        with ZipFile(path) as archive:
            for member in archive.infolist():
                if wanted(member.filename):
                    yield _content(archive, member, path, most)
    except BadZipFile as error:
        fix = "copy it again: it may have been cut off"
        raise SynthesisError(f"not a whole zip archive: {error}", where=str(path), fix=fix) from error


def _content(archive: ZipFile, member: ZipInfo, path: Path, most: int) -> bytes | str:
    name = member.filename
    if member.flag_bits & 1:
        return f"{name}: it is encrypted"
    try:
        if member.compress_type == _ZSTD:
            with path.open("rb") as file:
                content = _zstd(file, member, most)
        else:
            with archive.open(member) as inside:
                content = inside.read(most + 1)
    except (BadZipFile, NotImplementedError, zlib.error, EOFError) as error:
        return f"{name}: {error}"
    return f"{name}: {too_large(most)}" if len(content) > most else content


def _zstd(file: BinaryIO, member: ZipInfo, most: int) -> bytes:
    """What Python's own reader cannot unpack yet; the sizes in the archive are not believed."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    if header[:4] != b"PK\x03\x04" or len(header) < _LOCAL_HEADER:
        raise BadZipFile("its header is not where the archive says")
    skipped = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    file.seek(skipped, 1)
    kept: list[bytes] = []
    size = check = 0
    for block in unpacked(_Part(file, member.compress_size), "zstd"):  # type: ignore[arg-type]
        if isinstance(block, Torn):
            raise BadZipFile(block.reason)
        kept.append(block)
        size += len(block)
        check = zlib.crc32(block, check)
        if size > most:
            return b"".join(kept)
    if check != member.CRC:
        raise BadZipFile("its content is damaged")
    return b"".join(kept)


class _Part:
    """The next bytes of a file and no more."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = BLOCK) -> bytes:
        """Up to this many; none at the end of the part."""
        found = self._file.read(min(size, self._left))
        self._left -= len(found)
        return found
