"""`--confidence` and `--stop decided` on the real command: pass, fail or inconclusive, and what was saved."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scenario_files import report_of, synthesis, write
from scored_rows import Suite
from scored_runs import scored

from harness import schema
from harness.decide import Thresholds, decide_run
from harness.errors import Exit
from harness.intervals import mean_interval
from harness.renderers.threshold_lines import threshold_lines
from harness.run_report import RunReport, ThresholdResult
from harness.summarize import summarize

HERE = Path()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def decided(outcomes: list[list[float]], **wanted: Any) -> tuple[Exit, tuple[ThresholdResult, ...]]:
    rows = Suite(outcomes).all_rows()
    found = decide_run(summarize(rows, None), rows, Thresholds(**wanted))
    return found.exit, found.thresholds


SPREAD = [[0.7 + 0.02 * (i % 6), 0.8] for i in range(20)]


@pytest.mark.parametrize(
    ("line", "code"), [(0.5, Exit.HOLDS), (0.775, Exit.INCONCLUSIVE), (0.9, Exit.THRESHOLD)]
)
def test_a_mean_is_above_below_or_too_near_the_line(line: float, code: Exit) -> None:
    found, (result,) = decided(SPREAD, min_mean=line, confidence=0.95)
    assert found == code
    assert (result.held, result.inconclusive) == (code == Exit.HOLDS, code == Exit.INCONCLUSIVE)
    assert result.certainty is not None
    assert result.certainty.low < 0.775 < result.certainty.high
    assert bool(result.blame) == (code == Exit.THRESHOLD)


def test_a_failure_outranks_what_is_open() -> None:
    code, _ = decided(SPREAD, min_mean=0.775, min_worst=0.9, confidence=0.95)
    assert code == Exit.THRESHOLD


def test_the_lowest_scenario_is_known_by_its_own_trials() -> None:
    steady = [[0.9 + 0.01 * (i % 3) for i in range(12)] for _ in range(5)]
    shaky = [*steady, [0.5, 1.0] * 6]
    low = [*steady, [0.1 + 0.01 * (i % 3) for i in range(12)]]
    assert decided(steady, min_scenario_mean=0.8, confidence=0.95)[0] == Exit.HOLDS
    assert decided(shaky, min_scenario_mean=0.8, confidence=0.95)[0] == Exit.INCONCLUSIVE
    code, (result,) = decided(low, min_scenario_mean=0.8, confidence=0.95)
    assert (code, result.blame) == (Exit.THRESHOLD, ("s5",))
    assert decided([[1.0]] * 30, min_scenario_mean=0.5, confidence=0.95)[0] == Exit.INCONCLUSIVE


def test_one_scenario_in_many_is_not_below_by_chance_alone() -> None:
    """At the level of a single scenario it would be; corrected for forty, it may be luck."""
    trials = [0.0] * 5 + [1.0] * 3
    line = 0.89
    assert decided([trials], min_scenario_mean=line, confidence=0.9)[0] == Exit.THRESHOLD
    many = [trials, *[[1.0, 0.8] * 4] * 39]
    assert decided(many, min_scenario_mean=line, confidence=0.9)[0] == Exit.INCONCLUSIVE


def test_the_worst_is_a_fact_with_a_bound_on_what_was_not_seen() -> None:
    code, (result,) = decided([[1.0, 0.6]] * 20, min_worst=0.5, confidence=0.95)
    assert code == Exit.HOLDS
    assert result.certainty is not None
    assert result.certainty.low == 0
    assert result.certainty.high == pytest.approx(0.168433)
    assert decided([[1.0, 0.4]] * 20, min_worst=0.5, confidence=0.95)[0] == Exit.THRESHOLD


@pytest.mark.parametrize(
    ("outcomes", "advice"),
    [
        ([[0.0, 1.0, 0.0, 1.0]] * 12, "more seeds would narrow it"),
        ([[0.1 * (i % 10)] * 4 for i in range(12)], "more scenarios would narrow it"),
        ([[0.1 * (i % 10)] for i in range(12)], "run more than one seed to learn"),
    ],
)
def test_what_would_help_is_said(outcomes: list[list[float]], advice: str) -> None:
    (result,) = decided(outcomes, min_mean=0.5, confidence=0.95)[1]
    assert result.certainty is not None
    assert advice in result.certainty.advice


def test_every_trial_counts_once_however_they_are_spread_over_scenarios() -> None:
    outcomes = [[0.9, 0.8, 1.0, 0.9], [0.2], [0.5, 0.7], [0.6]] * 4
    (result,) = decided(outcomes, min_mean=0.5, confidence=0.95)[1]
    means = [sum(row) / len(row) for row in outcomes]
    wanted = mean_interval(means, weights=[len(row) for row in outcomes])
    assert result.certainty is not None
    assert (result.certainty.low, result.certainty.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    assert result.actual == pytest.approx(wanted.estimate, abs=1e-6)


def suite(scenarios: int = 12, seeds: int = 4) -> None:
    scores = [[(0.5, 1.0, 0.75, 1.0)[(i + j) % 4] for j in range(seeds)] for i in range(scenarios)]
    write(Path("s.json"), *(scored(f"s{i}", row) for i, row in enumerate(scores)))


def test_inconclusive_is_exit_code_three_with_all_there_is_to_know() -> None:
    write(Path("s.json"), *(scored(f"s{i}", [0.25 * (i % 5), 0.75]) for i in range(12)))
    done = synthesis("eval", "s.json", "--min-mean", "0.65", "--confidence", "0.95", "--out", "r", cwd=HERE)
    assert done.returncode == 3, done.stdout
    assert "min mean 0.65 INCONCLUSIVE: 0.5938" in done.stdout
    assert "95 % interval 0." in done.stdout
    assert "below the line would be found 4 times in 5" in done.stdout
    assert "would narrow it" in done.stdout
    report = report_of(Path("r"))
    Draft202012Validator(json.loads(schema.text("run_report"))).validate(report)
    RunReport.model_validate(report)
    assert report["exit_code"] == 3
    done = synthesis("score", "r", "--min-mean", "0.65", "--confidence", "0.95", cwd=HERE)
    assert done.returncode == 3
    assert synthesis("score", "r", "--min-mean", "0.2", "--confidence", "0.95", cwd=HERE).returncode == 0


@pytest.mark.parametrize("jobs", ["1", "8"])
def test_a_decided_run_starts_no_more_trials_and_is_complete(jobs: str) -> None:
    suite()
    done = synthesis(
        "eval", "s.json", "--min-mean", "0.3", "--stop", "decided", "--jobs", jobs, "--out", "r", cwd=HERE
    )
    assert done.returncode == 0, done.stdout
    report = report_of(Path("r"))
    summary = report["summary"]
    ran = len(list(Path("r/transcripts").iterdir()))
    assert (summary["stopped"], summary["complete"], summary["not_run"]) == ("decided", True, 48 - ran)
    assert 15 <= ran < 30
    assert f"decided early: {48 - ran} of 48 trials were not needed" in done.stdout
    Draft202012Validator(json.loads(schema.text("run_report"))).validate(report)


def test_a_decided_run_can_still_be_finished() -> None:
    suite()
    options = ("s.json", "--min-mean", "0.3", "--stop", "decided")
    assert synthesis("eval", *options, "--out", "r", cwd=HERE).returncode == 0
    before = len(list(Path("r/transcripts").iterdir()))
    assert synthesis("eval", *options, "--resume", "r", cwd=HERE).returncode == 0
    assert len(list(Path("r/transcripts").iterdir())) == before, "it is still decided"
    assert synthesis("eval", "s.json", "--min-mean", "0.3", "--resume", "r", cwd=HERE).returncode == 0
    assert report_of(Path("r"))["summary"]["not_run"] == 0


def test_a_run_that_fails_early_says_so_with_exit_code_two() -> None:
    suite()
    done = synthesis("eval", "s.json", "--min-worst", "0.6", "--stop", "decided", "--jobs", "1", cwd=HERE)
    assert done.returncode == 2
    assert "decided early: 47 of 48 trials were not needed" in done.stdout


def test_an_error_ends_it_as_incomplete_and_going_on_is_offered() -> None:
    write(Path("s.json"), scored("a", [1] * 4, prompt=["hi", "and?"]), scored("b", [1] * 4))
    options = ("--min-mean", "0.9", "--stop", "decided", "--jobs", "1")
    done = synthesis("eval", "s.json", *options, "--out", "r", cwd=HERE)
    assert done.returncode == 1
    assert "INCOMPLETE: 1 trial ended in an error, 7 were not run" in done.stdout
    assert "decided early" not in done.stdout
    assert "--stop decided" in done.stdout.split("next: ")[1]
    assert report_of(Path("r"))["summary"]["complete"] is False


def test_with_a_confidence_early_looks_decide() -> None:
    suite(scenarios=16)
    options = ("--min-mean", "0.4", "--confidence", "0.95", "--stop", "decided", "--jobs", "1")
    done = synthesis("eval", "s.json", *options, "--out", "r", cwd=HERE)
    assert done.returncode == 0
    report = report_of(Path("r"))
    assert report["summary"]["scored"] == 16
    (result,) = report["thresholds"]
    assert result["certainty"]["level"] == pytest.approx(1 - 0.025 / 3, abs=1e-6)
    assert synthesis("eval", "s.json", *options, "--out", "again", cwd=HERE).returncode == 0
    again = report_of(Path("again"))
    assert again["thresholds"] == report["thresholds"]


def test_what_early_looks_used_up_is_missing_at_the_end() -> None:
    suite()
    options = ("--min-mean", "0.8", "--confidence", "0.95")
    assert synthesis("eval", "s.json", *options, "--stop", "decided", "--out", "r", cwd=HERE).returncode == 3
    assert synthesis("eval", "s.json", *options, "--out", "whole", cwd=HERE).returncode == 3
    levels = [report_of(Path(run))["thresholds"][0]["certainty"]["level"] for run in ("r", "whole")]
    assert levels == [0.975, 0.95]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--confidence", "0.95"], "--confidence: there is no threshold to decide about"),
        (["--stop", "decided"], "--stop: there is no threshold to decide about"),
        (["--stop", "soon", "--min-mean", "0.5"], '--stop: "soon" is not known'),
        (["--confidence", "95", "--min-mean", "0.5"], '"95" is not a number from 0 to 1'),
        (["--confidence", "0.5", "--min-mean", "0.5"], '"0.5" is not a level between 0.5 and 1'),
        (["--confidence", "1", "--min-mean", "0.5"], '"1" is not a level between 0.5 and 1'),
    ],
)
def test_what_cannot_be_meant_is_refused(options: list[str], said: str) -> None:
    suite()
    done = synthesis("eval", "s.json", *options, cwd=HERE)
    assert done.returncode == 1
    assert said in done.stderr
    assert not Path("runs").exists()


def test_the_project_file_may_ask_for_a_confidence() -> None:
    suite()
    Path("synthesis.toml").write_text("[eval]\nconfidence = 0.99\nmin_mean = 0.8\n")
    assert synthesis("eval", "s.json", cwd=HERE).returncode == 3
    Path("synthesis.toml").write_text("[eval]\nconfidence = 2\n")
    assert synthesis("eval", "s.json", cwd=HERE).returncode == 1


def test_beside_a_worst_trial_stands_what_share_may_be_below() -> None:
    (result,) = decided([[1.0, 0.6]] * 20, min_worst=0.5, confidence=0.95)[1]
    outcome, certainty = threshold_lines(result)
    assert outcome == "min worst 0.5 holds: 0.6"
    assert certainty.startswith("  95 % sure: up to 16.8 % of trials may be below the line and were not seen")
    assert "interval" not in certainty


@pytest.mark.parametrize("text", ["95", "x"])
def test_the_example_of_a_level_is_a_level(text: str) -> None:
    done = synthesis("eval", "--min-mean", "0.5", "--confidence", text, cwd=HERE)
    assert done.returncode == 1
    assert "fix: write for example --confidence 0.95" in done.stderr
