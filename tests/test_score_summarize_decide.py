"""Scores, figures and exit codes: nothing invents a score, nothing rounds a threshold away."""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import Recording, answer
from scenario_files import load, scenario, write

from harness.criterion import Criterion, Verdict
from harness.decide import Thresholds, decide_run, reaches
from harness.errors import Exit
from harness.run_report import RunSummary, StopReason
from harness.score import ScoredTrial, Scoring, score_trial
from harness.secrets import Redactor
from harness.settings import CheckSettings
from harness.summarize import ScenarioScores, mean, stdev, summarize, worst
from harness.transcript import Transcript
from harness.turn_figures import figures_of


class Given(Criterion):
    """Says what it was told to say."""

    verdict: Verdict

    @property
    def label(self) -> str:
        return self.name or "given"

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        return self.verdict


def verdict(status: str, weight: float = 1, points: float | None = None) -> Given:
    said = Verdict.model_validate({"status": status, "reason": status, "points": points})
    return Given(verdict=said, weight=weight)


def score(*criteria: Criterion, transcript: Transcript | None = None) -> ScoredTrial:
    return score_trial(transcript or answer("x"), criteria, Scoring(), "transcripts/x-1.jsonl")


# A trial


def test_a_score_is_the_share_of_the_points_there_were() -> None:
    assert score(verdict("passed", 3), verdict("failed", 1)).score == 0.75
    assert score(verdict("passed", 3), verdict("failed", 1, points=0.5)).score == 0.875


def test_what_does_not_apply_leaves_both_sides() -> None:
    scored = score(verdict("passed", 1), verdict("not_applicable", 99))
    assert (scored.status, scored.score) == ("scored", 1)


def test_a_trial_where_nothing_applies_has_no_score() -> None:
    scored = score(verdict("not_applicable"))
    assert (scored.status, scored.score) == ("not_applicable", None)
    assert scored.report().score is None


def test_an_error_takes_the_whole_trial_and_says_which_criterion() -> None:
    report = score(verdict("passed"), verdict("error")).report()
    assert (report.status, report.score, report.error) == ("error", None, "given: error")
    assert [entry.score for entry in report.criteria] == [1, None]


@pytest.mark.parametrize(
    ("status", "passed"), [("passed", True), ("not_applicable", True), ("failed", False), ("error", None)]
)
def test_the_four_words_and_what_pass_means(status: str, passed: bool | None) -> None:
    scored = score(verdict(status))
    assert scored.report().criteria[0].passed is passed
    word = {True: b"true", False: b"false", None: b"null"}[passed]
    assert b'"pass":' + word in scored.encoded


@pytest.mark.parametrize("reason", ["timeout", "error", "interrupted"])
def test_a_trial_that_did_not_finish_is_not_judged(reason: str) -> None:
    recording = Recording().user("hi")
    recording.add("error", kind="boom", message="it broke")
    report = score(verdict("passed"), transcript=recording.ends(reason=reason, terminated=False)).report()
    assert (report.status, report.score, report.error) == ("error", None, "boom: it broke")
    assert report.criteria == ()


def test_a_transcript_without_end_is_an_error_too() -> None:
    report = score(verdict("passed"), transcript=Recording().user("hi").transcript()).report()
    assert (report.status, report.error) == ("error", "the transcript has no end")


def test_an_agent_stopped_by_a_ward_is_judged() -> None:
    stopped = Recording().user("hi").says("…").ends(reason="ward", terminated=False)
    scored = score(verdict("failed"), transcript=stopped)
    assert (scored.status, scored.score) == ("scored", 0)
    assert scored.report().terminated is False


def asked_by(kind: str) -> Transcript:
    """A trial with one request to a model in it."""
    recording = Recording()
    recording.events[0]["subject"] = {"type": kind}
    recording.user("hi").add(
        "attempt", model="openai:x", attempt=1, status=200, request_id=None, latency_ms=250.0, input_tokens=5,
        output_tokens=2, finish="stop", error=None, wait_ms=None,
    )  # fmt: skip
    return recording.says("hello").ends("hello")


def test_what_is_only_said_again_from_a_recording_was_not_asked_again() -> None:
    asked = score(verdict("passed"), transcript=asked_by("chat"))
    assert asked.usage is not None
    assert (asked.usage.requests, asked.usage.input_tokens, asked.model_seconds) == (1, 5, 0.25)
    again = score(verdict("passed"), transcript=asked_by("replay"))
    assert (again.usage, again.model_seconds) == (None, None)


def test_no_key_is_in_what_is_written_of_a_trial() -> None:
    key = "sk-planted-4f8a0c1b2d3e4f5a"
    scoring = Scoring(redactor=Redactor(("planted-word-1",)))
    said = Verdict.failed(f"says {key}", told="planted-word-1")
    scored = score_trial(answer("x"), [Given(verdict=said)], scoring, "transcripts/planted-word-1.jsonl")
    (entry,) = scored.report().criteria
    assert (entry.reason, entry.evidence) == ("says [key]", {"told": "[key]"})
    assert scored.report().transcript == "transcripts/planted-word-1.jsonl", "or it could not be found"
    assert key.encode() not in scored.encoded


def test_a_turn_that_two_criteria_look_at_counts_as_the_fuller_of_them_saw_it() -> None:
    def turn(number: int, **scores: float) -> dict[str, Any]:
        return {"turn": number, "scores": scores, "not_applicable": [], "issues": []}

    narrow, full = [turn(1, warmth=0.1), turn(2, warmth=0.5)], [turn(1, warmth=0.9, clarity=0.8)]
    for given_ in ([narrow, full], [full, narrow], [(), narrow, full]):
        found = figures_of(given_)
        assert found["warmth"].turns == 2
        assert found["warmth"].total == pytest.approx(1.4)
        assert found["clarity"].total == 0.8


def test_a_heavy_rubric_hides_no_lost_point() -> None:
    scored = score(verdict("passed", 1e9), verdict("failed", 1))
    assert scored.score is not None
    assert scored.score < 1


def test_a_light_criterion_keeps_its_share() -> None:
    assert score(verdict("failed", 3e-9, points=2e-9)).score == pytest.approx(2 / 3)


weights = st.floats(0.001, 1000)
statuses = st.sampled_from(["passed", "failed", "not_applicable", "error"])


@given(st.lists(st.tuples(statuses, weights, st.none() | st.floats(-10, 2000)), min_size=1, max_size=8))
def test_a_score_is_a_share_or_there_is_none(given_: list[tuple[str, float, float | None]]) -> None:
    scored = score(*(verdict(*one) for one in given_))
    kinds = {status for status, _, _ in given_}
    if "error" in kinds:
        assert (scored.status, scored.score) == ("error", None)
    elif kinds == {"not_applicable"}:
        assert (scored.status, scored.score) == ("not_applicable", None)
    else:
        assert scored.score is not None
        assert 0 <= scored.score <= 1
        report = scored.report()
        assert report.score == round(scored.score, 6)
        for entry in report.criteria:
            assert entry.score is None or 0 <= entry.score <= entry.max_score


@given(st.lists(st.tuples(st.booleans(), weights), min_size=1, max_size=8))
def test_one_is_every_point_and_zero_is_none(given_: list[tuple[bool, float]]) -> None:
    scored = score(*(verdict("passed" if good else "failed", weight) for good, weight in given_))
    assert (scored.score == 1) == all(good for good, _ in given_)
    assert (scored.score == 0) == (not any(good for good, _ in given_))


# Over all trials


def row(
    folder: Path, scores: Sequence[float | str | None], name: str = "talk", planned: int | None = None
) -> ScenarioScores:
    """A number is a score, None is not applicable, "error" is one."""
    (found,) = load(write(folder / f"{name}.json", scenario(name)))
    trials = tuple(
        ScoredTrial(seed, "error", None, b"")
        if isinstance(value, str)
        else ScoredTrial(seed, "not_applicable" if value is None else "scored", value, b"")
        for seed, value in enumerate(scores, 1)
    )
    return ScenarioScores(found, tuple(range(1, (planned or len(scores)) + 1)), trials)


def summary(rows: Sequence[ScenarioScores], stopped: StopReason | None = None) -> RunSummary:
    return summarize(rows, stopped)


def test_the_figures(tmp_path: Path) -> None:
    rows = [row(tmp_path, [1, 0.5, None], "good"), row(tmp_path, [0.25, "error"], "bad")]
    found = summary(rows)
    assert found.model_dump() == {
        "scenarios": 2,
        "trials": 5,
        "scored": 3,
        "passed": 1,
        "not_applicable": 1,
        "errors": 1,
        "not_run": 0,
        "mean": 0.583333,
        "worst": 0.25,
        "stdev": 0.381881,
        "worst_scenario": "bad",
        "worst_scenario_mean": 0.25,
        "complete": False,
        "stopped": None,
        "usage": None,
        "judge_usage": None,
        "sandbox": None,
        "dimensions": {},
        "flaky": ("good",),
    }


def test_a_run_with_trials_that_never_ran_is_incomplete(tmp_path: Path) -> None:
    found = summary([row(tmp_path, [1], planned=3)], "interrupted")
    assert (found.not_run, found.complete, found.stopped, found.mean) == (2, False, "interrupted", 1)


def test_figures_of_nothing_are_null_not_zero(tmp_path: Path) -> None:
    found = summary([row(tmp_path, [None, "error"])])
    figures = (found.mean, found.worst, found.stdev, found.worst_scenario, found.worst_scenario_mean)
    assert figures == (None,) * 5
    assert (mean([]), worst([]), stdev([]), stdev([1])) == (None,) * 4


def test_the_worst_scenario_among_equals_is_the_first_by_name(tmp_path: Path) -> None:
    rows = [row(tmp_path, [0.5], name) for name in ("b", "a", "c")]
    assert summary(rows).worst_scenario == "a"


shares = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(shares)
def test_mean_and_deviation_agree_with_the_standard_library(scores: list[float]) -> None:
    assert mean(scores) == pytest.approx(statistics.fmean(scores), abs=1e-6)
    assert stdev(scores) == pytest.approx(statistics.stdev(scores), abs=1e-6)


@given(shares)
def test_figures_do_not_depend_on_the_order_of_trials(scores: list[float]) -> None:
    shuffled = sorted(scores)
    assert (mean(scores), worst(scores), stdev(scores)) == (mean(shuffled), worst(shuffled), stdev(shuffled))


# The decision


def decide(rows: Sequence[ScenarioScores], **wanted: float) -> tuple[Exit, list[bool]]:
    thresholds = Thresholds(**wanted)  # type: ignore[arg-type]
    found = decide_run(summary(rows), rows, thresholds)
    return found.exit, [result.held for result in found.thresholds]


def test_thresholds_hold_or_fail_each_by_its_own_figure(tmp_path: Path) -> None:
    rows = [row(tmp_path, [1, 1, 1], "good"), row(tmp_path, [1, 0.4], "bad")]
    assert decide(rows) == (Exit.HOLDS, [])
    assert decide(rows, min_mean=0.88, min_worst=0.4, min_scenario_mean=0.7) == (Exit.HOLDS, [True] * 3)
    assert decide(rows, min_mean=0.89) == (Exit.THRESHOLD, [False])
    assert decide(rows, min_worst=0.41) == (Exit.THRESHOLD, [False])
    assert decide(rows, min_scenario_mean=0.71) == (Exit.THRESHOLD, [False])
    assert decide(rows, min_mean=0, min_worst=1) == (Exit.THRESHOLD, [True, False])


def test_who_is_to_blame_worst_first(tmp_path: Path) -> None:
    rows = [row(tmp_path, [1, 0.2], "b"), row(tmp_path, [0.5, 0.5], "a"), row(tmp_path, [1, 0.9], "c")]
    wanted = Thresholds(min_mean=0.9, min_worst=0.6, min_scenario_mean=0.55)
    by_mean, by_worst, by_scenario = decide_run(summary(rows), rows, wanted).thresholds
    assert by_mean.blame == ("a", "b")
    assert by_worst.blame == ("b", "a")
    assert by_scenario.blame == ("a",)
    assert (by_worst.name, by_worst.required, by_worst.actual) == ("--min-worst", 0.6, 0.2)


@pytest.mark.parametrize("count", range(1, 40))
def test_what_is_exactly_at_a_threshold_holds(tmp_path: Path, count: int) -> None:
    scores = [good / count for good in range(count + 1)]
    rows = [row(tmp_path, scores)]
    exact = statistics.fmean(scores)
    wanted = {"min_mean": exact, "min_scenario_mean": exact, "min_worst": 0}
    assert decide(rows, **wanted) == (Exit.HOLDS, [True] * 3)
    assert decide([row(tmp_path, [scores[1]])], min_worst=1 / count, min_mean=1 / count)[0] == Exit.HOLDS


def test_a_shortfall_of_one_in_the_last_shown_place_fails() -> None:
    assert reaches(0.85, 0.85)
    assert not reaches(0.849999, 0.85)


@given(shares, st.floats(0, 1))
def test_rounding_never_fails_what_holds_and_never_hides_a_shortfall(
    scores: list[float], required: float
) -> None:
    exact, shown = math.fsum(scores) / len(scores), mean(scores)
    assert shown is not None
    if exact >= required:
        assert reaches(shown, required)
    if exact < required - 2e-6:
        assert not reaches(shown, required)


def test_errors_outrank_thresholds_unless_they_were_allowed(tmp_path: Path) -> None:
    rows = [row(tmp_path, [0.5, "error"])]
    assert decide(rows)[0] == Exit.FATAL
    assert decide(rows, min_mean=0.9)[0] == Exit.FATAL
    assert decide(rows, max_errors=1)[0] == Exit.HOLDS
    assert decide(rows, max_errors=1, min_mean=0.9)[0] == Exit.THRESHOLD
    assert decide([row(tmp_path, [1, "error", "error"])], max_errors=1)[0] == Exit.FATAL


def test_a_run_that_was_cut_short_is_fatal_whatever_is_allowed(tmp_path: Path) -> None:
    assert decide([row(tmp_path, [1], planned=2)], max_errors=9)[0] == Exit.FATAL


@pytest.mark.parametrize("scores", [[None], ["error"], [None, "error"]])
def test_a_suite_with_nothing_scored_is_fatal(tmp_path: Path, scores: list[float | str | None]) -> None:
    assert decide([row(tmp_path, scores)], max_errors=9)[0] == Exit.FATAL
    assert decide([row(tmp_path, scores)], max_errors=9, min_mean=0) == (Exit.FATAL, [False])
