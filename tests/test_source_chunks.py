"""However an input is cut, the same is found at the same lines; and what is held is never the whole."""

import gzip
import io
import json
import pickle
import random
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from imported import FIXTURES, found, readings, rejects

from harness.chunk import Span, grouped, read_chunk
from harness.cut import cut_items, cut_lines, lines
from harness.importer import ImportOptions
from harness.importers import synthesis
from harness.rows import cut_rows
from harness.source import open_inputs
from harness.unpack import Torn, unpacked

ROW = {"id": "x", "user": "My cat died.", "assistant": "I am sorry about your cat."}
GOOD = orjson.dumps(ROW)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINES = st.lists(
    st.sampled_from([GOOD, b"", b"  ", b"{", b"\xff", b"[]", b'{"user": 1}', GOOD + b"\r", b"\x00", b"null"])
    | st.integers(1, 400).map(lambda size: orjson.dumps({**ROW, "notes": "n" * size})),
    max_size=30,
)


def blocks(content: bytes, size: int) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


@given(rows=LINES, size=st.integers(1, 500), end=st.sampled_from([b"", b"\n"]))
@QUICK
def test_any_size_of_chunk_finds_the_same(rows: list[bytes], size: int, end: bytes, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join([GOOD, *rows]) + end)
    whole = readings(file, wanted="cases")
    assert readings(file, wanted="cases", size=size) == whole
    bad = [number for number, row in enumerate(rows, 2) if row.strip() and row[:8] != GOOD[:8]]
    assert [line for line, _ in rejects(whole)] == bad
    good = [number for number, row in enumerate(rows, 2) if row[:8] == GOOD[:8]]
    assert [each.line for each in found(whole)] == [1, *good]
    packed = tmp_path / "rows.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    again = readings(packed, wanted="cases", size=size)
    assert rejects(again) == rejects(whole)
    assert [each.conversation for each in found(again)] == [each.conversation for each in found(whole)]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)
@pytest.mark.parametrize("size", [1, 100, 1000])
def test_every_format_is_cut_between_conversations(fixture: Path, size: int) -> None:
    assert readings(fixture, size=size) == readings(fixture)


def test_a_chunk_of_a_plain_file_is_small_and_can_be_sent(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"".join(GOOD + b"\n" for _ in range(1000)))
    (only,) = open_inputs([str(file)])
    chunks = list(only.chunks(10_000))
    assert len(chunks) > 5
    assert all(isinstance(chunk.body, Span) for chunk in chunks)
    assert all(len(pickle.dumps(chunk)) < 1000 for chunk in chunks)
    sent = [pickle.loads(pickle.dumps(chunk)) for chunk in chunks]
    assert [each for chunk in sent for each in read_chunk(chunk)] == readings(file)
    spans = [chunk.body for chunk in chunks if isinstance(chunk.body, Span)]
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert spans[-1].end == file.stat().st_size
    assert all(span.end - span.start <= 10_000 for span in spans)


def test_a_chunk_that_carries_its_records_is_filled_up(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_bytes(b"[" + b",".join([GOOD] * 1000) + b"]")
    (only,) = open_inputs([str(file)])
    sizes = [len(chunk.body) for chunk in only.chunks(10 * len(GOOD)) if isinstance(chunk.body, tuple)]
    assert sizes == [10] * 100


@given(rows=LINES, size=st.integers(1, 300), block=st.integers(1, 200), most=st.integers(150, 400))
@QUICK
def test_a_line_that_is_too_long_is_refused_and_the_rest_is_read(
    rows: list[bytes], size: int, block: int, most: int
) -> None:
    content = b"\n".join(rows)
    got = list(lines(cut_lines(blocks(content, block), min(size, most), most)))
    wanted = [
        (number, row if len(row) + (number < len(rows)) <= most else f"it is larger than {most / 2**20:g} MB")
        for number, row in enumerate(rows, 1)
        if row.strip()
    ]
    assert got == wanted


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values=st.lists(JSON, max_size=6), indent=st.none() | st.integers(0, 2), size=st.integers(1, 40))
@QUICK
def test_items_of_an_array_are_cut_wherever_the_blocks_end(
    values: list[Any], indent: int | None, size: int
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=len(values) % 2 == 0).encode()
    got = list(cut_items(blocks(b"\xef\xbb\xbf \n" + text + b"\n", size)))
    assert [number for number, _ in got] == list(range(1, len(values) + 1))
    assert [orjson.loads(raw) for _, raw in got] == values


@given(
    values=st.lists(JSON.filter(lambda each: isinstance(each, dict)), min_size=1, max_size=4),
    size=st.integers(1, 40),
)
@QUICK
def test_values_that_follow_one_another_are_cut_too(values: list[Any], size: int) -> None:
    text = "\n".join(json.dumps(value, indent=1) for value in values).encode()
    assert [orjson.loads(raw) for _, raw in cut_items(blocks(text, size))] == values


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_item_that_is_too_large_or_not_json_is_one_reject(size: int) -> None:
    large = json.dumps({"a": 'quoted " [ and \\ escaped' * 20})
    text = f'[{{"a": 1}}, {large}, {{"b": ]}}, {{"c": 2}}]'.encode()
    got = list(cut_items(blocks(text, size), most=100))
    assert got[0] == (1, b'{"a": 1}')
    assert got[1] == (2, f"it is larger than {100 / 2**20:g} MB")
    assert got[-1][0] >= 3


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"[]", []),
        (b"", []),
        (b"[1, 2,]", [b"1", b"2"]),
        (b"[1,,2]", [b"1", b"", b"2"]),
        (b'[1, "cut', [b"1", b'"cut']),
        (b"[1, 2", [b"1", b"2"]),
        (b"[1,", [b"1", "the array is not closed"]),
        (b'{"a": "}"}{"b": 1}', [b'{"a": "}"}', b'{"b": 1}']),
        (b"[1] trailing", [b"1", b"trailing"]),
        (b'}{"a": 1}{"b": 2}', [b"}", b'{"a": 1}', b'{"b": 2}']),
        (b'["\\\\", "\\""]', [b'"\\\\"', b'"\\""']),
    ],
)
def test_what_is_odd_about_a_document_is_never_dropped(
    text: bytes, wanted: list[bytes | str], size: int
) -> None:
    got = list(cut_items(blocks(text, size)))
    assert got == list(enumerate(wanted, 1))


def test_rows_over_several_lines_keep_the_line_they_begin_on() -> None:
    text = b'user,assistant\r\n"two\nlines","a ""word"""\r\n\r\nx,y\nonly one\n"late \xff",z\n"open,never'
    got = list(cut_rows(blocks(text, 5), ","))
    assert got[:2] == [
        (2, orjson.dumps({"user": "two\nlines", "assistant": 'a "word"'})),
        (5, orjson.dumps({"user": "x", "assistant": "y"})),
    ]
    assert got[2:] == [
        (6, "1 field where there are 2 columns"),
        (7, "it is not UTF-8"),
        (8, "not CSV: unexpected end of data; is a quotation mark not closed?"),
    ]


def test_a_row_is_refused_for_a_line_in_it_that_is_too_long() -> None:
    text = b'a,b\n1,2\n"x\n' + b"y" * 600_000 + b'\nz",3\n4,5\n'
    got = list(cut_rows([text], ",", most=500_000))
    assert [number for number, _ in got] == [2, 3, 6]
    assert got[1][1] == f"it is larger than {500_000 / 2**20:g} MB"


def test_a_column_that_is_there_twice_is_not_lost() -> None:
    assert list(cut_rows([b"a,a\n1,2\n"], ",")) == [(2, b'{"a":"1","a (2)":"2"}')]


EVENTS = [json.dumps({"type": kind}).encode() for kind in ("start", "user", "end")]


def test_a_broken_line_spoils_its_conversation_and_no_other() -> None:
    rows = list(enumerate([*EVENTS, EVENTS[0], b"{", EVENTS[2], *EVENTS], 1))
    groups = list(grouped(rows, synthesis, ImportOptions()))
    assert [[line.number for line in group] for group in groups] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [[line.number for line in group if line.problem] for group in groups] == [[], [5], []]


def test_a_conversation_of_too_many_lines_is_one_reject() -> None:
    rows = list(enumerate([EVENTS[0], *[EVENTS[1]] * 50, *EVENTS], 1))
    groups = list(grouped(rows, synthesis, ImportOptions(), most=200))
    assert [group[0].number for group in groups] == [1, 52]
    assert [line.problem for line in groups[0]] == [f"it is larger than {200 / 2**20:g} MB"]
    assert [line.problem for line in groups[1]] == [None, None, None]


SQUEEZE = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor(write_checksum=True).compress}


@pytest.mark.parametrize("kind", SQUEEZE)
@pytest.mark.parametrize("damage", ["cut off", "garbled", "garbage after"])
def test_a_damaged_stream_gives_what_came_before_and_says_so(kind: str, damage: str, tmp_path: Path) -> None:
    noise = random.Random(1)
    rows = [orjson.dumps({**ROW, "id": f"A-{n}", "notes": noise.randbytes(30).hex()}) for n in range(20_000)]
    packed = SQUEEZE[kind](b"\n".join(rows))
    middle = len(packed) // 2
    if damage == "cut off":
        packed = packed[:middle]
    elif damage == "garbled":
        packed = (
            packed[:middle]
            + bytes(byte ^ 255 for byte in packed[middle : middle + 99])
            + packed[middle + 99 :]
        )
    else:
        packed += b"garbage"
    file = tmp_path / "rows"
    file.write_bytes(packed)
    everything = readings(file)
    got = found(everything)
    bad = rejects(everything)
    assert len(bad) >= 1
    assert f"the {kind} data" in bad[-1][1]
    assert [each.conversation.id for each in got[:1000]] == [f"A-{n}" for n in range(1000)]
    if damage == "garbage after":
        assert len(got) >= 19_999
    else:
        assert 1000 < len(got) < 20_000
        assert bad[-1][0] > got[-1].line
        assert len(bad) == 1 or damage == "garbled"


@pytest.mark.parametrize("kind", SQUEEZE)
def test_what_is_damaged_from_the_start_is_refused(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_bytes(SQUEEZE[kind](GOOD)[:6])
    with pytest.raises(Exception, match=f"the {kind} data (ends too early|is damaged)"):
        readings(file)


@pytest.mark.parametrize("kind", SQUEEZE)
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_streams_come_back_whole(kind: str, parts: int) -> None:
    content = random.Random(2).randbytes(300_000) + b"a" * 2_000_000
    step = -(-len(content) // parts)
    packed = b"".join(SQUEEZE[kind](part) for part in blocks(content, step))
    padding = b"\0" * 512 if kind == "gzip" else b""
    got = list(unpacked(io.BytesIO(packed + padding), kind))  # type: ignore[arg-type]
    assert not [block for block in got if isinstance(block, Torn)]
    assert b"".join(block for block in got if isinstance(block, bytes)) == content


def bomb(kind: str) -> bytes:
    """Half a gigabyte of one letter."""
    if kind == "zstd":
        squeeze = zstandard.ZstdCompressor(level=19).compressobj()
        return b"".join([squeeze.compress(b"a" * 2**20) for _ in range(512)]) + squeeze.flush()
    gz = zlib.compressobj(9, wbits=31)
    return b"".join([gz.compress(b"a" * 2**20) for _ in range(512)]) + gz.flush()


@pytest.mark.parametrize("kind", SQUEEZE)
def test_a_bomb_is_one_reject_and_never_unpacked_whole(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "rows"
    squeeze = SQUEEZE[kind]
    file.write_bytes(squeeze(GOOD + b"\n") + bomb(kind) + squeeze(b"\n" + GOOD + b"\n"))
    tracemalloc.start()
    everything = readings(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each.line for each in found(everything)] == [1, 3]
    assert rejects(everything) == [(2, "it is larger than 64 MB")]
    assert peak < 320 * 2**20


def test_memory_does_not_grow_with_the_input(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        file = tmp_path / "rows.json"
        file.write_bytes(b"[" + b",\n".join([GOOD] * rows) + b"]")
        (only,) = open_inputs([str(file)])
        tracemalloc.start()
        count = sum(1 for chunk in only.chunks(2**16) for _ in read_chunk(chunk))
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == rows
        return held

    assert peak(40_000) < 1.5 * peak(10_000)


def test_bad_rows_are_rejects_of_their_own_and_take_no_good_row_with_them(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("prompt,response\n" + "Hello,Hi\n" * 300 + "alone\n" * 200 + "Thanks,Any time\n")
    for size in (64, 2**20):
        everything = readings(file, size=size)
        assert [each.line for each in found(everything)] == [*range(2, 302), 502]
        assert [line for line, _ in rejects(everything)] == list(range(302, 502))


def test_a_bad_row_spoils_the_conversation_it_stands_in_and_none_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "messages.csv"
    talks = [f"{name},user,Hello\n{name},assistant,Hi\n" for name in "abc"]
    first, second, third = talks
    inside = second.replace("\n", "\nbad\nworse\n", 1)
    file.write_text("conversation_id,role,content\n" + first + "bad\n" + inside + third + "bad\n")
    for size in (8, 2**20):
        everything = readings(file, size=size)
        assert [each.conversation.id for each in found(everything)] == ["a", "c"]
        said = "1 field where there are 3 columns"
        spoiled = (5, "2 lines of this conversation cannot be read: 2 good lines left out")
        assert rejects(everything) == [(4, said), spoiled, (6, said), (7, said), (11, said)]


def test_a_bad_line_after_the_end_of_a_transcript_leaves_it_whole() -> None:
    rows = list(enumerate([*EVENTS, b"{", *EVENTS[1:], EVENTS[0], EVENTS[1], b"{", *EVENTS], 1))
    groups = list(grouped(rows, synthesis, ImportOptions()))
    numbers = [[line.number for line in group] for group in groups]
    assert numbers == [[1, 2, 3], [4], [5, 6], [7, 8, 9], [10, 11, 12]]


def test_bad_lines_in_a_conversation_that_is_too_large_are_still_told() -> None:
    rows = list(enumerate([EVENTS[0], b"{", *[EVENTS[1]] * 50, b"{", EVENTS[1], *EVENTS], 1))
    groups = list(grouped(rows, synthesis, ImportOptions(), most=200))
    assert [[line.number for line in group] for group in groups] == [[1], [2], [53], [55, 56, 57]]
