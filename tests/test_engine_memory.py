"""What an engine and its workers leave for each other comes out as it went in, and nothing piles up."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import engine_memory
from harness.engine_memory import EngineMemory


@pytest.fixture(params=["in memory", "in a folder"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineMemory]:
    if request.param == "in a folder":
        monkeypatch.delattr(os, "memfd_create")
    made = EngineMemory(room=3)
    yield made
    made.close()


@pytest.mark.parametrize("value", [None, "ä", b"", b"x" * 5_000_000, [b"a" * 70_000, {1: b"b" * 300_000}]])
def test_an_object_comes_out_as_it_went_in(memory: EngineMemory, value: object) -> None:
    assert memory.get(2, memory.put(2, value)) == value


def test_each_number_has_its_own_until_there_is_no_more_room(memory: EngineMemory) -> None:
    sizes = [memory.put(number, f"{number}" * 100_000) for number in range(3)]
    assert [str(memory.get(number, sizes[number]))[0] for number in range(3)] == ["0", "1", "2"]
    size = memory.put(3, "short")
    assert memory.get(3, size) == "short"
    assert str(memory.get(1, sizes[1])) == "1" * 100_000


def test_all_who_have_the_descriptor_see_the_same(memory: EngineMemory) -> None:
    other = EngineMemory(memory.room, os.dup(memory.descriptor))
    size = other.put(1, "from there")
    memory.put(0, "from here")
    assert memory.get(1, size) == "from there"
    other.close()
    assert memory.get(1, size) == "from there"


def test_what_was_read_makes_room(memory: EngineMemory) -> None:
    for number in range(100):
        memory.put(number, b"x" * 1_000_000)
    assert os.fstat(memory.descriptor).st_blocks * 512 < 4_000_000


def test_no_folder_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create")
    memory = EngineMemory(room=3)
    memory.put(1, b"x" * 1_000_000)
    assert list(tmp_path.iterdir()) == []
    memory.close()


def test_closed_it_writes_nowhere(memory: EngineMemory) -> None:
    memory.close()
    memory.close()
    with pytest.raises(ValueError, match="closed file"):
        memory.put(1, "x")


def test_every_place_can_be_written_however_many_there_are(memory: EngineMemory) -> None:
    many = EngineMemory(3 * 1024, os.dup(memory.descriptor))
    assert many.get(3 * 1024 - 1, many.put(3 * 1024 - 1, "the last")) == "the last"
    many.close()


def test_an_object_too_large_for_its_place_is_refused_and_its_neighbour_stays(
    memory: EngineMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_memory, "SPOT", 1 << 20)
    size = memory.put(1, "next to it")
    with pytest.raises(OSError, match="too large"):
        memory.put(0, b"x" * (2 << 20))
    assert memory.get(1, size) == "next to it"
