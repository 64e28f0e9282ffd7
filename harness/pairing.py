"""Two runs of a scenario side by side: by seed where both have it, by scenario where they do not."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.compare_report import Change, PairedBy
from harness.compared_run import average

_DIGITS = 9
"""Means of the same scores in another order differ in the last bits, which is no change."""


@dataclass(frozen=True)
class Paired:
    """One scenario's means in both runs and how they came about."""

    base: float
    head: float
    paired_by: PairedBy
    pairs: int

    @property
    def difference(self) -> float:
        """Head minus base."""
        return round(self.head - self.base, _DIGITS) + 0.0

    @property
    def change(self) -> Change:
        """In a word."""
        return "better" if self.difference > 0 else "worse" if self.difference < 0 else "same"


def pair(base: Mapping[int, float], head: Mapping[int, float]) -> Paired | None:
    """Over the seeds that both have; over all trials where there are none; null where a run has no score."""
    if not base or not head:
        return None
    seeds = [seed for seed in base if seed in head]
    if not seeds:
        return Paired(average(list(base.values())), average(list(head.values())), "scenario", 0)
    before, after = [base[seed] for seed in seeds], [head[seed] for seed in seeds]
    return Paired(average(before), average(after), "seed", len(seeds))
