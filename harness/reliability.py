"""Agreement beyond chance: Cohen's kappa for two raters, Krippendorff's alpha for any number of them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

Values = Sequence[float]
"""Ratings; true and false are 1 and 0."""

Metric = Callable[[Values, Values], float]
"""How far two lots of ratings are apart: the sum over all pairs of one from each."""


def nominal(left: Values, right: Values) -> float:
    """Ratings are the same or they are not."""
    there = Counter(right)
    return len(left) * len(right) - sum(count * there[value] for value, count in Counter(left).items())


def interval(left: Values, right: Values) -> float:
    """Squared distances, from means and deviations: pair by pair would take for ever on a large run."""
    if len({*left, *right}) < 2:
        return 0.0  # exactly: a mean may miss its own values by the last bit
    between = (_mean(left) - _mean(right)) ** 2
    return len(left) * len(right) * between + len(right) * _deviation(left) + len(left) * _deviation(right)


def _mean(values: Values) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Values) -> float:
    middle = _mean(values)
    return math.fsum((value - middle) ** 2 for value in values)


def kappa(pairs: Sequence[tuple[float, float]], metric: Metric = nominal) -> float | None:
    """Cohen's, with `interval` weighted by squares; null where chance alone would agree always."""
    if not pairs:
        return None
    left, right = zip(*pairs, strict=True)
    observed = math.fsum(metric((first,), (second,)) for first, second in pairs)
    return _beyond_chance(len(pairs) * observed, metric(left, right))


def alpha(units: Iterable[Values], metric: Metric = nominal) -> float | None:
    """Krippendorff's; a unit holds the ratings it got, however many; null where no rating differs.

    A unit with a single rating can be compared with nothing, so it does not count as chance either.
    """
    compared = [unit for unit in units if len(unit) > 1]
    ratings = [value for unit in compared for value in unit]
    observed = math.fsum(metric(unit, unit) / (len(unit) - 1) for unit in compared)
    return _beyond_chance((len(ratings) - 1) * observed, metric(ratings, ratings))


def _beyond_chance(observed: float, by_chance: float) -> float | None:
    return round(1 - observed / by_chance, 4) + 0.0 if by_chance else None
