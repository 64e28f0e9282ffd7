"""The one place that turns results into exit codes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.audit_report import AuditSummary
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


@dataclass(frozen=True)
class AuditThresholds:
    """What an audit is held to; `fail_rates` are the most that a check may have, by its name."""

    fail_rate: float | None = None
    fail_rates: Mapping[str, float] = field(default_factory=dict)
    min_mean: float | None = None
    min_worst: float | None = None
    max_rejects: int = 0
    max_errors: int = 0


def decide_audit(
    summary: AuditSummary,
    rates: Mapping[str, float | None],
    lowest: Sequence[tuple[float, str]],
    wanted: AuditThresholds,
) -> Decision:
    """Rows that were not read and conversations that were not judged are no passes: without leave, fatal.

    `lowest` are the worst conversations by score and name, as far as they are kept.
    """
    results = [
        *_fail_rates(rates, wanted),
        *(
            ThresholdResult(
                name=name,
                required=required,
                actual=actual,
                held=actual is not None and reaches(actual, required),
                blame=tuple(each for score, each in lowest if not reaches(score, required)),
            )
            for name, required, actual in (
                ("--min-mean", wanted.min_mean, summary.mean),
                ("--min-worst", wanted.min_worst, summary.worst),
            )
            if required is not None
        ),
    ]
    read = summary.rejected <= wanted.max_rejects and summary.errors <= wanted.max_errors
    if not read or not summary.scored:
        return Decision(Exit.FATAL, tuple(results))
    held = all(result.held for result in results)
    return Decision(Exit.HOLDS if held else Exit.THRESHOLD, tuple(results))


def _fail_rates(rates: Mapping[str, float | None], wanted: AuditThresholds) -> list[ThresholdResult]:
    """A limit for every check is for those that applied anywhere; one by name wants a figure."""
    limits = {
        name: wanted.fail_rates.get(name, wanted.fail_rate)
        for name, rate in rates.items()
        if name in wanted.fail_rates or rate is not None
    }
    return [
        ThresholdResult(
            name=f"--max-fail-rate {name}",
            required=limit,
            actual=rates[name],
            held=(rate := rates[name]) is not None and reaches(-rate, -limit),
            blame=(),
        )
        for name, limit in limits.items()
        if limit is not None
    ]
