"""A fresh folder for every trial, and nothing outside it."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.workspace import clashing_fixtures, fixture_problem, prepare_workspace, remove_workspace


def test_fixtures_are_written_byte_for_byte(tmp_path: Path) -> None:
    place = prepare_workspace(tmp_path / "w" / "1", {"a.txt": b"\r\n\xff", "deep/er/b": b""})
    assert (place / "a.txt").read_bytes() == b"\r\n\xff"
    assert (place / "deep" / "er" / "b").read_bytes() == b""
    assert not stat.S_IMODE((place / "a.txt").stat().st_mode) & 0o111


def test_nothing_of_an_earlier_trial_is_left(tmp_path: Path) -> None:
    place = prepare_workspace(tmp_path / "w", {"a": b"1"})
    (place / "left").write_text("behind")
    assert [path.name for path in prepare_workspace(place, {"a": b"2"}).iterdir()] == ["a"]
    assert (place / "a").read_bytes() == b"2"


@pytest.mark.parametrize("again", [lambda place: prepare_workspace(place, {}), remove_workspace])
def test_links_are_removed_and_never_followed(tmp_path: Path, again: object) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    place = tmp_path / "w"
    place.mkdir()
    (place / "link").symlink_to(outside)
    assert callable(again)
    again(place)
    assert (outside / "kept").read_text() == "x"
    remove_workspace(place)
    place.symlink_to(outside)
    again(place)
    assert (outside / "kept").read_text() == "x"
    assert not place.is_symlink()


def test_removing_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_workspace(tmp_path / "never")
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=40))
def test_a_path_that_is_allowed_stays_inside(name: str) -> None:
    if fixture_problem(name) is None:
        joined = os.path.normpath(f"/workspace/{name}")
        assert not Path(name).is_absolute()
        assert joined.startswith("/workspace/")
        assert "\0" not in name


@given(st.lists(st.sampled_from(["a", "A", "b", "a/b", "A/b", "a/b/c", "ä", "a\u0308"]), unique=True))
def test_paths_that_do_not_clash_are_as_many_files_when_case_is_ignored(names: list[str]) -> None:
    if clashing_fixtures(names) is None:
        folded = [name.casefold().replace("a\u0308", "ä") for name in names]
        assert len(set(folded)) == len(folded)
        assert not [one for one in folded for two in folded if two.startswith(f"{one}/")]
