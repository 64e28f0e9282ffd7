"""Student's t distribution, for any degrees of freedom, from the standard library alone."""

import math
from functools import cache
from statistics import NormalDist

_TINY = 1e-300
_CLOSE = 1e-15
_MOST_STEPS = 300


def t_cdf(t: float, df: float) -> float:
    """The probability of a value of at most `t`."""
    if not math.isfinite(t):
        return 0.0 if t < 0 else 1.0
    tail = 0.5 * _incomplete_beta(df / (df + t * t), df / 2, 0.5)
    return 1 - tail if t > 0 else tail


@cache
def t_quantile(probability: float, df: float) -> float:
    """The value that is exceeded with 1 − `probability`; `probability` lies between 0 and 1."""
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    low, high = 0.0, max(1.0, normal_quantile(probability))
    while t_cdf(high, df) < probability:
        low, high = high, 2 * high
    for _ in range(_MOST_STEPS):
        middle = (low + high) / 2
        if high - low <= 1e-12 * high:
            break
        low, high = (middle, high) if t_cdf(middle, df) < probability else (low, middle)
    return (low + high) / 2


def normal_quantile(probability: float) -> float:
    """The same for the normal distribution."""
    return NormalDist().inv_cdf(probability)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(log_front)
    # The fraction converges fast on this side only; the other is its complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        step = d * c
        value *= step
        if abs(step - 1) < _CLOSE:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
