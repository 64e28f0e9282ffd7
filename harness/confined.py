"""Files of one folder and of nothing outside it, whatever the folder's owner links or swaps meanwhile.

Every path is walked from the folder down, part by part, each part opened relative to the one before and never
through a link. Not `resolve()` and then `open()`: between the two a folder can become a link.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG
from typing import Literal

from harness.gate import GateError
from harness.problems import shown

Kind = Literal["file", "folder", "link", "other"]

LARGEST_WRITE = 2**23
"""Bytes of one write."""
MOST_ENTRIES = 10_000
"""Names looked at in one folder."""
DEEPEST = 64

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking, or opening a pipe that nobody writes to would wait for ever.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WHY = {
    errno.ENOENT: "it does not exist",
    errno.ELOOP: "links are not followed",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of the path is a file or a link, not a folder",
    errno.ENXIO: "it is not a regular file",
}


class ConfinedFolder:
    """Paths are relative to `root`, with `/` between their parts; raises GateError for everything refused."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str, limit: int) -> bytes:
        """The whole of a regular file, or an error where it has more than `limit` bytes."""
        with _explained(path), self._parent(path) as (folder, name), _opened(name, _READ, folder) as handle:
            return _content(handle, limit)

    def write(self, path: str, data: bytes) -> None:
        """Replace a file at once, or make it, with the folders it lies in."""
        if len(data) > LARGEST_WRITE:
            raise GateError(f"{len(data)} bytes are too many: at most {LARGEST_WRITE} can be written")
        with _explained(path), self._parent(path, make=True) as (folder, name):
            _replace(folder, name, data)

    def entries(self, path: str = ".") -> list[tuple[str, Kind]]:
        """What lies in a folder, by name."""
        with _explained(path), self._folder(_parts(path)) as folder:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - of an open folder
            if len(names) > MOST_ENTRIES:
                raise GateError(f"more than {MOST_ENTRIES} entries")
            return [(_text(name), _kind(folder, name)) for name in names]

    def files(self, path: str, limit: int) -> Iterator[tuple[str, bytes]]:
        """Every regular file below a path (or the one it names) with its content.

        In the order of their names; links are passed over, and files of more than `limit` bytes.
        """
        parts = _parts(path)
        with _explained(path):
            if not parts:
                with self._folder(parts) as folder:
                    yield from _walk(folder, (), limit)
            else:
                with self._folder(parts[:-1]) as folder, _opened(parts[-1], _READ, folder) as handle:
                    yield from _found(handle, parts, limit)

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        parts = _parts(path)
        if not parts or path.endswith("/"):
            raise GateError("it is a folder")
        with self._folder(parts[:-1], make=make) as folder:
            yield folder, parts[-1]

    @contextmanager
    def _folder(self, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        handle = os.open(self.root, _FOLDER)
        try:
            for part in parts:
                inner = _enter(handle, part, make=make)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


def _parts(path: str) -> tuple[str, ...]:
    refused = {
        "it is empty": not path,
        "it is absolute; give it relative to the workspace": path.startswith("/"),
        "it has a NUL character": "\0" in path,
        'it has a backslash; write "/" between folders': "\\" in path,
        "it leads out of the workspace": ".." in path.split("/"),
        "it is not text": not _encodable(path),
    }
    for why, holds in refused.items():
        if holds:
            raise GateError(f'the path "{shown(_text(path))}" is refused: {why}')
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if len(parts) > DEEPEST:
        raise GateError(f"more than {DEEPEST} folders deep")
    return parts


def _encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(name: str) -> str:
    """A name that is not UTF-8 on disk becomes one that can be written down, if not opened."""
    return name.encode("utf-8", "backslashreplace").decode()


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = _WHY.get(error.errno or 0) or error.strerror or str(error)
        raise GateError(f'"{shown(_text(path))}": {why}') from error


def _enter(folder: int, part: str, *, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, 0o755, dir_fd=folder)
    return os.open(part, _FOLDER, dir_fd=folder)


@contextmanager
def _opened(name: str, flags: int, folder: int) -> Iterator[int]:
    handle = os.open(name, flags, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def _content(handle: int, limit: int) -> bytes:
    mode = os.fstat(handle).st_mode
    if S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "")
    if not S_ISREG(mode):
        raise OSError(errno.ENXIO, "")
    with os.fdopen(handle, "rb", closefd=False) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} bytes")
    return content


def _replace(folder: int, name: str, data: bytes) -> None:
    """A new file takes the old one's place: one that has another name elsewhere is not written through."""
    mode = _mode_to_keep(folder, name)
    partial = f".{secrets.token_hex(8)}.partial"
    with _opened(partial, _NEW, folder) as handle:
        try:
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(data)
            os.fchmod(handle, mode)
            os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise


def _mode_to_keep(folder: int, name: str) -> int:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0o644
    if S_ISLNK(mode):
        raise OSError(errno.ELOOP, "")
    if S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "")
    if not S_ISREG(mode):
        raise OSError(errno.ENXIO, "")
    return S_IMODE(mode) & 0o777


def _kind(folder: int, name: str) -> Kind:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:  # it went away meanwhile
        return "other"
    kinds: dict[Kind, bool] = {"link": S_ISLNK(mode), "folder": S_ISDIR(mode), "file": S_ISREG(mode)}
    return next((kind for kind, holds in kinds.items() if holds), "other")


def _walk(folder: int, above: tuple[str, ...], limit: int) -> Iterator[tuple[str, bytes]]:
    if len(above) > DEEPEST:
        return
    for name in sorted(os.listdir(folder))[:MOST_ENTRIES]:
        with suppress(OSError), _opened(name, _READ, folder) as handle:
            yield from _found(handle, (*above, name), limit)


def _found(handle: int, parts: tuple[str, ...], limit: int) -> Iterator[tuple[str, bytes]]:
    mode = os.fstat(handle).st_mode
    if S_ISDIR(mode):
        yield from _walk(handle, parts, limit)
    elif S_ISREG(mode):
        try:
            content = _content(handle, limit)
        except OSError:
            return
        yield _text("/".join(parts)), content
