"""The one place that turns results into exit codes, beside `decide_check`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.audit_report import AuditSummary
from harness.certainty import mean_certainty, scenario_certainty, worst_certainty
from harness.compare_report import ComparedSide, CriterionChange, LimitResult, MeanChange, ScenarioChange
from harness.errors import Exit
from harness.run_report import RunSummary, ThresholdResult
from harness.settled import Settled
from harness.summarize import SLACK, ScenarioScores, mean, worst


def reaches(actual: float, required: float) -> bool:
    """Whether a share holds a threshold."""
    return actual >= required - SLACK


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
    confidence: float | None = None

    @property
    def asked(self) -> dict[str, float]:
        """What was asked for, by the option's name."""
        given = {
            "--min-mean": self.min_mean,
            "--min-worst": self.min_worst,
            "--min-scenario-mean": self.min_scenario_mean,
        }
        return {name: required for name, required in given.items() if required is not None}


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


def decide_run(
    summary: RunSummary,
    rows: Sequence[ScenarioScores],
    wanted: Thresholds,
    settled: tuple[ThresholdResult, ...] | None = None,
) -> Decision:
    """An incomplete run outranks a failed threshold, unless its errors were said to be acceptable.

    `settled` is what an early look decided. A run that was stopped as decided lacks nothing.
    """
    results = settled or threshold_results(rows, wanted)
    if summary.stopped == "decided" and settled is None:
        results = _without_open(results, rows, wanted)
    whole = summary.not_run == 0 or summary.stopped == "decided"
    if not (whole and summary.errors <= wanted.max_errors and summary.scored > 0):
        return Decision(Exit.FATAL, results)
    if any(result.failed for result in results):
        return Decision(Exit.THRESHOLD, results)
    open_ = any(result.inconclusive for result in results)
    return Decision(Exit.INCONCLUSIVE if open_ else Exit.HOLDS, results)


def _without_open(
    results: tuple[ThresholdResult, ...], rows: Sequence[ScenarioScores], wanted: Thresholds
) -> tuple[ThresholdResult, ...]:
    """What the trials that were not run could still have changed is neither held nor failed."""
    known = Settled({row.scenario.slug: len(row.planned) for row in rows}, wanted.asked, wanted.max_errors)
    for row in rows:
        for trial in row.trials:
            known.take(row.scenario.slug, trial.score, error=trial.status == "error")
    left = any(len(row.trials) < len(row.planned) for row in rows)
    return tuple(
        result.model_copy(update={"held": False, "not_decided": True, "blame": ()})
        if left and known.state(result.name) is None
        else result
        for result in results
    )


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


def threshold_results(rows: Sequence[ScenarioScores], wanted: Thresholds) -> tuple[ThresholdResult, ...]:
    """Each threshold by its figure, or with a confidence by the interval of that."""
    scores = [score for row in rows for score in row.scores]
    means = [value for row in rows if (value := mean(row.scores)) is not None]
    actual = {
        "--min-mean": mean(scores),
        "--min-worst": worst(scores),
        "--min-scenario-mean": min(means, default=None),
    }
    plain = (_threshold_result(name, required, actual[name], rows) for name, required in wanted.asked.items())
    if wanted.confidence is None:
        return tuple(plain)
    groups, level = [row.scores for row in rows], wanted.confidence
    return tuple(_with_confidence(result, groups, level) for result in plain)


def _with_confidence(
    result: ThresholdResult, groups: Sequence[Sequence[float]], level: float
) -> ThresholdResult:
    """Held where all of the interval is, failed where none of it is, else inconclusive."""
    if result.name == "--min-worst":
        certainty = worst_certainty(groups, level) if result.held else None
        return result.model_copy(update={"certainty": certainty})
    highest: float | None = None
    if result.name == "--min-mean":
        certainty = mean_certainty(groups, level)
        highest = certainty.high if certainty else None
    elif (found := scenario_certainty(groups, level)) is not None:
        certainty, highest = found
    else:
        certainty = None
    if certainty is None or highest is None:
        return result
    held = reaches(certainty.low, result.required)
    below = not reaches(highest, result.required)
    changed = {"certainty": certainty, "held": held, "inconclusive": not held and not below}
    return result.model_copy(update=changed | ({} if below else {"blame": ()}))


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
