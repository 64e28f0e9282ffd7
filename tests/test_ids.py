"""Ids that were used, kept by the core and without it."""

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_core import needs_core

from harness.ids import Ids, PlainIds, new_ids

KINDS = [PlainIds, pytest.param(new_ids, marks=needs_core, id="core")]


def lines(*ids: str) -> bytes:
    return "\n".join(ids).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_told_apart_however_they_end(kind: Callable[[], Ids]) -> None:
    ids = kind()
    some = ["A-1", "A-01", "A-001", "A-0", "A-00", "A-1000", "A-1001", "AA-1", "A-10", "A-100", "odd", "A-²"]
    large = ["A-9999999999999999", "A-10000000000000000", f"A-{2**64}", f"A-{2**64 + 1}", f"A-0{2**64}"]
    assert ids.add(lines(*some, *large))
    assert ids.add(b"")
    for again in (*some, *large):
        assert not ids.add(lines("B-1" + again, again)), again
    assert not ids.add(b"C-1\nC-1")


@needs_core
def test_the_core_is_used_where_there_is_one() -> None:
    from harness import _core

    assert isinstance(new_ids(), _core.Ids)


numbers = st.integers(0, 200) | st.sampled_from([63, 64, 10**16 - 1, 10**16, 2**48, 2**54, 2**64])
identity = st.builds(
    lambda prefix, zeros, number: f"{prefix}-{'0' * zeros}{number}",
    st.sampled_from(["A", "B", "AB"]), st.integers(0, 2), numbers,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(blocks=st.lists(st.lists(identity, max_size=20), max_size=5))
def test_ids_are_as_a_set_has_them(kind: Callable[[], Ids], blocks: list[list[str]]) -> None:
    ids, used = kind(), set[str]()
    for block in blocks:
        new = len({*block} - used) == len(block)
        assert ids.add(lines(*block)) is new
        if not new:
            break
        used.update(block)


@needs_core
def test_more_prefixes_than_are_numbered() -> None:
    ids = new_ids()
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    prefixes = [a + b + c + d for a in letters[:4] for b in letters for c in letters for d in letters]
    assert len(prefixes) > 1 << 16
    assert ids.add(lines(*(f"{prefix}-7" for prefix in prefixes)))
    assert ids.add(lines(*(f"{prefix}-8" for prefix in prefixes)))
    for prefix in (*prefixes[:3], *prefixes[-3:]):
        assert not ids.add(lines(f"{prefix}-7"))
        assert ids.add(lines(f"{prefix}-9"))


@needs_core
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_million_ids_take_little_memory() -> None:
    blocks = [lines(*(f"CASE-{n}" for n in range(start, start + 1000))) for start in range(0, 10**6, 1000)]
    random.Random(5).shuffle(blocks)
    before = resident()
    ids = new_ids()
    assert all(ids.add(block) for block in blocks)
    assert resident() - before < 1 << 20
    assert not ids.add(b"CASE-123456")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
