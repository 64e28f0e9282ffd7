"""The one place that turns results into exit codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Exit
from harness.records import CheckSummary
from harness.run_report import RunSummary, ThresholdResult
from harness.summarize import ScenarioScores, mean, worst

_SLACK = 6e-7
"""Figures are rounded to six places; what is exactly at the threshold must not fail for that."""


def reaches(actual: float, required: float) -> bool:
    """Whether a share holds a threshold."""
    return actual >= required - _SLACK


def decide_check(summary: CheckSummary, *, fail_on: int, planted_misses: int = 0) -> Exit:
    """Only unexpected failures count, and planted rows that were not caught."""
    if summary.unexpected_failures > fail_on or planted_misses:
        return Exit.THRESHOLD
    return Exit.HOLDS


@dataclass(frozen=True)
class Thresholds:
    """What a run is held to; None is not asked for."""

    min_mean: float | None = None
    min_worst: float | None = None
    min_scenario_mean: float | None = None
    max_errors: int = 0


@dataclass(frozen=True)
class Decision:
    """The exit code and how each threshold fared."""

    exit: Exit
    thresholds: tuple[ThresholdResult, ...]


@dataclass(frozen=True)
class RunOutcome:
    """Everything there is to show of a finished run."""

    summary: RunSummary
    decision: Decision
    rows: Sequence[ScenarioScores]
    report: Path


def decide_run(summary: RunSummary, rows: Sequence[ScenarioScores], wanted: Thresholds) -> Decision:
    """An incomplete run outranks a failed threshold, unless its errors were said to be acceptable."""
    results = tuple(_threshold_results(summary, rows, wanted))
    acceptable = summary.not_run == 0 and summary.errors <= wanted.max_errors and summary.scored > 0
    if not acceptable:
        return Decision(Exit.FATAL, results)
    held = all(result.held for result in results)
    return Decision(Exit.HOLDS if held else Exit.THRESHOLD, results)


def _threshold_results(
    summary: RunSummary, rows: Sequence[ScenarioScores], wanted: Thresholds
) -> list[ThresholdResult]:
    asked = [
        ("--min-mean", wanted.min_mean, summary.mean),
        ("--min-worst", wanted.min_worst, summary.worst),
        ("--min-scenario-mean", wanted.min_scenario_mean, summary.worst_scenario_mean),
    ]
    return [
        _threshold_result(name, required, actual, rows)
        for name, required, actual in asked
        if required is not None
    ]


def _threshold_result(
    name: str, required: float, actual: float | None, rows: Sequence[ScenarioScores]
) -> ThresholdResult:
    held = actual is not None and reaches(actual, required)
    return ThresholdResult(
        name=name,
        required=required,
        actual=actual,
        held=held,
        blame=() if held else _blame(name, required, rows),
    )


def _blame(name: str, required: float, rows: Sequence[ScenarioScores]) -> tuple[str, ...]:
    """The scenarios below the line, worst first: by their worst trial or by their mean."""
    measure = worst if name == "--min-worst" else mean
    found = [(measure(row.scores), row.scenario.name) for row in rows if row.scores]
    below = sorted(
        (value, scenario) for value, scenario in found if value is not None and not reaches(value, required)
    )
    return tuple(scenario for _, scenario in below)
