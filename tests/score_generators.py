"""Suites whose true mean is known: what the simulations draw from. One row a suite, one column a scenario.

Differences are of two runs of the same scenarios; means are of one run. `trials` of a scenario are averaged.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Suites = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int], int], Suites]


@dataclass(frozen=True)
class Generator:
    name: str
    truth: float
    draw: Draw


def _passes(source: np.random.Generator, chance: Suites, trials: int) -> Suites:
    return np.asarray(source.binomial(trials, chance) / trials, dtype=np.float64)


def _graded_difference(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    """Scores that take any value; the change varies a little between scenarios."""
    noise = source.normal(0, 0.1 * (2 / trials) ** 0.5, shape)
    return np.asarray(np.clip(noise + source.normal(-0.05, 0.05, shape), -1, 1), dtype=np.float64)


def _pass_fail_difference(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    """Trials pass or fail, four in five pass, nothing changed."""
    chance = source.beta(6, 1.5, shape)
    return _passes(source, chance, trials) - _passes(source, chance, trials)


def _ceiling_difference(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    """Six scenarios in ten always pass, before and after; the others lose a tenth of what they had."""
    hard = source.random(shape) > 0.6
    before = np.where(hard, source.beta(4, 2, shape), 1.0)
    after = np.where(hard, 0.9 * before, 1.0)
    return _passes(source, after, trials) - _passes(source, before, trials)


def _points_difference(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    """Five points a trial; half of the scenarios nearly always reach all, the others lose a tenth."""
    hard = source.random(shape) > 0.5
    before = np.where(hard, source.beta(6, 2, shape), 0.995)
    after = np.where(hard, 0.9 * before, 0.995)
    return _passes(source, after, 5 * trials) - _passes(source, before, 5 * trials)


def _few_broke_difference(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    """All nearly always pass; one scenario in seven now mostly fails."""
    before = source.beta(30, 2, shape)
    after = np.where(source.random(shape) < 1 / 7, 0.4 * before, before)
    return _passes(source, after, trials) - _passes(source, before, trials)


def _graded_mean(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    scores = source.beta(14, 6, shape) + source.normal(0, 0.03 / trials**0.5, shape)
    return np.asarray(np.clip(scores, 0, 1), dtype=np.float64)


def _pass_fail_mean(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    return _passes(source, source.beta(6, 1.5, shape), trials)


def _high_mean(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    return _passes(source, source.beta(9, 1, shape), 5 * trials)


def _ceiling_mean(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    hard = source.random(shape) > 0.6
    return _passes(source, np.where(hard, source.beta(4, 2, shape), 1.0), trials)


def _points_mean(source: np.random.Generator, shape: tuple[int, int], trials: int) -> Suites:
    hard = source.random(shape) > 0.5
    return _passes(source, np.where(hard, source.beta(6, 2, shape), 0.995), 5 * trials)


DIFFERENCE_GENERATORS = (
    Generator("graded", -0.05, _graded_difference),
    Generator("pass-fail", 0.0, _pass_fail_difference),
    Generator("ceiling", -0.4 * 0.1 * 4 / 6, _ceiling_difference),
    Generator("points-at-the-ceiling", -0.5 * 0.1 * 0.75, _points_difference),
)
FEW_BROKE = Generator("few-broke", -0.6 * 30 / 32 / 7, _few_broke_difference)
"""Where no interval from the data alone can do well: the scenarios that broke may not be among ten."""

MEAN_GENERATORS = (
    Generator("graded", 0.7, _graded_mean),
    Generator("pass-fail", 0.8, _pass_fail_mean),
    Generator("high", 0.9, _high_mean),
    Generator("ceiling", 0.6 + 0.4 * 4 / 6, _ceiling_mean),
    Generator("points-at-the-ceiling", 0.5 * 0.995 + 0.5 * 0.75, _points_mean),
)
