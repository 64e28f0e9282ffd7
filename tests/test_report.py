"""Reports replace files and nothing else, and keep what the file beside them had."""

import json
import os
from pathlib import Path

import pytest

from harness.errors import SynthesisError
from harness.report import prepare_out, replace_file, replace_report


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        replace_file(tmp_path / "report.json", [b"private"])
    finally:
        os.umask(before)
    assert (tmp_path / "report.json").stat().st_mode & 0o777 == 0o600


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    replace_file(target, [b"n", b"ew"])
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_that_a_person_names_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old")
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    assert replace_report(prepare_out(link), [b'{"assistant":', b'"new"}']) == link
    assert link.is_symlink()
    assert json.loads((tmp_path / "real.json").read_bytes())["assistant"] == "new"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_a_folder_of_ours_is_neither_followed_nor_replaced(tmp_path: Path, there: bool) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link.json"
    if there:
        victim.write_bytes(b"old")
    link.symlink_to("victim")
    with pytest.raises(SynthesisError, match=f"{link}: a link lies where the run writes"):
        replace_file(link, [b"new"])
    assert link.is_symlink()
    assert [path.read_bytes() for path in (victim,) if there] == [b"old"] * there
    assert victim.exists() is there


def test_no_folder_below_the_root_is_a_link_and_the_root_may_be_one(tmp_path: Path) -> None:
    real, root = tmp_path / "real", tmp_path / "root"
    (real / "inside").mkdir(parents=True)
    root.symlink_to(real)
    replace_file(root / "inside" / "a", [b"new"], root=root)
    assert (real / "inside" / "a").read_bytes() == b"new"
    (real / "linked").symlink_to("inside")
    with pytest.raises(SynthesisError, match=f"{root / 'linked'}: a link lies where the run writes"):
        replace_file(root / "linked" / "b", [b"new"], root=root)
    assert not (real / "inside" / "b").exists()


@pytest.mark.parametrize("write", [prepare_out, lambda path: replace_file(path, [b"x"])])
def test_a_pipe_is_refused_and_stays(tmp_path: Path, write: object) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert callable(write)
    with pytest.raises(SynthesisError, match="no regular file"):
        write(pipe)
    assert pipe.is_fifo()


def test_a_device_is_refused() -> None:
    with pytest.raises(SynthesisError, match="no regular file"):
        prepare_out(Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_a_name_too_long_for_the_system_is_said_to_be_unwritable(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="cannot be written"):
        prepare_out(tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []
