"""Programs that speak line by line of their children, and of the models they ask."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_trials import (
    command,
    jsonl,
    own_temporary_folder,  # noqa: F401 - sees to every test here
)
from subject_trials import Outcome, run, scenario, write_scenarios

from harness.spending import Usage
from harness.transcript import read_transcript

Line = dict[str, Any]


def start(child: str, parent: str | None = None, medium: str = "code") -> Line:
    begun = {"type": "child_start", "child": child, "medium": medium, "prompt": f"to {child}"}
    return begun if parent is None else {**begun, "parent": parent}


def end(child: str, **more: object) -> Line:
    return {"type": "child_end", "child": child, "reason": "completed", "terminated": True, **more}


def says(text: str, **more: object) -> Line:
    return {"type": "assistant", "text": text, **more}


def uses(gate: str, **more: object) -> list[Line]:
    return [
        {"type": "gate_call", "gate": gate, **more},
        {"type": "observation", "gate": gate, "ok": True, **more},
    ]


def attempt(**more: object) -> Line:
    return {"type": "attempt", "model": "openai:one", **more}


REPLY: Line = {"type": "reply", "text": "done"}


def program(answers: list[list[Line]]) -> str:
    """Answers each message with its lines."""
    return f"""
        for lines, _ in zip({answers!r}, sys.stdin):
            for line in lines:
                print(json.dumps(line), flush=True)
    """


def said(folder: Path, *lines: Line) -> Outcome:
    return jsonl(folder, program([[*lines, REPLY]]))


def refused(folder: Path, *lines: Line) -> str:
    """Why the last of the lines is none of the protocol; those before it are recorded."""
    outcome = said(folder, *lines)
    kind, message = outcome.error()
    assert kind == "command"
    assert [event["type"] for event in outcome.events()[2:-2]] == [line["type"] for line in lines[:-1]]
    before, quote, quoted = message.partition('): "')
    assert quote, message
    assert json.dumps(lines[-1]).startswith(quoted.rstrip('"').rstrip("…"))
    return before.removeprefix("not a line of the protocol (")


def family(outcome: Outcome) -> list[tuple[str, int, int | None]]:
    """Type, number and parent of everything after the message."""
    return [(event["type"], event["seq"], event["parent"]) for event in outcome.events()[2:-1]]


def test_children_are_grafted_where_they_belong(tmp_path: Path) -> None:
    outcome = said(
        tmp_path,
        says("I'll ask two others."),
        start("first"),
        start("second", medium="bash"),
        says("", code="print(1)", medium="code", parent="first"),
        *uses("shell", parent="second"),
        attempt(parent="first"),
        end("first", result={"sum": 1}),
        says("Now I know.", parent=None),
        end("second", reason="gave up", terminated=False),
    )
    assert family(outcome) == [
        ("assistant", 2, None),
        ("child_start", 3, None),
        ("child_start", 4, None),
        ("assistant", 5, 3),
        ("gate_call", 6, 4),
        ("observation", 7, 4),
        ("attempt", 8, 3),
        ("child_end", 9, 3),
        ("assistant", 10, None),
        ("child_end", 11, 4),
        ("assistant", 12, None),
    ]
    shared = {"v": 1, "turn": 1}
    events = outcome.events()
    assert events[3] == {
        **shared, "seq": 3, "type": "child_start", "parent": None, "medium": "code", "prompt": "to first"
    }  # fmt: skip
    assert events[9] == {
        **shared, "seq": 9, "type": "child_end", "parent": 3,
        "reason": "completed", "terminated": True, "result": {"sum": 1},
    }  # fmt: skip
    assert (events[11]["reason"], events[11]["terminated"], events[11]["result"]) == ("gave up", False, None)
    assert events[4]["medium"] == "bash"


def test_a_child_of_a_child(tmp_path: Path) -> None:
    outcome = said(
        tmp_path,
        start("outer"),
        start("inner", parent="outer"),
        start("innermost", parent="inner"),
        *uses("shell", parent="innermost"),
        end("innermost"),
        end("inner"),
        says("", parent="outer"),
        end("outer"),
    )
    assert family(outcome) == [
        ("child_start", 2, None),
        ("child_start", 3, 2),
        ("child_start", 4, 3),
        ("gate_call", 5, 4),
        ("observation", 6, 4),
        ("child_end", 7, 4),
        ("child_end", 8, 3),
        ("assistant", 9, 2),
        ("child_end", 10, 2),
        ("assistant", 11, None),
    ]


def test_a_child_may_go_on_after_the_reply(tmp_path: Path) -> None:
    answers = [[start("slow"), REPLY], [says("ready", parent="slow"), end("slow"), REPLY]]
    outcome = jsonl(tmp_path, program(answers), ["one", "two"])
    assert [(event["type"], event["turn"], event["parent"]) for event in outcome.events()[1:-1]] == [
        ("user", 1, None),
        ("child_start", 1, None),
        ("assistant", 1, None),
        ("user", 2, None),
        ("assistant", 2, 2),
        ("child_end", 2, 2),
        ("assistant", 2, None),
    ]


def test_ids_are_of_one_trial(tmp_path: Path) -> None:
    subject = command(tmp_path / "scenarios", program([[start("a"), end("a"), REPLY]]), protocol="jsonl")
    outcome = run(
        write_scenarios(tmp_path / "scenarios", scenario(subject, seeds=2)), tmp_path / "run", jobs=1
    )
    assert [outcome.end(seed=seed)["reason"] for seed in (1, 2)] == ["completed"] * 2


BAD_CHILDREN: dict[str, tuple[list[Line], str]] = {
    "said by nobody": ([says("x", parent="a")], 'parent: no child "a" was started'),
    "a gate of nobody's": ([uses("g", parent="a")[0]], 'parent: no child "a" was started'),
    "observed by nobody": ([uses("g", parent="a")[1]], 'parent: no child "a" was started'),
    "asked by nobody": ([attempt(parent="a")], 'parent: no child "a" was started'),
    "begun by nobody": ([start("b", parent="a")], 'parent: no child "a" was started'),
    "its own parent": ([start("a", parent="a")], 'parent: no child "a" was started'),
    "ended without a start": ([end("a")], 'child: no child "a" was started'),
    "another id": ([start("a"), says("x", parent="A")], 'parent: no child "A" was started'),
    "no id": ([start("a"), says("x", parent="")], 'parent: no child "" was started'),
    "ended twice": ([start("a"), end("a"), end("a")], 'child: the child "a" has ended'),
    "said after its end": (
        [start("a"), end("a"), says("x", parent="a")],
        'parent: the child "a" has ended',
    ),
    "a gate after its end": (
        [start("a"), end("a"), uses("g", parent="a")[1]],
        'parent: the child "a" has ended',
    ),
    "begun after its end": (
        [start("a"), end("a"), start("b", parent="a")],
        'parent: the child "a" has ended',
    ),
    "started twice": ([start("a"), start("a")], 'child: "a" was started before'),
    "started again after its end": ([start("a"), end("a"), start("a")], 'child: "a" was started before'),
    "ended before its child": (
        [start("a"), start("b", parent="a"), end("a")],
        'child: its own child "b" has not ended',
    ),
    "to be shortened": ([says("x", parent="a\x1b" * 99)], 'parent: no child "' + (r"a\x1b" * 12) + "…"),
}


@pytest.mark.parametrize(("lines", "why"), BAD_CHILDREN.values(), ids=BAD_CHILDREN.keys())
def test_a_child_that_cannot_be_meant(tmp_path: Path, lines: list[Line], why: str) -> None:
    assert refused(tmp_path, *lines).startswith(why)


BAD_KEYS: dict[str, tuple[Line, str]] = {
    "an id that is a number": ({**start("a"), "child": 1}, "child_start: child: Input should be a valid str"),
    "no id": ({"type": "child_end", "reason": "r", "terminated": True}, "child_end: child: Field required"),
    "no prompt": ({"type": "child_start", "child": "a", "medium": "code"}, "child_start: prompt: Field req"),
    "no medium": (
        {"type": "child_start", "child": "a", "prompt": "p"},
        "child_start: medium: Field required",
    ),
    "another medium": (start("a", medium="mime"), "child_start: medium: Input should be"),
    "a parent at the end": (end("a", parent="b"), "child_end: parent: Extra inputs"),
    "ended somehow": (end("a", terminated="yes"), "child_end: terminated: Input should be a valid bool"),
    "a reply of a child": ({**REPLY, "parent": "a"}, "reply: parent: Extra inputs"),
    "no model": ({"type": "attempt"}, "attempt: model: Field required"),
    "tokens as text": (attempt(input_tokens="3"), "attempt: input_tokens: Input should be a valid integer"),
    "tokens as truth": (attempt(output_tokens=True), "attempt: output_tokens: Input should be a valid int"),
    "tokens below nothing": (attempt(input_tokens=-1), "attempt: input_tokens: Input should be greater"),
    "tokens beyond counting": (
        attempt(input_tokens=2**53 + 1),
        "attempt: input_tokens: Input should be less",
    ),
    "status below nothing": (attempt(status=-1), "attempt: status: Input should be greater"),
    "time beyond measure": (attempt(wait_ms=1e300), "attempt: wait_ms: Input should be less"),
    "time below nothing": (attempt(latency_ms=-0.5), "attempt: latency_ms: Input should be greater"),
    "time unknown": (attempt(latency_ms=None), "attempt: latency_ms: Input should be a valid number"),
    "status as text": (attempt(status="200"), "attempt: status: Input should be a valid integer"),
    "counted from nothing": (attempt(attempt=0), "attempt: attempt: Input should be greater"),
    "unknown key": (attempt(tokens=3), "attempt: tokens: Extra inputs"),
}


@pytest.mark.parametrize(("line", "why"), BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_line_with_the_wrong_keys(tmp_path: Path, line: Line, why: str) -> None:
    assert refused(tmp_path, line).startswith(why)


def test_an_attempt_is_recorded_with_all_it_says_and_null_for_the_rest(tmp_path: Path) -> None:
    whole = attempt(
        attempt=2,
        status=200,
        request_id="req_1",
        latency_ms=12,
        input_tokens=30,
        output_tokens=4,
        finish="stop",
        error=None,
        wait_ms=1.5,
    )
    outcome = said(tmp_path, whole, attempt())
    common = ("v", "seq", "turn", "parent")
    first, second = (
        {key: value for key, value in event.items() if key not in common} for event in outcome.events()[2:4]
    )
    assert first == whole
    assert second == {**dict.fromkeys(whole), **attempt(attempt=1, latency_ms=0.0)}
    kept = read_transcript(outcome.place.transcripts / "talk-1.jsonl")
    assert [event["type"] for event in kept.events[2:4]] == ["attempt", "attempt"]


def test_attempts_are_summed_in_the_report(tmp_path: Path) -> None:
    failed = attempt(status=429, error="slow down", parent="a")
    answers = [
        [attempt(input_tokens=30, output_tokens=4), start("a"), failed],
        [attempt(attempt=2, input_tokens=100, output_tokens=20, parent="a"), end("a")],
    ]
    outcome = jsonl(tmp_path, program([[*lines, REPLY] for lines in answers]), ["one", "two"])
    (talk,) = outcome.report.scenarios
    (trial,) = talk.trials
    assert trial.usage == Usage(requests=3, input_tokens=130, output_tokens=24, cost=None)


def test_a_sum_that_json_cannot_tell_is_unknown(tmp_path: Path) -> None:
    outcome = said(tmp_path, *[attempt(input_tokens=2**53, output_tokens=1)] * 2)
    usage = Usage(requests=2, input_tokens=None, output_tokens=2, cost=None)
    assert (outcome.report.summary.usage, outcome.report.scenarios[0].usage) == (usage, usage)


def test_a_program_that_asks_no_model_has_no_usage(tmp_path: Path) -> None:
    (talk,) = said(tmp_path).report.scenarios
    assert talk.trials[0].usage is None


def test_criteria_see_what_children_did(tmp_path: Path) -> None:
    lines = [
        *uses("read_file"),
        start("a"),
        *uses("shell", parent="a"),
        says("", code="print(1)", medium="code", parent="a"),
        start("idle", medium="bash"),
        end("idle"),
        end("a"),
        REPLY,
    ]
    rubric: list[dict[str, object]] = [
        {"gate_used": "read_file", "scope": "parent"},
        {"gate_used": "shell"},
        {"gate_used": "shell", "scope": "parent"},
        {"child_medium_used": "code"},
        {"child_medium_used": "bash"},
    ]
    subject = command(tmp_path / "scenarios", program([lines]), protocol="jsonl")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, rubric=rubric))
    (talk,) = run(file, tmp_path / "run").report.scenarios
    (trial,) = talk.trials
    assert [score.status for score in trial.criteria] == ["passed", "passed", "failed", "passed", "failed"]
    assert trial.criteria[2].reason == "shell was not used; used: read_file"
    assert trial.criteria[4].reason == "no child used bash; used: code"
