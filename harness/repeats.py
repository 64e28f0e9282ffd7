"""A scenario over its seeds: would one of k trials pass, would all, and does it pass only sometimes."""

from collections.abc import Callable, Sequence
from math import comb

KS = (1, 2, 3, 5, 10, 20, 50, 100)
"""The k that reports give, as far as there are trials."""


def pass_at_k(trials: int, passed: int, k: int) -> float:
    """The chance that at least one of `k` trials drawn from these passed."""
    return 1 - comb(trials - passed, k) / comb(trials, k)


def pass_all_k(trials: int, passed: int, k: int) -> float:
    """The chance that all of `k` trials drawn from these passed."""
    return comb(passed, k) / comb(trials, k)


def passes(scores: Sequence[float]) -> int:
    """Trials that reached every point."""
    return sum(score >= 1 for score in scores)


def is_flaky(scores: Sequence[float]) -> bool:
    """Whether it passed under some seeds and not under others."""
    return 0 < passes(scores) < len(scores)


def by_k(scores: Sequence[float], chance: Callable[[int, int, int], float]) -> dict[str, float]:
    """For every k of which there are enough trials; a key of JSON is text."""
    trials, passed = len(scores), passes(scores)
    return {str(k): round(chance(trials, passed, k), 6) for k in KS if k <= trials}
