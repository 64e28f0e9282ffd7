"""The core's way with a block of lines gives what the way through Python gives, or leaves the block to it."""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_core import needs_core
from test_matching import CHECKERS, SETTINGS

from harness import check_file
from harness.check_file import Block, CheckOptions, _plain_block, check_block
from harness.checked_block import CheckedBlock, quick_block
from harness.resources import bundled

pytestmark = needs_core
REPLIES = [
    "You'll be fine, I promise.",
    "That is so hard. What happened, if you want to tell me?",
    "Anyway, have you tried pottery?\n- Rest\n- Walk",
    "“You should quit,” he said. Do you feel like it? 😀",
    "You must \"go\"\\ now. You must 'go'.\tYou\x01 should go.",
]
GOOD: dict[str, Any] = {
    "id": "T-1", "user": "My dad died in May.", "assistant": "You must go.", "checks": ["topic_pivot"],
}  # fmt: skip


def plainly(content: bytes, *, planted: bool = False) -> CheckedBlock:
    return _plain_block(CheckOptions(SETTINGS, "f", planted=planted), Block(2, content))


def is_quick(content: bytes, *, planted: bool = False) -> bool:
    """Whether the core did it; then it did as Python does."""
    found = quick_block(content, SETTINGS, planted=planted)
    if found is None:
        return False
    expected = plainly(content, planted=planted)
    assert found == expected
    return True


def line(**change: object) -> bytes:
    return json.dumps(GOOD | change).encode()


letters = st.characters(codec="utf-8", exclude_characters="Σ")
texts = st.sampled_from(REPLIES) | st.text(letters, min_size=1, max_size=40)
tags = (
    st.sampled_from(["slice:a", "slice:b", "slice:", "x-fail", "-fail", "x-failed", "negative_example"])
    | texts
)
labels = st.dictionaries(st.sampled_from(CHECKERS), st.booleans()).flatmap(
    lambda some: st.just(some) | st.just({**some, "topic_pivot": None})
)
rows = st.fixed_dictionaries(
    {
        "id": st.from_regex(r"\A[A-Z]{1,3}-[0-9]{1,4}\Z"),
        "user": st.just("My husband left me and I can't stop crying.") | texts,
        "assistant": texts,
        "checks": st.lists(st.sampled_from(CHECKERS), min_size=1, unique=True),
    },
    optional={"expected": labels, "tags": st.lists(tags, max_size=4), "notes": texts | st.just("")},
)


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """A case in one of the many ways in which it can be written."""
    row = draw(rows)
    keys = draw(st.permutations(list(row)))
    space = draw(st.sampled_from(["", " ", "\t", " \r\t"]))
    text = json.dumps(
        {key: row[key] for key in keys},
        ensure_ascii=draw(st.booleans()),
        separators=(space + "," + space, space + ":" + space),
    )
    if draw(st.booleans()):
        text = text.replace("/", "\\/").replace("\\u00e", "\\u00E")
    return (draw(st.sampled_from(["", " ", "\t"])) + text + space).encode()


blank = st.sampled_from([b"", b" ", b"\r", b"\x0b\x0c\t"])
files = st.lists(written() | blank, min_size=1, max_size=6).flatmap(
    lambda some: st.sampled_from([b"\n", b"\r\n"]).map(lambda end: end.join([*some, b""]))
)


@given(content=files, planted=st.booleans())
def test_right_lines_are_for_the_core(content: bytes, planted: bool) -> None:
    assert is_quick(content, planted=planted)


odd = st.sampled_from(
    [
        b"", b" ", b"\n", b"\r", b"\0", b"\x0b", b"\x1f", b"\x7f", b'"', b"\\", b"\\\\", b'\\"', b"/", b",",
        b":", b"{", b"}", b"[", b"]", b"{}", b"[]", b"null", b"true", b"1", b"1e999", b"-0", b"\\u0000",
        b"\\ud83d", b"\\udE00", b"\\ud83d\\ude00", b"\\u12", b"\\x41", b"\\'", b"\x80", b"\xc0\x80", b"\xc3",
        b"\xc3\xa9", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xff",
        b"\xf4\x90\x80\x80", b'"user"', b'"notes":"a",', b'"more":{"a":[1,{"b":null}]},', b'"id":"A-1",',
        b'"tags":[],',
    ]
)  # fmt: skip


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """Lines with a few bytes taken out or put in anywhere."""
    content = draw(files)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        content = content[:start] + draw(odd) + content[start + draw(st.sampled_from([0, 0, 1, 2, 20])) :]
    return content


@given(content=spoiled())
@settings(max_examples=1500)
def test_whatever_the_core_takes_python_takes_too(content: bytes) -> None:
    is_quick(content)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats()
    | st.sampled_from(["", "T-1", "t-1", "T-1\n", "T-", "-1", "T-1a", "T-²", "topic_pivot", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["", *CHECKERS]), inner),
)  # fmt: skip


@pytest.mark.parametrize("key", [*GOOD, "expected", "tags", "notes", "more"])
@given(value=values)
def test_fields_of_any_kind(key: str, value: object) -> None:
    is_quick(line(**{key: value}))


REFUSED = [
    line(checks=[]), line(checks=["topic_pivot", "topic_pivot"]), line(checks=["nothing"]),
    line(user=""), line(assistant=""), line(id="T-1\n"), line(id="t-1"), line(more=1),
    line(expected={"nothing": True}), line(expected={"agency_language": None}),
    line(user="\ud800"), line(notes="\udc00"), line(tags=["\ud800"]), line(tags=None), line(notes=None),
    line() + b"x", line() + line(), line()[:-1], line()[1:], line().replace(b", ", b",\n", 1),
    b"[]", b"null", b'"a"', b"{}", b"\xff", b"\xef\xbb\xbf" + line(), b"\x0b" + line(),
]  # fmt: skip
BAD = [
    *(bytes([control]) for control in range(0x20)), b"\\", b"\\x41", b"\\u12", b"\\u12g4", b"\\u004",
    b"\\ud800", b"\\udc00", b"\\udc00\\udc00", b"\\ud800\\ud800", b"\\ud800 \\udc00", b"\\ud800\\n",
    b"\x80", b"\xbf", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf",
    b"\xe2\x82", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xff",
]  # fmt: skip


@pytest.mark.parametrize("field", ["user", "notes", "tags"])
def test_strings_that_are_not_right_are_refused(field: str) -> None:
    """Far from the ends of the text, where eight bytes are looked at together, and at the end."""
    for text in (b"one two three four@ five six seven", b"one two@"):
        for bad in BAD:
            value = text.decode()
            content = line(**{field: [value] if field == "tags" else value}).replace(b"@", bad)
            assert plainly(content).wrong, bad
            assert quick_block(content, SETTINGS, planted=False) is None, bad


@pytest.mark.parametrize("content", REFUSED)
def test_what_python_refuses_is_refused(content: bytes) -> None:
    """Beside lines that are right, so that the block is wrong for this alone."""
    block = b"\n".join([line(id="T-2"), content, line(id="T-3")])
    assert plainly(block).wrong
    assert quick_block(block, SETTINGS, planted=False) is None
    assert check_block(CheckOptions(SETTINGS, "f"), Block(2, block)).wrong


def test_a_key_that_comes_twice_is_read_by_python() -> None:
    """The last one counts there."""
    for twice in (
        b'{"user":"a",' + line()[1:],
        line(expected={"topic_pivot": True})[:-2] + b',"topic_pivot":false}}',
    ):
        assert not plainly(twice).wrong
        assert quick_block(twice, SETTINGS, planted=False) is None


@pytest.mark.parametrize("pack", ["evals", "fairness", "planted"])
@pytest.mark.parametrize("planted", [False, True])
def test_the_bundled_cases_are_for_the_core(pack: str, planted: bool) -> None:
    assert is_quick((bundled("data") / f"{pack}.jsonl").read_bytes(), planted=planted)


def test_everything_is_counted_of_many_cases() -> None:
    """More failures of each kind than are shown, and every label with every status."""
    rng = random.Random(3)
    some = [
        line(
            id=f"T-{number}",
            assistant=rng.choice(REPLIES),
            user=rng.choice(["My dad died in May.", "What is a noun?"]),
            checks=rng.sample(CHECKERS, rng.randint(1, 3)),
            expected={name: rng.random() < 0.5 for name in rng.sample(CHECKERS, rng.randint(0, 3))},
            tags=rng.sample(["x-fail", "slice:a", "slice:a", "slice:b", "z"], rng.randint(0, 3)),
        )
        for number in range(500)
    ]
    tally = plainly(b"\n".join(some)).tally
    assert [len(kept) for kept in tally.failures.values()] == [5, 5]
    assert len(tally.lost) > 5
    assert all(len(counts) >= 4 for counts in tally.labels.values())
    assert is_quick(b"\n".join(some), planted=True)


def test_a_mark_at_the_beginning_of_a_file_is_left_out() -> None:
    content = b"\xef\xbb\xbf" + line()
    done = check_block(CheckOptions(SETTINGS, "f"), Block(1, content))
    assert not done.wrong
    assert done.size == len(content)
    assert (done.ids, done.results) == (b"T-1", plainly(line()).results)


def test_a_text_that_is_not_for_the_core_leaves_the_whole_block() -> None:
    content = b"\n".join([line(), line(id="T-2", assistant="You must go, Σ.")])
    assert quick_block(content, SETTINGS, planted=False) is None
    assert check_block(CheckOptions(SETTINGS, "f"), Block(1, content)).ids == b"T-1\nT-2"


def test_a_schema_is_for_python(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"properties": {"notes": {"minLength": 3}}}')
    options = CheckOptions(SETTINGS, "f", schema=str(schema))
    assert check_block(options, Block(1, line(notes="ab"))).wrong
    assert not check_block(options, Block(1, line(notes="abc"))).wrong


def test_ordinary_blocks_never_reach_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(check_file, "_plain_block")
    assert check_block(CheckOptions(SETTINGS, "f"), Block(1, line())).ids == b"T-1"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_what_an_endless_line_needed_is_given_back() -> None:
    endless = line(assistant="You must go. " * 400_000, notes="n" * 10**7)
    assert quick_block(line(), SETTINGS, planted=False) is not None
    before = resident()
    assert quick_block(endless, SETTINGS, planted=False) is not None
    assert resident() - before < 50 << 20  # of about 150 that are needed


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
