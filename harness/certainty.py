"""Thresholds with a confidence: is the true figure above the line, below it, or is that still open?"""

import math
from collections.abc import Sequence

from harness.intervals import Interval, mean_interval
from harness.power import detectable
from harness.run_report import Certainty
from harness.variance import components

Groups = Sequence[Sequence[float]]
"""The scores of each scenario."""


def mean_certainty(groups: Groups, level: float) -> Certainty | None:
    """Of the mean over all trials, scenario by scenario; null where nothing was scored."""
    filled = [group for group in groups if group]
    if not filled:
        return None
    means = [math.fsum(group) / len(group) for group in filled]
    found = mean_interval(means, level=level, weights=[len(group) for group in filled])
    share, advice = _what_helps(filled)
    seen = detectable(found.standard_error, len(filled) - 1, level) if found.standard_error > 0 else None
    return _certainty(found, seen, share, advice)


def scenario_certainty(groups: Groups, level: float) -> tuple[Certainty, float] | None:
    """Of the lowest scenario mean, from its trials, and the lowest upper limit, corrected for all scenarios.

    That all are above the line needs no correction: every one has to be. That one is below does, or among
    many scenarios some would be by chance.
    """
    filled = [group for group in groups if group]
    if not filled:
        return None
    corrected = 1 - (1 - level) / len(filled)
    found = [mean_interval(group, level=level, unit="trial") for group in filled]
    highest = min(mean_interval(group, level=corrected, unit="trial").high for group in filled)
    lowest = min(found, key=lambda interval: (interval.low, interval.estimate))
    seen = [one.standard_error for one in found if one.standard_error > 0]
    drop = detectable(max(seen), min(map(len, filled)) - 1 or 1, level) if seen else None
    return _certainty(lowest, drop, None, "more seeds would narrow it"), highest


def worst_certainty(groups: Groups, level: float) -> Certainty | None:
    """Of the share of trials below the line when none was seen there: an upper limit, by scenario."""
    number = sum(1 for group in groups if group)
    if not number:
        return None
    unseen = mean_interval([0.0] * number, level=level)
    advice = "a worst trial is a fact of this run; the interval is the share of trials that may be below"
    return _certainty(unseen, None, None, advice)


def _certainty(found: Interval, seen: float | None, within_share: float | None, advice: str) -> Certainty:
    return Certainty(
        low=round(found.low, 6),
        high=round(found.high, 6),
        level=round(found.level, 6),
        rough=found.rough,
        detectable=round(seen, 6) if seen is not None and seen <= 1 else None,
        within_share=None if within_share is None else round(within_share, 6),
        advice=advice,
    )


def _what_helps(groups: Groups) -> tuple[float | None, str]:
    """What part of the mean's variance further seeds would take away, and what to do about it."""
    found = components(groups)
    if found is None:
        return None, "more scenarios would narrow it"
    if found.within is None:
        return None, "run more than one seed to learn whether seeds or scenarios would narrow it"
    seeds = sum(map(len, groups)) / len(groups)
    total = found.between + found.within / seeds
    if total <= 0:
        return None, "more scenarios would narrow it"
    share = found.within / seeds / total
    more = "more seeds would narrow it" if share > 0.5 else "more scenarios would narrow it"
    return share, f"{share * 100:.0f} % of the variance is between seeds of one scenario: {more}"
