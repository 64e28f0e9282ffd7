"""An interval for a mean over scenarios that covers as often as it says, also with few of them.

Scenarios are what another suite would draw anew, so the scenario counts, not the trial. Three things make
the plain t interval miss here, and each has its remedy: a mean near the end of its scale (Wilson's form,
which leans towards the middle), spread that only a few scenarios carry (fewer degrees of freedom), and no
spread at all (what a share of unseen scenarios could do).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.student import t_quantile

ENOUGH_SCENARIOS = 20
"""Below it, what breaks one scenario in seven may be in none of them, and nothing shows that."""
FEW_SCENARIOS = 10
_FEW_OTHERS = 10
"""Where fewer differ, most are at the ceiling and intervals come out too wide; 5 and 8 missed some."""
_FEW_CARRIERS = 2.5
SHARES = (0.0, 1.0)
"""The scale of a score."""
DIFFERENCES = (-1.0, 1.0)
"""The scale of a difference of two scores."""


@dataclass(frozen=True)
class Interval:
    """An estimate and between what it lies; `rough` says why the level should not be taken literally."""

    estimate: float
    low: float
    high: float
    level: float
    standard_error: float
    rough: str | None


def mean_interval(
    values: Sequence[float],
    scale: tuple[float, float] = SHARES,
    level: float = 0.95,
    weights: Sequence[float] | None = None,
    unit: str = "scenario",
) -> Interval:
    """For the mean of one value a scenario, each on `scale`; `weights` are trials, where scenarios differ.

    Never empty: the caller has at least one value. `unit` is what a value stands for, in words.
    """
    shares = _shares(len(values), weights)
    middle = math.fsum(share * value for share, value in zip(shares, values, strict=True))
    if len(values) < 2:
        low, high = _unseen(middle, scale, level, 1)
        return Interval(middle, low, high, level, math.nan, f"a single {unit}")
    number = len(values)
    squares = [(number * share * (value - middle)) ** 2 for share, value in zip(shares, values, strict=True)]
    total = math.fsum(squares)
    error = math.sqrt(total / (number - 1) / number)
    if error < 1e-9:
        low, high = _unseen(middle, scale, level, number)
        return Interval(middle, low, high, level, 0.0, f"all {unit}s are alike")
    carriers = total * total / math.fsum(square * square for square in squares)
    df = min(number - 1, 2 * carriers)
    if number < FEW_SCENARIOS:  # even the spread is hardly known, and skewed scores show less than there is
        df = max(1, min(number - 2, carriers))
    low, high = _wilson(middle, error, scale, t_quantile((1 + level) / 2, round(df, 3)))
    return Interval(middle, low, high, level, error, _why_rough(values, carriers, unit))


def _shares(number: int, weights: Sequence[float] | None) -> list[float]:
    if weights is None:
        return [1 / number] * number
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _why_rough(values: Sequence[float], carriers: float, unit: str) -> str | None:
    if len(values) < ENOUGH_SCENARIOS:
        return f"fewer than {ENOUGH_SCENARIOS} {unit}s"
    others = len(values) - max(Counter(values).values())
    if others < _FEW_OTHERS:
        return f"fewer than {_FEW_OTHERS} {unit}s differ from the rest"
    if carriers < _FEW_CARRIERS:
        return f"nearly all of the spread is in one or two {unit}s"
    return None


def _wilson(middle: float, error: float, scale: tuple[float, float], quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share p of the scale, at the number of coins whose p(1−p)/n is what was seen.

    There is spread, so the mean is not at an end of the scale.
    """
    bottom, width = scale[0], scale[1] - scale[0]
    share = (middle - bottom) / width
    coin = (error / width) ** 2 / (share * (1 - share))
    lean = quantile * quantile * coin
    centre = (share + lean / 2) / (1 + lean)
    half = quantile * math.sqrt((error / width) ** 2 + lean * coin / 4) / (1 + lean)
    return bottom + width * max(0.0, centre - half), bottom + width * min(1.0, centre + half)


def _unseen(middle: float, scale: tuple[float, float], level: float, number: int) -> tuple[float, float]:
    """Nothing varied: up to this share of all scenarios could be at the end of the scale and not be seen."""
    share = 1 - ((1 - level) / 2) ** (1 / number)
    return middle + share * (scale[0] - middle), middle + share * (scale[1] - middle)
