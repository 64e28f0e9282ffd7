"""Functions as gates of an agent: what they are called with, and what comes of what they return or raise."""

from pathlib import Path
from typing import Any

import pytest
from agents import agent, call, done, evaluated, of_type, python_file, results, turn
from scenario_files import one_problem, synthesis, write
from subject_trials import Outcome, scenario

from harness.function_gate import function_gate, gate_name
from harness.gate import description, gate_fields, gate_schema
from harness.load import load_scenarios


def performed(folder: Path, functions: str, *calls: dict[str, Any], gates: str, **more: Any) -> Outcome:
    """What came of one turn in which an agent calls its own gates."""
    subject = agent(turn(*calls), done("end"), **more)
    return evaluated(python_file(folder, functions, f"{subject} | {{'gates': [{gates}]}}"), folder / "run")


SYNC = '''
def add(first: int, second: int = 2) -> int:
    """Add two numbers."""
    return first + second
'''


def test_a_function_is_called_with_the_agents_arguments(tmp_path: Path) -> None:
    calls = [call("add", first=1), call("add", first=1, second=10), call("add", first="3")]
    outcome = performed(tmp_path, SYNC, *calls, gates="add")
    assert results(outcome, "add") == [(True, 3), (True, 11), (True, 5)]
    assert outcome.end()["result"] == "end"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "add: first: Field required"),
        ({"first": "one"}, "add: first: Input should be a valid integer"),
        ({"first": 1, "third": 3}, "add: third: Extra inputs are not permitted"),
        ({"first": 1, "context": {}}, "add: context: Extra inputs are not permitted"),
    ],
    ids=str,
)
def test_bad_arguments_are_told_to_the_agent(arguments: dict[str, Any], why: str, tmp_path: Path) -> None:
    outcome = performed(tmp_path, SYNC, call("add", **arguments), gates="add")
    ((ok, said),) = results(outcome, "add")
    assert not ok
    assert said.startswith(why)
    assert outcome.end()["terminated"]


def test_an_async_function_a_partial_one_and_an_object_are_gates_too(tmp_path: Path) -> None:
    functions = """
import asyncio
from functools import partial

async def slow(word: str):
    await asyncio.sleep(0)
    return word * 2

class Counter:
    count = 0
    def __call__(self, by: int):
        self.count += by
        return self.count
    async def twice(self, word: str):
        return [word, word]

async def join(left: str, right: str):
    return left + right

def later(word: str):
    return slow(word)
"""
    calls = [
        call("slow", word="ab"), call("Counter", by=1), call("Counter", by=2), call("twice", word="a"),
        call("join", right="r"), call("later", word="x"),
    ]  # fmt: skip
    gates = "slow, Counter(), Counter().twice, partial(join, 'l'), later"
    outcome = performed(tmp_path, functions, *calls, gates=gates)
    given = [(event["gate"], event["result"]) for event in of_type(outcome, "observation")]
    assert given == [
        ("slow", "abab"), ("Counter", 1), ("Counter", 3), ("twice", ["a", "a"]), ("join", "lr"),
        ("later", "xx"), ("done", "end"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_parameter_named_context_gets_the_trials_context(kind: str, tmp_path: Path) -> None:
    functions = f"""
{kind} leave(context, name: str):
    (context.workspace / name).write_text(context.scenario)
    return [context.seed, [message["content"] for message in context.messages]]
"""
    outcome = performed(tmp_path, functions, call("leave", name="left.txt"), gates="leave")
    assert results(outcome, "leave") == [(True, [1, ["hello"]])]
    assert (outcome.workspace() / "left.txt").read_text() == "talk"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_gate_error_is_told_to_the_agent(kind: str, tmp_path: Path) -> None:
    functions = (
        f"from harness.gate import GateError\n{kind} no():\n    raise GateError('no: never\\nat all')\n"
    )
    outcome = performed(tmp_path, functions, call("no"), gates="no")
    assert results(outcome, "no") == [(False, "no: never\nat all")]
    assert outcome.end()["terminated"]


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(
    ("line", "error", "words"),
    [
        ("raise KeyError('x')", "KeyError", "'x'"),
        ("raise TimeoutError('late')", "TimeoutError", "late"),
        ("import sys; sys.exit(3)", "SystemExit", "3"),
    ],
)
def test_any_other_exception_is_the_trials_error(
    kind: str, line: str, error: str, words: str, tmp_path: Path
) -> None:
    outcome = performed(tmp_path, f"{kind} fail():\n    {line}\n", call("fail"), gates="fail")
    assert outcome.error() == (error, f"fail, talks.py:2: {words}")
    assert results(outcome, "fail") == []


def test_a_failing_gate_of_a_child_is_the_trials_error(tmp_path: Path) -> None:
    child = {"replies": [turn(call("fail"))]}
    outcome = performed(
        tmp_path,
        "def fail():\n    raise ValueError('no')\n",
        call("cast", prompt="Try."),
        gates="'cast', fail",
        children=[child],
    )  # fmt: skip
    assert outcome.error() == ("ValueError", "fail, talks.py:2: no")
    assert [event["reason"] for event in of_type(outcome, "child_end")] == ["error"]


@pytest.mark.parametrize(
    ("value", "medium"),
    [
        *(
            (value, "conversation")
            for value in ("{1}", "float('nan')", "b'x'", "{1: 2}", "'\\ud800'", "Path('x')")
        ),
        *(("date(2020, 1, 1)", medium) for medium in ("conversation", "code", "bash")),
    ],
)
def test_what_is_not_json_is_the_trials_error_in_every_medium(
    value: str, medium: str, tmp_path: Path
) -> None:
    functions = f"from datetime import date\nfrom pathlib import Path\ndef give():\n    return {value}\n"
    said = {"conversation": turn(call("give")), "code": {"code": "give()"}, "bash": {"code": "give"}}[medium]
    subject = agent(said, done("end"), medium=medium)
    file = python_file(tmp_path, functions, f"{subject} | {{'gates': [give]}}")
    assert evaluated(file, tmp_path / "run").error()[0] == "json"


@pytest.mark.parametrize("medium", ["code", "bash"])
def test_functions_are_gates_in_code_and_in_commands(medium: str, tmp_path: Path) -> None:
    code = {"code": "print(add(1), add(first=2, second=3))", "bash": "add 1; add --second 3 2"}[medium]
    subject = agent({"code": code}, {"code": {"code": "done(0)", "bash": "done 0"}[medium]}, medium=medium)
    outcome = evaluated(python_file(tmp_path, SYNC, f"{subject} | {{'gates': [add]}}"), tmp_path / "run")
    assert results(outcome, "add") == [(True, 3), (True, 5)]
    printed = str(results(outcome, "run" if medium == "bash" else "code")[0][1]["output"])
    assert printed.split() == ["3", "5"]
    assert outcome.end()["terminated"]


def test_a_function_that_hangs_holds_up_neither_its_trial_nor_the_run(tmp_path: Path) -> None:
    functions = "import time\ndef hang():\n    time.sleep(300)\n"
    subject = agent(turn(call("hang")), done(1), wards={"max_seconds": 0.2})
    file = python_file(tmp_path, functions, f"{subject} | {{'gates': [hang]}}")
    assert synthesis("eval", file, "--out", "run", cwd=tmp_path).returncode == 0
    assert b'"ward":"max_seconds"' in (tmp_path / "run" / "transcripts" / "talk-1.jsonl").read_bytes()


def test_a_function_that_is_cancelled_can_tidy_up_before_the_trial_ends(tmp_path: Path) -> None:
    functions = """
import asyncio
async def hang(context):
    try:
        await asyncio.sleep(300)
    finally:
        await asyncio.sleep(0.2)
        context.recorder.observation("tidied", ok=True, result=None)
"""
    subject = agent(turn(call("hang")), done(1), wards={"max_seconds": 0.2})
    outcome = evaluated(
        python_file(tmp_path, functions, f"{subject} | {{'gates': [hang]}}"), tmp_path / "run"
    )
    assert outcome.end()["ward"] == "max_seconds"
    assert results(outcome, "tidied") == [(True, None)]


def test_a_function_is_offered_with_its_parameters_and_its_docstring() -> None:
    def find(title: str, context: object, most: int = 3) -> list[str]:
        """Find books by title.

        The rest is for people.
        """
        return [title] * most

    kind = function_gate(find)
    assert (gate_name(find), gate_fields(kind), description(kind)) == (
        "find", ("title", "most"), "Find books by title.",
    )  # fmt: skip
    assert gate_schema(kind) == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "most": {"type": "integer", "default": 3}},
        "required": ["title"],
        "additionalProperties": False,
    }


def test_annotations_may_be_text(tmp_path: Path) -> None:
    functions = (
        "from __future__ import annotations\nfrom enum import Enum\n"
        "class Size(Enum):\n    SMALL = 'small'\n"
        "def order(size: Size) -> str:\n    return size.name\n"
    )
    outcome = performed(tmp_path, functions, call("order", size="small"), gates="order")
    assert results(outcome, "order") == [(True, "SMALL")]


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("read_file", '"read_file" is the name of a gate that is there already'),
        ("done", '"done" is the name of a gate that is there already'),
        ("own, other()", "a gate is listed twice in ['own', 'own']"),
        ("lambda x: x", '"<lambda>" is no name for a gate'),
        ("größe", '"größe" is no name for a gate'),
        ("many", '"*values" cannot be given by its name'),
        ("more", '"**values" cannot be given by its name'),
        ("len", "cannot be given by its name"),
        ("hidden", 'an argument cannot be called "_x"'),
        ("shadow", 'an argument cannot be called "call"'),
        ("strange", "strange: an argument of this type cannot be given"),
        ("unknown", "unknown: an argument of this type cannot be given"),
        ("5", "/gates/0"),
        ("'nothing'", 'there is no gate "nothing"'),
    ],
)
def test_a_function_that_cannot_be_a_gate_is_refused_before_anything_runs(
    gate: str, said: str, tmp_path: Path
) -> None:
    functions = """
def own(): pass
def other():
    def own(): pass
    return own
def read_file(path: str): pass
def done(): pass
def größe(): pass
def many(*values): pass
def more(**values): pass
def hidden(_x): pass
def shadow(call): pass
class Strange: pass
def strange(x: Strange): pass
def unknown(x: "Nothing"): pass
"""
    file = python_file(tmp_path, functions, f"{agent(done(1))} | {{'gates': [{gate}]}}")
    assert said in one_problem(file)


def test_a_file_of_data_cannot_name_a_function(tmp_path: Path) -> None:
    file = write(tmp_path / "talks.json", scenario(agent(done(1), gates=["os:getcwd"])))
    assert 'there is no gate "os:getcwd"' in one_problem(file)
    file = write(tmp_path / "talks.json", scenario(agent(done(1), gates=[{"function": "f"}])))
    assert "/subject/gates/0" in one_problem(file)


def test_an_edited_gate_is_another_agent(tmp_path: Path) -> None:
    prints = set()
    for body in ("return 1", "return 1", "return 2"):
        functions = f"def give():\n    {body}\n"
        file = python_file(tmp_path, functions, f"{agent(done(1))} | {{'gates': ['read_file', give]}}")
        (loaded,) = load_scenarios([file])
        identity = loaded.identity_of(loaded.subject_for(1))
        assert identity["gates"][0] == "read_file"
        assert identity["gates"][1].keys() == {"gate", "sha256"}
        prints.add(loaded.fingerprint(1, identity))
    assert len(prints) == 2
