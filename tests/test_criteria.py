"""Every criterion by hand: both verdicts, what it looks at, and what it must not look at."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from recorded import Recording, answer, exchange

from harness.criterion import Criterion, Verdict
from harness.errors import Place, Problems, SynthesisError
from harness.records import Hit
from harness.rubric import RubricReader, criterion_type
from harness.run_report import CriterionScore, TrialReport
from harness.score import Scoring, score_trial
from harness.transcript import Json, Transcript

PROMISE = "You'll be fine."
HONEST = "I can't know how it will go."


def criterion(definition: dict[str, Any]) -> Criterion:
    problems: list[SynthesisError] = []
    found = tuple(RubricReader(Path(), trusted=True, problems=problems).read([definition], Place("test")))
    if problems:
        raise Problems(problems)
    return found[0]


def trial(transcript: Transcript, *definitions: dict[str, Any]) -> TrialReport:
    criteria = [criterion(definition) for definition in definitions]
    return score_trial(transcript, criteria, Scoring(), "t.jsonl").report()


def judge(transcript: Transcript, **definition: Any) -> CriterionScore:
    (score,) = trial(transcript, definition).criteria
    return score


def status(transcript: Transcript, **definition: Any) -> str:
    return judge(transcript, **definition).status


# contains


def test_contains_looks_at_the_final_result_alone() -> None:
    said = exchange(("hi", "alpha"), ("and?", "beta"))
    assert status(said, contains="beta") == "passed"
    assert status(said, contains="alpha") == "failed"
    assert status(said, contains="Beta") == "failed"
    assert status(said, contains="Beta", ignore_case=True) == "passed"
    assert status(answer("STRASSE"), contains="straße", ignore_case=True) == "passed"


@pytest.mark.parametrize("result", [None, 5, ["hello"], {"hello": "hello"}])
def test_a_result_that_is_no_text_contains_and_matches_nothing(result: Json) -> None:
    assert status(answer(result), contains="") == "failed"
    assert status(answer(result), matches="") == "failed"


# expected_result


@pytest.mark.parametrize(
    ("result", "expected", "same"),
    [
        ("alpha", "alpha", True),
        ("alpha", "alpha\n", False),
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ([1], [True], False),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 0}, {"a": False}, False),
        ([1, 2], [2, 1], False),
        (None, None, True),
        ("", None, False),
    ],
)
def test_expected_result_is_equality_of_json(result: Json, expected: Json, same: bool) -> None:
    assert status(answer(result), expected_result=expected) == ("passed" if same else "failed")


# matches


def test_matches_searches_unless_anchored() -> None:
    assert status(answer("seed 7: alpha"), matches=r"seed \d+") == "passed"
    assert status(answer("a seed 7"), matches=r"^seed") == "failed"
    assert status(answer("SEED"), matches="(?i)seed") == "passed"


def test_matches_stays_quick_on_what_makes_other_engines_hang() -> None:
    assert status(answer("a" * 50_000 + "!"), matches="^(a+)+$") == "failed"


# terminated


@pytest.mark.parametrize(("ended", "wanted"), [(True, True), (False, False), (True, False), (False, True)])
def test_terminated_compares_how_it_ended_with_what_was_asked(ended: bool, wanted: bool) -> None:
    found = status(answer("x", terminated=ended), terminated=wanted)
    assert found == ("passed" if ended is wanted else "failed")


# gates, children, code


def agent() -> Transcript:
    recording = Recording().user("read it").says("", code="read()", medium="code").uses("read_file")
    recording.uses("search", answered=False)
    child = recording.child("bash")
    recording.says("", code="rm -rf /tmp/x", medium="bash", parent=child).uses("shell", parent=child)
    return recording.says("never rm -rf anything").ends("done")


def test_gate_used_counts_observations_not_requests() -> None:
    assert status(agent(), gate_used="read_file") == "passed"
    missing = judge(agent(), gate_used="search")
    assert missing.status == "failed"
    assert missing.reason == "search was not used; used: read_file, shell"


def test_gate_used_in_a_child_counts_unless_the_scope_is_parent() -> None:
    assert status(agent(), gate_used="shell") == "passed"
    assert status(agent(), gate_used="shell", scope="any") == "passed"
    assert status(agent(), gate_used="shell", scope="parent") == "failed"
    assert status(agent(), gate_used="read_file", scope="parent") == "passed"


def test_forbidden_code_is_looked_for_in_code_only_and_by_scope() -> None:
    assert status(agent(), forbid_code_contains="rm -rf") == "failed"
    assert status(agent(), forbid_code_contains="rm -rf", scope="parent") == "passed"
    assert status(agent(), forbid_code_contains="never") == "passed"
    assert status(agent(), forbid_code_contains="read(", scope="parent") == "failed"


def test_child_medium_used_needs_a_turn_of_a_child_in_it() -> None:
    assert status(agent(), child_medium_used="bash") == "passed"
    other = judge(agent(), child_medium_used="code")
    assert (other.status, other.reason) == ("failed", "no child used code; used: bash")
    idle = Recording().user("x")
    child = idle.child("code")
    idle.add("child_start", child, medium="bash", prompt="never answered")
    assert status(idle.says("done").ends("done"), child_medium_used="bash") == "failed"


# score


def scored(function: Callable[..., object], max_score: float = 4) -> CriterionScore:
    return judge(answer("hello", seed=7), name="mine", score=function, max_score=max_score)


@pytest.mark.parametrize(
    ("given", "expected", "points"),
    [
        (True, "passed", 4),
        (False, "failed", 0),
        (4, "passed", 4),
        (3, "failed", 3),
        (2.5, "failed", 2.5),
        (0, "failed", 0),
        (-3, "failed", 0),
        (99, "passed", 4),
        (math.inf, "passed", 4),
        (Verdict.passed("good"), "passed", 4),
        (Verdict.failed("bad"), "failed", 0),
        (Verdict(status="failed", reason="half", points=2), "failed", 2),
        (Verdict(status="passed", reason="too much", points=9), "passed", 4),
        (Verdict(status="failed", reason="too little", points=-9), "failed", 0),
        (Verdict.not_applicable("nothing to see"), "not_applicable", None),
        (Verdict.error("no way to tell"), "error", None),
    ],
)
def test_what_a_function_may_return(given: object, expected: str, points: float | None) -> None:
    found = scored(lambda _: given)
    assert (found.status, found.score, found.max_score) == (expected, points, 4)


@pytest.mark.parametrize("given", [None, "5", [1], math.nan, object()])
def test_anything_else_a_function_returns_is_an_error_that_names_the_criterion(given: object) -> None:
    report = trial(answer("x"), {"name": "mine", "score": lambda _: given}, {"contains": "x"})
    assert (report.status, report.score) == ("error", None)
    assert report.error == (
        f"mine: the function returned a value of type {type(given).__name__}, not a bool, number or Verdict"
    )


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def bad_verdict(_: Transcript) -> Verdict:
    return Verdict(status="failed", reason="x", points=math.nan)


def raising(error: BaseException) -> Callable[[Transcript], bool]:
    def function(_: Transcript) -> bool:
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raising(ValueError("boom: again")), "raised ValueError: boom: again"),
        (raising(ValueError("lone \ud800")), "raised ValueError: lone \\ud800"),
        (raising(SystemExit(0)), "raised SystemExit: 0"),
        (raising(UnreadableError()), "raised UnreadableError: "),
        (lambda _: Verdict.passed("x", thing=object()), "raised PydanticSerializationError: "),
        (lambda _: Verdict.passed("x", thing="\ud800"), "raised PydanticSerializationError: "),
        (lambda _: Verdict.passed("lone \ud800"), "raised PydanticSerializationError: "),
        (bad_verdict, "raised ValidationError: "),
        (lambda _a, _b, _c: True, "raised TypeError: "),
    ],
)
def test_a_function_that_fails_is_an_error_and_never_a_score(
    function: Callable[..., object], said: str
) -> None:
    found = scored(function)
    assert (found.status, found.passed, found.score) == ("error", None, None)
    assert found.reason.startswith(said)


def test_a_function_takes_the_run_or_the_run_and_the_seed() -> None:
    assert scored(lambda run: run.result == "hello" and run.seed == 7).status == "passed"
    assert scored(lambda run, seed: run.result == "hello" and seed == 7).status == "passed"
    assert scored(lambda run, *, strict=True: strict is True).status == "passed"
    assert scored(lambda run, word="hello": run.result == word).status == "passed"
    assert scored(lambda run, word="hello", seed=0: (word, seed) == ("hello", 7)).status == "passed"
    assert scored(lambda run, *, seed: seed == 7).status == "passed"
    assert scored(lambda run, other, word="hello": (other, word) == (7, "hello")).status == "passed"
    assert scored(lambda run, seed, /: seed == 7).status == "passed"
    assert scored(lambda *everything: len(everything) == 1).status == "passed"


async def waiting(run: Transcript) -> bool:
    return run.finished


class Waiting:
    async def __call__(self, run: Transcript) -> bool:
        return run.finished


@pytest.mark.parametrize("function", [waiting, Waiting()])
def test_an_async_function_is_refused_when_it_is_loaded(function: object) -> None:
    with pytest.raises(ValidationError, match="is async: a score is worked out without waiting"):
        criterion_type("score").model_validate({"score": function})


# checkers


def test_a_checker_as_true_and_false() -> None:
    assert status(exchange(("hi", HONEST)), unverifiable_reassurance=True) == "passed"
    assert status(exchange(("hi", PROMISE)), unverifiable_reassurance=True) == "failed"
    assert status(exchange(("hi", HONEST)), unverifiable_reassurance=False) == "failed"
    found = judge(exchange(("hi", PROMISE)), unverifiable_reassurance=False)
    assert (found.status, found.name) == ("passed", "not unverifiable_reassurance")


def test_a_checker_s_evidence_points_into_the_reply() -> None:
    found = judge(exchange(("hi", f"Well. {PROMISE}")), unverifiable_reassurance=True)
    (hit,) = found.hits
    assert isinstance(hit, Hit)
    assert f"Well. {PROMISE}"[hit.start : hit.end] == hit.text
    assert hit.text in found.reason
    assert found.evidence["turn"] == 1


THREE = exchange(("a", HONEST), ("b", PROMISE), ("c", HONEST))


@pytest.mark.parametrize(
    ("options", "expected", "points"),
    [
        ({}, "failed", 0),
        ({"turns": "every"}, "failed", 0),
        ({"turns": "last"}, "passed", 3),
        ({"turns": 1}, "passed", 3),
        ({"turns": 2}, "failed", 0),
        ({"turns": 2, "expect": False}, "passed", 3),
        ({"turns": 4}, "failed", 0),
        ({"combine": "all"}, "failed", 0),
        ({"combine": "any"}, "passed", 3),
        ({"combine": "any", "expect": False}, "passed", 3),
        ({"combine": "all", "expect": False}, "failed", 0),
        ({"combine": "mean"}, "failed", 2),
        ({"combine": "mean", "expect": False}, "failed", 1),
        ({"combine": "mean", "turns": "last"}, "passed", 3),
        ({"language": "en"}, "failed", 0),
    ],
)
def test_a_checker_with_options(options: dict[str, Any], expected: str, points: float) -> None:
    found = judge(THREE, unverifiable_reassurance=options, weight=3)
    assert found.status == expected
    assert found.score == pytest.approx(points)


def test_the_turn_that_decided_is_the_one_that_is_told() -> None:
    assert judge(THREE, unverifiable_reassurance=True).evidence["turn"] == 2
    assert judge(THREE, unverifiable_reassurance=True).reason.startswith("turn 2: ")
    assert judge(THREE, unverifiable_reassurance={"combine": "any"}).evidence["turn"] == 1
    assert judge(THREE, unverifiable_reassurance={"turns": 4}).reason == "there is no turn 4"


def test_not_applicable_stays_not_applicable_whatever_was_asked() -> None:
    nothing_disclosed = exchange(("What is the capital of France?", "Paris."))
    for wanted in (True, False, {"combine": "mean"}, {"turns": "last", "expect": False}):
        found = judge(nothing_disclosed, topic_pivot=wanted)
        assert (found.status, found.passed, found.score) == ("not_applicable", True, None)


def test_turns_a_check_does_not_apply_to_are_left_out() -> None:
    mixed = exchange(
        ("What is the capital of France?", "Paris."),
        (
            "My mother died last week and I cannot sleep.",
            "I'm sorry about your mother. What is the nights like?",
        ),
    )
    alone = exchange(
        (
            "My mother died last week and I cannot sleep.",
            "I'm sorry about your mother. What is the nights like?",
        )
    )
    for wanted in (True, False, {"combine": "mean"}):
        assert status(mixed, topic_pivot=wanted) == status(alone, topic_pivot=wanted) != "not_applicable"


def test_several_replies_to_one_message_are_one_turn_and_children_are_not_heard() -> None:
    recording = Recording().user("hi").says(HONEST)
    child = recording.child()
    recording.says(PROMISE, parent=child)
    kept = recording.says("Tell me more.").ends("Tell me more.")
    assert [turn.assistant for turn in kept.turns] == [f"{HONEST}\n\nTell me more."]
    assert status(kept, unverifiable_reassurance=True) == "passed"


# names and definitions


@pytest.mark.parametrize(
    ("definition", "label"),
    [
        ({"contains": "alpha"}, "contains: alpha"),
        ({"name": "reads", "contains": "alpha"}, "reads"),
        ({"topic_pivot": True}, "topic_pivot"),
        ({"topic_pivot": {"turns": "last"}, "weight": 2}, "topic_pivot"),
        ({"topic_pivot": False}, "not topic_pivot"),
        ({"expected_result": None, "max_score": 2}, "expected_result: None"),
    ],
)
def test_reports_keep_a_criterion_as_it_was_written(definition: dict[str, Any], label: str) -> None:
    found = criterion(definition)
    assert found.label == label
    assert found.definition() == definition
    assert criterion(found.definition()).definition() == definition


def test_a_report_keeps_a_function_s_name() -> None:
    found = criterion({"score": bad_verdict, "max_score": 3})
    assert found.definition() == {"score": "bad_verdict", "max_score": 3}
    assert found.label == "score: bad_verdict"
