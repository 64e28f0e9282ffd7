"""An agent that asks for too much at once, or for too long, is held back without a limit of its own."""

import json
import os
from pathlib import Path

import pytest
from agents import agent, call, done, evaluated, of_type, perform, python_file, results, script, turn
from sandboxes import marked

from harness.hands import LARGEST
from harness.mediums.conversation import MOST_CALLS

LIST = call("list_dir")


@pytest.mark.parametrize("tool_calls", ["native", "text"])
def test_too_many_calls_in_one_answer_are_not_made(tool_calls: str, tmp_path: Path) -> None:
    many = turn(*[LIST] * 100_000, call("done", result="too late"))
    outcome = perform(
        tmp_path, agent(many, done("next"), gates=["list_dir"], tool_calls=tool_calls), timeout=15
    )
    assert len(results(outcome, "list_dir")) == MOST_CALLS
    assert outcome.end()["result"] == "next"


def test_calls_that_never_wait_are_ended_by_the_ward_too(tmp_path: Path) -> None:
    subject = agent(turn(*[LIST] * MOST_CALLS), done(1), gates=["list_dir"], wards={"max_seconds": 0.05})
    outcome = perform(tmp_path, subject, fixtures={f"{number}.txt": "" for number in range(3000)})
    assert outcome.end()["ward"] == "max_seconds"
    assert len(results(outcome, "list_dir")) < MOST_CALLS


@pytest.mark.parametrize("size", [LARGEST, LARGEST + 1])
def test_arguments_that_are_too_large_are_refused_and_not_kept(size: int, tmp_path: Path) -> None:
    arguments = {"path": "large.txt", "text": ""}
    arguments["text"] = "x" * (size - len(json.dumps(arguments, separators=(",", ":"))))
    subject = agent(turn(call("write_file", **arguments)), done(1), gates=["write_file"])
    outcome = perform(tmp_path, subject)
    why = f"{size} bytes of arguments are too many, at most {LARGEST} are taken"
    fits = size == LARGEST
    assert of_type(outcome, "gate_call")[0]["arguments"] == (arguments if fits else why)
    written = (True, {"bytes": len(arguments["text"])})
    assert results(outcome, "write_file") == [written if fits else (False, f"write_file: {why}")]
    assert (outcome.workspace() / "large.txt").exists() is fits
    assert outcome.end()["terminated"]


@pytest.mark.parametrize(
    ("limit", "most", "unit"), [("MOST_BYTES", 100_000, "bytes"), ("MOST_EVENTS", 50, "events")]
)
def test_a_transcript_that_grows_without_end_is_an_error_and_no_score(
    limit: str, most: int, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"harness.record.{limit}", most)
    subject = agent({"code": "while True: write_file('a', 'x' * 1000)"}, medium="code", gates=["write_file"])
    outcome = perform(tmp_path, subject)
    assert outcome.error() == ("size", f"its transcript has more than {most} {unit}")
    events = outcome.events()
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[-2:]] == ["error", "end"]
    *before, _, _ = outcome.raw().splitlines(keepends=True)
    size = len(b"".join(before)) if unit == "bytes" else len(before)
    assert 0.95 * most < size <= most


def test_an_event_that_did_not_fit_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that looks away must not be scored with a gap in its transcript."""
    monkeypatch.setattr("harness.record.MOST_BYTES", 10_000)
    functions = """
def shout(context):
    try:
        context.recorder.assistant("x" * 20_000)
    except Exception:
        return "quiet"
"""
    file = python_file(tmp_path, functions, f"{agent(turn(call('shout')), done(1))} | {{'gates': [shout]}}")
    assert evaluated(file, tmp_path / "run").error()[0] == "size"


def test_a_first_event_is_written_whatever_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.record.MOST_BYTES", 10)
    outcome = perform(tmp_path, agent(done(1)))
    assert outcome.error()[0] == "size"
    assert [event["type"] for event in outcome.events()] == ["start", "error", "end"]


def test_no_program_of_a_childs_is_left_when_the_transcript_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.record.MOST_BYTES", 20_000)
    mark = f"300.{os.getpid()}77"
    sleeper = f"import subprocess\nsleeping = subprocess.Popen(['sleep', '{mark}'])\nsleeping.poll() is None"
    child = script({"code": sleeper}, "x" * 30_000)
    subject = agent(turn(call("cast", prompt="Go.", medium="code")), gates=["cast"], children=[child])
    outcome = perform(tmp_path, subject)
    assert outcome.error()[0] == "size"
    assert results(outcome, "code") == [(True, {"output": "True\n", "error": None})]
    assert marked(mark) == []
