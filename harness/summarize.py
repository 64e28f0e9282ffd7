"""Figures over scored trials: per scenario and over all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.repeats import is_flaky, passes
from harness.run_report import RunSummary, StopReason
from harness.scenario import Scenario
from harness.score import ScoredTrial
from harness.spending import Usage, total
from harness.transcript import weakest
from harness.turn_figures import added, summaries

SLACK = 6e-7
"""Figures are rounded to six places; what is exactly at a threshold must not fail for that."""


@dataclass(frozen=True)
class ScenarioScores:
    """One scenario with what its trials came to; a planned trial that was never run is missing here."""

    scenario: Scenario
    planned: tuple[int, ...]
    trials: tuple[ScoredTrial, ...]

    @property
    def scores(self) -> list[float]:
        """The scores there are, in the order of the seeds."""
        return [trial.score for trial in self.trials if trial.score is not None]

    @property
    def errors(self) -> int:
        """How many trials could not be judged."""
        return sum(trial.status == "error" for trial in self.trials)


def mean(scores: Sequence[float]) -> float | None:
    """Null where there is nothing to average."""
    return round(math.fsum(scores) / len(scores), 6) if scores else None


def worst(scores: Sequence[float]) -> float | None:
    """The lowest; null where there is none."""
    return round(min(scores), 6) if scores else None


def stdev(scores: Sequence[float]) -> float | None:
    """The sample standard deviation; null for fewer than two."""
    if len(scores) < 2:
        return None
    middle = math.fsum(scores) / len(scores)
    return round(math.sqrt(math.fsum((score - middle) ** 2 for score in scores) / (len(scores) - 1)), 6)


def summarize(
    rows: Sequence[ScenarioScores], stopped: StopReason | None, unscored: Usage | None = None
) -> RunSummary:
    """Over all trials; a run with errors or with trials that never ran is incomplete, unless it was decided.

    `unscored` is what trials used that were begun and given up.
    """
    scores = [score for row in rows for score in row.scores]
    trials = [trial for row in rows for trial in row.trials]
    planned = sum(len(row.planned) for row in rows)
    means = [(value, row.scenario.name) for row in rows if (value := mean(row.scores)) is not None]
    lowest = min(means, default=None)
    errors = sum(row.errors for row in rows)
    return RunSummary(
        scenarios=len(rows),
        trials=planned,
        scored=len(scores),
        passed=passes(scores),
        not_applicable=sum(trial.status == "not_applicable" for trial in trials),
        errors=errors,
        not_run=planned - len(trials),
        mean=mean(scores),
        worst=worst(scores),
        stdev=stdev(scores),
        worst_scenario=lowest[1] if lowest else None,
        worst_scenario_mean=lowest[0] if lowest else None,
        flaky=tuple(row.scenario.name for row in rows if is_flaky(row.scores)),
        complete=errors == 0 and (planned == len(trials) or stopped == "decided"),
        stopped=None if stopped == "decided" and planned == len(trials) else stopped,
        usage=total([*(trial.usage for trial in trials), unscored]),
        judge_usage=total(trial.judge_usage for trial in trials),
        sandbox=weakest(trial.sandbox for trial in trials),
        dimensions=summaries(added(trial.figures for trial in trials)),
    )
