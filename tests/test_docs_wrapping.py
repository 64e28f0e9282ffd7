"""docs/wrapping.md does what it says: every file on the page is run, as the commands on the page say."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty_server import Behaviour, FaultyServer, Request, ToolCall, ok, status

PAGE = (Path(__file__).parent.parent / "docs" / "wrapping.md").read_text("utf-8")
FILES: dict[str, str] = dict(re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", PAGE, re.M | re.S))
COMMANDS: list[str] = re.findall(r"^```sh\n(.*)\n```$", PAGE, re.M)
KEY = "sk-not-a-real-key-0123456789"

Events = list[dict[str, Any]]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    for name, body in FILES.items():
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(body, "utf-8")
    return tmp_path


def synthesis(folder: Path, command: str, server: str = "http://127.0.0.1:9") -> tuple[int, dict[str, Any]]:
    """The exit code and the report; the `python3` of the page is the one that runs the tests."""
    name, *arguments = shlex.split(command)
    assert name == "synthesis"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "OPENAI_BASE_URL": server, "OPENAI_API_KEY": KEY}
    words = [sys.executable, "-m", "harness", *arguments, "--out", "run", "--json"]
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def events(folder: Path, scenario: str, seed: int = 1) -> Events:
    lines = (folder / "run" / "transcripts" / f"{scenario}-{seed}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def steps(events: Events) -> list[tuple[object, ...]]:
    """Type, parent and the telling field of everything between start and end."""
    telling = ("text", "gate", "model", "prompt", "reason")
    return [
        (event["type"], event["parent"], next(event[key] for key in telling if key in event))
        for event in events[1:-1]
    ]


def trials(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {scenario["name"]: scenario["trials"][0] for scenario in report["scenarios"]}


def attempts(events: Events) -> list[tuple[object, ...]]:
    wanted = ("model", "attempt", "status", "input_tokens", "output_tokens", "finish", "error")
    return [tuple(event[key] for key in wanted) for event in events if event["type"] == "attempt"]


def shopkeeper(request: Request) -> Behaviour:
    """Looks up the day it was asked about, then says what came of the look-up."""
    last = request.body["messages"][-1]
    if last["role"] == "user":
        day = "sunday" if "Sunday" in last["content"] else "saturday"
        return ok(None, tool_calls=[ToolCall("opening_hours", {"day": day}, f"call_{day}")], usage=(50, 8))
    return ok(f"We are open {last['content']}.", usage=(70, 5))


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(shopkeeper) as running:
        yield running


def test_every_block_is_a_file_or_a_command_and_every_file_is_used() -> None:
    assert PAGE.count("\n```") == 2 * (len(FILES) + len(COMMANDS))
    assert COMMANDS == [
        "synthesis eval pydantic-ai/",
        "synthesis eval loop/shop.py loop/talk.json",
        "synthesis eval children/talk.json",
    ]
    assert {name.partition("/")[0] for name in FILES} == {"pydantic-ai", "loop", "children"}


def test_a_pydantic_ai_agent_is_recorded_and_remembers(page: Path) -> None:
    """One trial after the other, so that the second would find what the first left behind."""
    exit_code, report = synthesis(page, f"{COMMANDS[0]} --jobs 1")
    assert exit_code == 0
    (trial, other) = report["scenarios"][0]["trials"]
    assert [(score["criterion"], score["status"]) for score in trial["criteria"]] == [
        ("gate_used", "passed"),
        ("contains", "passed"),
    ]
    assert trial["criteria"][0]["reason"] == "opening_hours was used 1×"
    assert other["criteria"] == trial["criteria"]
    for seed in (1, 2):
        assert steps(events(page, "hours", seed)) == [
            ("user", None, "When do you open on Saturday?"),
            ("attempt", None, "test:test"),
            ("gate_call", None, "opening_hours"),
            ("observation", None, "opening_hours"),
            ("attempt", None, "test:test"),
            ("assistant", None, '{"opening_hours":"from 9 to 5"}'),
            ("user", None, "And what did I just ask?"),
            ("attempt", None, "test:test"),
            ("assistant", None, '{"opening_hours":"from 9 to 5"}'),
        ], "the stand-in calls each tool once a conversation: with no history it would call it again"
    asked = events(page, "hours")
    assert asked[3]["arguments"] == {"day": "a"}
    assert (asked[4]["ok"], asked[4]["result"]) == (True, "from 9 to 5")
    counted = [event for event in asked if event["type"] == "attempt"]
    assert trial["usage"] == {
        "requests": 3,
        "input_tokens": sum(event["input_tokens"] for event in counted),
        "output_tokens": sum(event["output_tokens"] for event in counted),
        "cost": None,
    }
    assert [event["input_tokens"] for event in counted] == sorted({e["input_tokens"] for e in counted})


def test_an_agent_that_another_one_asked_is_its_child(page: Path) -> None:
    exit_code, report = synthesis(page, COMMANDS[0])
    assert exit_code == 0
    done = events(page, "invoices")
    (child,) = [event["seq"] for event in done if event["type"] == "child_start"]
    assert steps(done) == [
        ("user", None, "What do I still owe you?"),
        ("attempt", None, "test:test"),
        ("gate_call", None, "ask_bookkeeper"),
        ("child_start", None, "a"),
        ("attempt", child, "test:test"),
        ("gate_call", child, "open_invoices"),
        ("observation", child, "open_invoices"),
        ("attempt", child, "test:test"),
        ("assistant", child, '{"open_invoices":[12,30]}'),
        ("child_end", child, "completed"),
        ("observation", None, "ask_bookkeeper"),
        ("attempt", None, "test:test"),
        ("assistant", None, '{"ask_bookkeeper":"{\\"open_invoices\\":[12,30]}"}'),
    ]
    trial = trials(report)["invoices"]
    assert [(score["name"], score["status"]) for score in trial["criteria"]] == [
        ("gate_used: ask_bookkeeper", "passed"),
        ("gate_used: open_invoices", "passed"),
        ("child_medium_used: conversation", "passed"),
    ]
    assert trial["usage"]["requests"] == 4


OTHER_RUBRIC = """
from team import answer

scenarios = [{
    "name": "other", "prompt": "hello", "subject": {"type": "function", "function": answer},
    "rubric": [
        {"gate_used": "open_invoices", "scope": "parent"},
        {"gate_used": "send_invoice"},
        {"child_medium_used": "code"},
    ],
}]
"""


def test_what_a_wrapped_agent_did_not_do_is_not_scored_as_done(page: Path) -> None:
    (page / "pydantic-ai" / "other.py").write_text(OTHER_RUBRIC)
    _, report = synthesis(page, "synthesis eval pydantic-ai/other.py")
    assert [(score["status"], score["reason"]) for score in trials(report)["other"]["criteria"]] == [
        ("failed", "open_invoices was not used; used: ask_bookkeeper"),
        ("failed", "send_invoice was not used; used: open_invoices, ask_bookkeeper"),
        ("failed", "no child used code; used: conversation"),
    ]


FAILING = """
from _recorded import run_recorded
from pydantic_ai import Agent, ModelRetry

agent = Agent("test")


@agent.tool_plain
def broken(day: str) -> str:
    raise ModelRetry("no such day")


async def answer(prompt, context):
    return (await run_recorded(agent, prompt, context.recorder)).output


scenarios = [{"name": "failing", "prompt": "hello",
    "subject": {"type": "function", "function": answer}, "rubric": [{"gate_used": "broken"}]}]
"""


def test_what_happened_before_a_wrapped_agent_failed_is_recorded(page: Path) -> None:
    (page / "pydantic-ai" / "failing.py").write_text(FAILING)
    exit_code, report = synthesis(page, "synthesis eval pydantic-ai/failing.py")
    trial = trials(report)["failing"]
    assert (exit_code, trial["status"], trial["score"]) == (1, "error", None)
    assert "UnexpectedModelBehavior" in trial["error"]
    done = events(page, "failing")
    assert [
        (event["ok"], "no such day" in event["result"]) for event in done if event["type"] == "observation"
    ] == [(False, True)]
    assert trial["usage"]["requests"] == 2


@pytest.mark.parametrize("scenario", ["loop-function", "loop-command"])
def test_a_tool_loop_is_recorded(page: Path, server: FaultyServer, scenario: str) -> None:
    exit_code, report = synthesis(page, COMMANDS[1], server.base_url)
    assert exit_code == 0
    trial = trials(report)[scenario]
    assert [score["reason"] for score in trial["criteria"]] == [
        "opening_hours was used 2×",
        "the result contains 'not at all'",
    ]
    done = events(page, scenario)
    model = "openai:gpt-5-mini"
    assert steps(done) == [
        step
        for question, answer in (
            ("When do you open on Saturday?", "We are open from 10 to 2."),
            ("And on Sunday?", "We are open not at all."),
        )
        for step in (
            ("user", None, question),
            ("attempt", None, model),
            ("gate_call", None, "opening_hours"),
            ("observation", None, "opening_hours"),
            ("attempt", None, model),
            ("assistant", None, answer),
        )
    ]
    assert [event["arguments"] for event in done if event["type"] == "gate_call"] == [
        {"day": "saturday"},
        {"day": "sunday"},
    ]
    assert [(event["ok"], event["result"]) for event in done if event["type"] == "observation"] == [
        (True, "from 10 to 2"),
        (True, "not at all"),
    ]
    known = scenario == "loop-function"
    ways = [(50, 8, "tool_calls" if known else None, None), (70, 5, "stop" if known else None, None)] * 2
    assert attempts(done) == [(model, 1, 200 if known else None, *way) for way in ways]
    assert trial["usage"] == {"requests": 4, "input_tokens": 240, "output_tokens": 26, "cost": None}


def test_the_loops_send_the_whole_conversation_and_their_key(page: Path, server: FaultyServer) -> None:
    synthesis(page, COMMANDS[1], server.base_url)
    last = [request.body["messages"] for request in server.requests if len(request.body["messages"]) == 7]
    assert len(last) == 2
    for messages in last:
        assert [message["role"] for message in messages] == [
            "user", "assistant", "tool", "assistant", "user", "assistant", "tool"
        ]  # fmt: skip
        assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == [
            "call_saturday",
            "call_sunday",
        ]
    assert {request.key for request in server.requests} == {f"Bearer {KEY}"}
    written = [path for path in (page / "run").rglob("*") if path.is_file()]
    assert len(written) > 2
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_server_that_fails_is_an_error_of_the_trial(page: Path) -> None:
    with FaultyServer([status(500)]) as server:
        exit_code, report = synthesis(page, COMMANDS[1], server.base_url)
    assert exit_code == 1
    assert [(trial["status"], trial["score"]) for trial in trials(report).values()] == [("error", None)] * 2
    said = {name: trial["error"] for name, trial in trials(report).items()}
    assert "shop.py:" in said["loop-function"]
    assert "500 Internal Server Error" in said["loop-function"]
    assert "exit code 1 before the reply; stderr: " in said["loop-command"]
    assert "500 Internal Server Error" in said["loop-command"]


def test_children_of_a_program(page: Path) -> None:
    exit_code, report = synthesis(page, COMMANDS[2])
    assert exit_code == 0
    assert steps(events(page, "children")) == [
        ("user", None, "What do I still owe you?"),
        ("child_start", None, "Add up 12 and 30."),
        ("assistant", 2, ""),
        ("gate_call", 2, "python"),
        ("observation", 2, "python"),
        ("child_end", 2, "completed"),
        ("assistant", None, "You still owe us 42."),
    ]
    assert [score["status"] for score in trials(report)["children"]["criteria"]] == ["passed"] * 3
