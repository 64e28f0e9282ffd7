"""Transcripts: what is written is valid, what is cut is readable, what is hostile stays data."""

import json
import math
import os
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import Recording

from harness.errors import SubjectError, SynthesisError
from harness.record import Recorder, Sink, encode_event
from harness.transcript import EVENTS, Transcript, read_transcript

START = {"scenario": "talk", "seed": 3, "fingerprint": "f", "subject": {"type": "none"}, "system": None}
HOSTILE = [
    "\x1b]0;owned\x07\x1b[2J",
    'line\nbreak\r\n"quoted" \\',
    "\u2028\u2029\u0085\ufeff",
    "\u202eright to left",
    '{"v":1,"seq":0,"type":"end"}\n{"type":"end"}',
    "\x00\x7f",
    "💥" * 100,
]


def record(path: Path, texts: list[str]) -> Transcript:
    recorder = Recorder(path)
    recorder.start(START)
    for text in texts:
        recorder.user(text)
        recorder.assistant(text, code=text, medium="code")
        recorder.gate_call(text, {text: text})
        recorder.observation(text, ok=True, result=[text])
        child = recorder.child_start("bash", text)
        recorder.assistant(text, parent=child)
        recorder.child_end(child, "done", terminated=True, result=text)
    recorder.error("kind", "message")
    recorder.end("completed", terminated=True, result=texts)
    return recorder.close()


def test_every_event_is_valid_numbered_and_on_a_line_of_its_own(tmp_path: Path) -> None:
    written = record(tmp_path / "t.jsonl", HOSTILE)
    lines = (tmp_path / "t.jsonl").read_bytes().splitlines()
    assert len(lines) == len(written.events) == 3 + 7 * len(HOSTILE)
    for number, line in enumerate(lines):
        event = json.loads(line)
        EVENTS.validate_python(event, strict=True)
        assert list(event)[:5] == ["v", "seq", "type", "turn", "parent"]
        assert (event["v"], event["seq"]) == (1, number)
    assert [event["text"] for event in written.of_type("user")] == HOSTILE
    assert written.result == HOSTILE


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    written = record(tmp_path / "t.jsonl", HOSTILE)
    read = read_transcript(tmp_path / "t.jsonl")
    assert read.events == written.events
    assert (read.seed, read.finished, read.terminated) == (3, True, True)


def test_a_transcript_cut_at_any_byte_is_readable_up_to_its_last_whole_event(tmp_path: Path) -> None:
    written = record(tmp_path / "t.jsonl", HOSTILE[:2])
    content = (tmp_path / "t.jsonl").read_bytes()
    cut = tmp_path / "cut.jsonl"
    for size in range(content.index(b"\n") + 1, len(content) + 1):
        cut.write_bytes(content[:size])
        read = read_transcript(cut)
        assert len(read.events) == content[:size].count(b"\n")
        assert read.events == written.events[: len(read.events)]
        assert read.finished is (size == len(content))


@pytest.mark.parametrize("size", [0, 1, 20])
def test_a_transcript_cut_in_its_first_event_is_none(tmp_path: Path, size: int) -> None:
    record(tmp_path / "t.jsonl", [])
    (tmp_path / "t.jsonl").write_bytes((tmp_path / "t.jsonl").read_bytes()[:size])
    with pytest.raises(SynthesisError, match="does not begin with a start event"):
        read_transcript(tmp_path / "t.jsonl")


def test_each_event_is_on_disk_before_the_next_thing_is_done(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.jsonl")
    recorder.start(START)
    assert len(read_transcript(tmp_path / "t.jsonl").events) == 1
    recorder.user("hi")
    assert len(read_transcript(tmp_path / "t.jsonl").events) == 2
    recorder.close()


def test_what_arrives_after_the_end_is_dropped(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.jsonl")
    recorder.start(START)
    assert len(recorder.close().events) == 1
    recorder.assistant("too late")
    recorder.end("completed", terminated=True)
    assert len(recorder.close().events) == 1
    assert len(read_transcript(tmp_path / "t.jsonl").events) == 1


def test_what_goes_on_after_its_end_is_no_transcript(tmp_path: Path) -> None:
    record(tmp_path / "t.jsonl", ["hi"])
    with (tmp_path / "t.jsonl").open("ab") as file:
        file.write(encode_event(10, "assistant", 1, None, {"text": "x", "code": None, "medium": "code"}))
    with pytest.raises(SynthesisError, match="it goes on after its end"):
        read_transcript(tmp_path / "t.jsonl")


@pytest.mark.parametrize("value", [math.nan, math.inf, [1, {"deep": (-math.inf,)}], object(), {1: 2}, 2**70])
def test_a_value_that_json_cannot_hold_is_an_error_and_not_written(tmp_path: Path, value: object) -> None:
    recorder = Recorder(tmp_path / "t.jsonl")
    recorder.start(START)
    with pytest.raises(SubjectError, match="of its end is not JSON: "):
        recorder.end("completed", terminated=True, result=value)
    assert [event["type"] for event in recorder.close().events] == ["start"]


def test_a_subject_can_write_nothing_but_its_own_part(tmp_path: Path) -> None:
    public = {name for name in dir(Sink(Recorder(tmp_path / "t.jsonl"))) if not name.startswith("_")}
    assert public == {
        "assistant", "gate_call", "observation", "child_start", "child_end", "attempt", "sandbox",
    }  # fmt: skip


GOOD = {"v": 1, "seq": 1, "type": "user", "turn": 1, "parent": None, "text": "hi"}


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "5",
        '"\\ud800"',
        {**GOOD, "v": 2},
        {**GOOD, "type": "usr"},
        {**GOOD, "extra": 1},
        {**GOOD, "text": 5},
        {**GOOD, "turn": "1"},
        {**GOOD, "seq": -1},
        {**GOOD, "parent": "0"},
        {key: value for key, value in GOOD.items() if key != "text"},
        {key: value for key, value in GOOD.items() if key != "type"},
    ],
)
def test_a_line_that_is_no_event_is_an_error_with_its_line(tmp_path: Path, line: object) -> None:
    start = orjson.dumps(Recording().events[0])
    path = tmp_path / "t.jsonl"
    path.write_bytes(start + b"\n" + orjson.dumps(GOOD) + b"\n")
    assert len(read_transcript(path).events) == 2
    bad = line.encode() if isinstance(line, str) else orjson.dumps(line)
    path.write_bytes(start + b"\n" + bad + b"\n")
    with pytest.raises(SynthesisError) as raised:
        read_transcript(path)
    assert raised.value.where == f"{path}:2"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    with pytest.raises(SynthesisError, match="cannot be read: not a regular file"):
        read_transcript(tmp_path / "t.jsonl")


def test_a_folder_is_no_transcript(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="cannot be read"):
        read_transcript(tmp_path)


@given(st.binary(max_size=300))
def test_whatever_bytes_are_read_give_a_transcript_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(orjson.dumps(Recording().events[0]) + b"\n" + content)
    try:
        read = read_transcript(path)
    except SynthesisError:
        return
    assert read.events[0]["type"] == "start"


# What scoring reads


def test_turns_pair_each_message_with_its_reply() -> None:
    talk = Recording().user("one").says("first").user("two").says("second").says("third").user("three")
    turns = talk.transcript().turns
    assert [(turn.user, turn.assistant) for turn in turns] == [("one", "first"), ("two", "second\n\nthird")]


def test_an_error_is_told_only_where_the_trial_did_not_finish() -> None:
    fine = Recording().user("hi")
    fine.add("error", kind="retry", message="once")
    assert fine.ends("x").error is None
    bad = Recording().user("hi")
    bad.add("error", kind="a", message="first")
    bad.add("error", kind="b", message="last")
    assert bad.ends(reason="error", terminated=False).error == "b: last"
