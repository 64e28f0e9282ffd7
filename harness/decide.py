"""The one place that turns results into exit codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.compare_report import ComparedSide, CriterionChange, LimitResult, MeanChange, ScenarioChange
from harness.errors import Exit
from harness.records import CheckReport
from harness.run_report import RunSummary, ThresholdResult
from harness.summarize import ScenarioScores, mean, worst

_SLACK = 6e-7
"""Figures are rounded to six places; what is exactly at the threshold must not fail for that."""


def reaches(actual: float, required: float) -> bool:
    """Whether a share holds a threshold."""
    return actual >= required - _SLACK


def decide_check(report: CheckReport, *, fail_on: int, planted_misses: int = 0) -> Exit:
    """Only unexpected failures count, and planted rows that were not caught."""
    if report.summary.unexpected_failures > fail_on or planted_misses:
        return Exit.THRESHOLD
    return Exit.HOLDS


def outranking(*codes: int) -> Exit:
    """Of several exit codes the one that counts: 1 outranks 2, 2 outranks 3."""
    return next(
        (code for code in (Exit.FATAL, Exit.THRESHOLD, Exit.INCONCLUSIVE) if code in codes), Exit.HOLDS
    )


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


@dataclass(frozen=True)
class ComparisonLimits:
    """What a comparison is held to; without any, it only tells."""

    fail_on_regression: bool = False
    max_drop: float | None = None
    max_scenario_drop: float | None = None

    @property
    def any(self) -> bool:
        """Whether anything can fail."""
        return self.fail_on_regression or self.max_drop is not None or self.max_scenario_drop is not None


@dataclass(frozen=True)
class ComparisonDecision:
    """The exit code and how each limit fared."""

    exit: Exit
    limits: tuple[LimitResult, ...]


SIGNIFICANT = 0.05


def is_regression(criterion: CriterionChange) -> bool:
    """Whether a criterion got worse beyond chance, after correction for the number of criteria."""
    return (
        criterion.change == "worse"
        and criterion.corrected_p is not None
        and criterion.corrected_p <= SIGNIFICANT
    )


def decide_comparison(
    mean: MeanChange,
    scenarios: Sequence[ScenarioChange],
    criteria: Sequence[CriterionChange],
    sides: Sequence[ComparedSide],
    limits: ComparisonLimits,
) -> ComparisonDecision:
    """What is held to limits must be complete on both sides, unless its errors were accepted."""
    results: list[LimitResult] = []
    if limits.fail_on_regression:
        worse = tuple(criterion.name for criterion in criteria if is_regression(criterion))
        results.append(_limit("--fail-on-regression", None, mean.high, mean.high >= 0 and not worse, worse))
    if limits.max_drop is not None:
        held = reaches(mean.difference, -limits.max_drop)
        results.append(_limit("--max-drop", limits.max_drop, -mean.difference, held))
    if limits.max_scenario_drop is not None:
        lowest, below = _below(scenarios, limits.max_scenario_drop)
        results.append(_limit("--max-scenario-drop", limits.max_scenario_drop, -lowest, not below, below))
    if limits.any and not all(side.accepted for side in sides):
        return ComparisonDecision(Exit.FATAL, tuple(results))
    held = all(result.held for result in results)
    return ComparisonDecision(Exit.HOLDS if held else Exit.THRESHOLD, tuple(results))


def _below(scenarios: Sequence[ScenarioChange], limit: float) -> tuple[float, tuple[str, ...]]:
    """The largest loss, and the scenarios that lost more than allowed, worst first."""
    lost = sorted(
        (scenario.difference, scenario.name) for scenario in scenarios if scenario.difference is not None
    )
    return lost[0][0], tuple(name for difference, name in lost if not reaches(difference, -limit))


def _limit(
    name: str, limit: float | None, actual: float, held: bool, blame: tuple[str, ...] = ()
) -> LimitResult:
    return LimitResult(name=name, limit=limit, actual=actual + 0.0, held=held, blame=blame)


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
