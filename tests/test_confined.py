"""Files of a folder and of nothing outside it, against links, odd names, odd files and swaps in between."""

import ctypes
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.confined import LARGEST_WRITE, ConfinedFolder
from harness.gate import GateError

SECRET = b"from outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_bytes(SECRET)
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "note.txt").write_bytes(b"alpha")
    (root / "sub" / "inner.txt").write_bytes(b"beta")
    return root


@pytest.fixture
def folder(root: Path) -> ConfinedFolder:
    return ConfinedFolder(root)


@pytest.mark.parametrize(
    "path", ["note.txt", "./note.txt", ".//note.txt", "sub/inner.txt", "sub//./inner.txt"]
)
def test_a_file_is_read_by_any_spelling_that_stays_inside(folder: ConfinedFolder, path: str) -> None:
    assert folder.read(path, 100) == (b"beta" if "inner" in path else b"alpha")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("../outside/secret.txt", "leads out"),
        ("sub/../../outside/secret.txt", "leads out"),
        ("sub/..", "leads out"),
        ("note.txt\0.png", "NUL"),
        ("..\\outside\\secret.txt", "backslash"),
        ("\ud800", "not text"),
        ("x/" * 65 + "y", "deep"),
        ("n" * 300, "long"),
    ],
)
def test_paths_that_are_refused(folder: ConfinedFolder, path: str, why: str) -> None:
    for attempt in (
        lambda: folder.read(path, 100),
        lambda: folder.write(path, b"x"),
        lambda: folder.entries(path),
        lambda: list(folder.files(path, 100)),
    ):
        with pytest.raises(GateError, match=why) as caught:
            attempt()
        str(caught.value).encode()


def test_what_is_not_a_regular_file_is_refused_and_never_waited_for(
    root: Path, folder: ConfinedFolder
) -> None:
    os.mkfifo(root / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"/proc/self/fd/{os.open(root, os.O_RDONLY)}/socket")
    for name, why in (
        ("pipe", "not a regular"),
        ("socket", "not a regular"),
        ("sub", "a folder"),
        ("sub/", "a folder"),
        (".", "a folder"),
        ("missing", "not exist"),
        ("note.txt/x", "not a folder"),
    ):
        with pytest.raises(GateError, match=why):
            folder.read(name, 100)
        if name not in ("missing",):
            with pytest.raises(GateError, match=why):
                folder.write(name, b"x")
    listening.close()
    assert folder.entries() == [
        ("note.txt", "file"),
        ("pipe", "other"),
        ("socket", "other"),
        ("sub", "folder"),
    ]
    assert [name for name, _ in folder.files(".", 100)] == ["note.txt", "sub/inner.txt"]


def test_links_are_not_followed_whatever_they_point_at(root: Path, folder: ConfinedFolder) -> None:
    (root / "file-link").symlink_to("../outside/secret.txt")
    (root / "folder-link").symlink_to("../outside")
    (root / "inner-link").symlink_to("note.txt")
    for name in ("file-link", "folder-link/secret.txt", "inner-link"):
        with pytest.raises(GateError, match="link"):
            folder.read(name, 100)
        with pytest.raises(GateError, match="link"):
            folder.write(name, b"x")
    with pytest.raises(GateError, match="link"):
        folder.entries("folder-link")
    with pytest.raises(GateError, match="link"):
        folder.write("folder-link/new/x", b"x")
    assert dict(folder.entries())["file-link"] == "link"
    assert [name for name, _ in folder.files(".", 100)] == ["note.txt", "sub/inner.txt"]
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["secret.txt"]
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET
    assert (root / "note.txt").read_bytes() == b"alpha"


def test_a_root_that_became_a_link_is_refused(root: Path, folder: ConfinedFolder) -> None:
    root.rename(root.parent / "moved")
    root.symlink_to(root.parent / "outside")
    with pytest.raises(GateError):
        folder.read("secret.txt", 100)


def test_limits_of_size(root: Path, folder: ConfinedFolder) -> None:
    assert folder.read("note.txt", 5) == b"alpha"
    with pytest.raises(GateError, match="more than 4 bytes"):
        folder.read("note.txt", 4)
    assert list(folder.files(".", 4)) == [("sub/inner.txt", b"beta")]
    folder.write("large", b"x" * LARGEST_WRITE)
    with pytest.raises(GateError, match="too many"):
        folder.write("large", b"x" * (LARGEST_WRITE + 1))
    assert (root / "large").stat().st_size == LARGEST_WRITE


def test_writing_makes_folders_replaces_files_and_keeps_their_mode(
    root: Path, folder: ConfinedFolder
) -> None:
    folder.write("new/deep/file.txt", b"one")
    folder.write("new/deep/file.txt", b"two")
    assert (root / "new/deep/file.txt").read_bytes() == b"two"
    (root / "note.txt").chmod(0o755)
    folder.write("note.txt", b"x")
    assert (root / "note.txt").stat().st_mode & 0o777 == 0o755
    assert folder.entries("new/deep") == [("file.txt", "file")]


def test_a_file_with_a_second_name_outside_is_not_written_through(root: Path, folder: ConfinedFolder) -> None:
    (root / "second").hardlink_to(root.parent / "outside" / "secret.txt")
    folder.write("second", b"mine")
    assert (root / "second").read_bytes() == b"mine"
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET


def test_names_that_are_not_text_are_listed_all_the_same(root: Path, folder: ConfinedFolder) -> None:
    (root / os.fsdecode(b"odd\xff")).write_bytes(b"x")
    assert ("odd\\udcff", "file") in folder.entries()
    assert "odd\\udcff" in [name for name, _ in folder.files(".", 10)]


def test_no_file_is_left_open(root: Path, folder: ConfinedFolder) -> None:
    (root / "link").symlink_to("sub")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("note.txt", "sub/inner.txt", "sub", "link/x", "missing", "note.txt/x", "../x"):
        for attempt in (
            lambda path=path: folder.read(path, 3),
            lambda path=path: folder.write(path, b"text"),
            lambda path=path: folder.entries(path),
            lambda path=path: next(folder.files(path, 100)),
        ):
            with suppress(GateError, StopIteration):
                attempt()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@contextmanager
def swapping(root: Path) -> Iterator[None]:
    """A folder that is now itself, now a link to the outside, as fast as can be."""
    over = threading.Event()
    (root.parent / "link").symlink_to(root.parent / "outside")
    here, exchange = -100, 2
    words = (here, os.fsencode(root / "swapped"), here, os.fsencode(root.parent / "link"), exchange)

    def swap() -> None:
        exchanged = ctypes.CDLL(None).renameat2
        while not over.is_set():
            assert exchanged(*words) == 0

    (root / "swapped").mkdir()
    (root / "swapped" / "secret.txt").write_bytes(b"inside")
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_folder_swapped_for_a_link_while_it_is_used(root: Path, folder: ConfinedFolder) -> None:
    """Each attempt is repeated until it has both worked and been refused many times over."""

    def search() -> None:
        found = dict(folder.files(".", 100))
        assert SECRET not in found.values()
        if "swapped/secret.txt" not in found:
            raise GateError

    def read() -> None:
        assert folder.read("swapped/secret.txt", 100) == b"inside"

    attempts: list[Callable[[], object]] = [
        read,
        search,
        lambda: folder.write("swapped/planted.txt", b"x"),
        lambda: folder.write("swapped/new/planted.txt", b"x"),
        lambda: folder.entries("swapped"),
    ]
    with swapping(root):
        for attempt in attempts:
            worked, refused = 0, 0
            while min(worked, refused) < 50:
                try:
                    attempt()
                    worked += 1
                except GateError:
                    refused += 1
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["secret.txt"]
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET
