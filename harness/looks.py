"""Stopping early with a confidence: a few looks at the data, planned before, that share the error rate.

A look after each of a few rounds of seeds, each with its own, higher level. Whatever the looks have in
common, the chance of any wrong decision is at most the sum of their error rates: the one asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.decide import Thresholds, threshold_results
from harness.run_report import ThresholdResult
from harness.summarize import ScenarioScores

MOST_LOOKS = 5
EARLY_SHARE = 0.5
"""Of the error rate, what all looks but the last may use up together."""


@dataclass(frozen=True)
class Look:
    """After so many seeds of every scenario, at this level."""

    seeds: int
    level: float


def plan_looks(seeds: int, confidence: float) -> tuple[Look, ...]:
    """At most five, evenly spread; with a single one, all of the error rate is for the end."""
    number = min(seeds, MOST_LOOKS)
    error = 1 - confidence
    if number == 1:
        return (Look(seeds, confidence),)
    early = error * EARLY_SHARE / (number - 1)
    rounds = [round(seeds * part / number) for part in range(1, number + 1)]
    levels = [*[1 - early] * (number - 1), 1 - error * (1 - EARLY_SHARE)]
    return tuple(map(Look, rounds, levels))


def at_look(rows: Sequence[ScenarioScores], look: Look) -> list[ScenarioScores]:
    """Only the seeds that belong to the look: what ran ahead depends on the clock."""
    return [
        ScenarioScores(row.scenario, row.planned, tuple(trial for trial in row.trials if trial.seed in first))
        for row in rows
        for first in (set(row.planned[: look.seeds]),)
    ]


def settled_at(
    rows: Sequence[ScenarioScores], look: Look, wanted: Thresholds
) -> tuple[ThresholdResult, ...] | None:
    """The results where they decide the run at this look; null where it goes on.

    A trial below --min-worst decides at once. That none will be below is only known at the end.
    """
    results = threshold_results(at_look(rows, look), replace(wanted, confidence=look.level))
    if any(result.failed for result in results):
        return results
    early = any(look.seeds < len(row.planned) for row in rows)
    open_ = any(result.inconclusive or (early and result.name == "--min-worst") for result in results)
    return None if open_ else results
