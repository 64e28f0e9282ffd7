"""Where the spread of scores comes from: between scenarios, or between trials of one scenario."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Components:
    """Variances of a one-way random-effects model; `within` is null where no scenario has two trials."""

    between: float
    within: float | None

    @property
    def within_share(self) -> float | None:
        """The part of a single trial's variance that further seeds would average out."""
        if self.within is None or self.between + self.within <= 0:
            return None
        return self.within / (self.between + self.within)


def components(groups: Sequence[Sequence[float]]) -> Components | None:
    """By analysis of variance, scenario by scenario; null where fewer than two scenarios have a score."""
    filled = [group for group in groups if group]
    number, trials = len(filled), sum(map(len, filled))
    if number < 2:
        return None
    means = [math.fsum(group) / len(group) for group in filled]
    overall = math.fsum(value for group in filled for value in group) / trials
    between = math.fsum(
        len(group) * (mean - overall) ** 2 for group, mean in zip(filled, means, strict=True)
    ) / (number - 1)
    if trials == number:
        return Components(between, None)
    within = math.fsum(
        (value - mean) ** 2 for group, mean in zip(filled, means, strict=True) for value in group
    ) / (trials - number)
    typical = (trials - sum(len(group) ** 2 for group in filled) / trials) / (number - 1)
    return Components(max(0.0, (between - within) / typical), within)
