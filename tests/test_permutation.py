"""The sign-flip test and Holm's correction, against scipy and against counting."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from harness.holm import holm
from harness.intervals import DIFFERENCES, mean_interval
from harness.permutation import DRAWS, sign_flip

SAMPLES = [
    [0.1, -0.05, 0.3, 0.2, -0.1, 0.15],
    [0.2, 0.2, -0.2, 0.4, 0.0, -0.4, 0.6],
    [-1.0, -0.5, -0.25],
    [0.1, -0.1],
    [0.05 * i - 0.21 for i in range(13)],
]


def by_scipy(values: list[float]) -> float:
    """scipy adds nothing to its count where it goes through all signs."""
    done = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=math.inf, alternative="two-sided"
    )
    return float(done.pvalue)


def by_counting(values: list[float]) -> float:
    observed = abs(math.fsum(values)) - 1e-12
    flips = itertools.product((1, -1), repeat=len(values))
    sums = [abs(math.fsum(s * v for s, v in zip(signs, values, strict=True))) for signs in flips]
    return sum(total >= observed for total in sums) / len(sums)


@pytest.mark.parametrize("values", SAMPLES, ids=len)
def test_the_exact_p_value_is_scipy_s(values: list[float]) -> None:
    found = sign_flip(values)
    assert found.exact
    assert found.p == pytest.approx(by_counting(values))
    assert found.p == pytest.approx(by_scipy(values))


def test_twenty_are_exact_and_twenty_one_are_drawn() -> None:
    values = [0.05 * i - 0.3 for i in range(1, 22)]
    assert sign_flip(values[:20]).exact
    assert sign_flip(values).draws == DRAWS
    assert sign_flip([*values[:20], *[0.0] * 50]).exact, "what does not differ has no sign to flip"


def test_drawn_p_values_are_near_the_exact_ones() -> None:
    """Twenty scenarios twice: once exactly, once through the way that larger suites go."""
    source = np.random.default_rng(5)
    values = [float(value) for value in source.normal(0.06, 0.2, 22)]
    exact = by_halves(values)
    drawn = sign_flip(values)
    assert not drawn.exact
    assert drawn.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / DRAWS))


def by_halves(values: list[float]) -> float:
    signs = np.array(list(itertools.product((1, -1), repeat=11)))
    left, right = signs @ np.array(values[:11]), signs @ np.array(values[11:])
    return float(np.mean(np.abs(left[:, None] + right[None, :]) >= abs(sum(values)) - 1e-12))


def test_drawn_p_values_are_the_same_every_time_and_never_zero() -> None:
    values = [0.5 + 0.001 * i for i in range(100)]
    assert sign_flip(values) == sign_flip(values)
    assert sign_flip(values).p == 1 / (DRAWS + 1)
    mixed = [0.1 * (-1) ** i + 0.0001 * i for i in range(100)]
    assert sign_flip(mixed, seed=1).p != sign_flip(mixed, seed=2).p


def test_the_same_numbers_added_in_another_order_are_as_extreme() -> None:
    """0.1 + 0.2 is not 0.3: a tie must still count, or p is too small."""
    assert sign_flip([0.1, 0.2, -0.3, 0.3, 0.3]).p == by_counting([0.1, 0.2, -0.3, 0.3, 0.3])
    assert sign_flip([0.1, 0.2, -0.3]).p == 1


def test_nothing_differs() -> None:
    assert sign_flip([0.0] * 40).p == 1
    assert sign_flip([]).p == 1


def test_direction_does_not_matter() -> None:
    values = SAMPLES[0]
    assert sign_flip(values).p == sign_flip([-value for value in values]).p


@pytest.mark.parametrize("scenarios", [8, 15, 40])
def test_under_no_change_it_rejects_at_most_as_often_as_it_says(scenarios: int) -> None:
    source = np.random.default_rng(6)
    chance = source.beta(5, 1, (400, scenarios))
    rows = (source.binomial(3, chance) - source.binomial(3, chance)) / 3
    rejected = sum(sign_flip(row).p <= 0.05 for row in rows.tolist())
    assert rejected / 400 <= 0.05 + 0.02


def test_holm_on_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_holm_rejects_what_the_step_down_rule_rejects() -> None:
    source = np.random.default_rng(8)
    for _ in range(300):
        ps = (source.random(6) ** 3).tolist()
        rejected = set()
        for rank, index in enumerate(sorted(range(6), key=lambda i: ps[i])):
            if ps[index] > 0.05 / (6 - rank):
                break
            rejected.add(index)
        assert {index for index, p in enumerate(holm(ps)) if p <= 0.05} == rejected


@pytest.mark.parametrize("scenarios", [6, 12, 18])
def test_mean_and_criteria_together_raise_few_false_alarms(scenarios: int) -> None:
    """What `--fail-on-regression` asks, with four criteria and nothing changed: under 5 %."""
    source = np.random.default_rng(21)
    chance = source.beta(5, 1, (500, 4, scenarios))
    rows = (source.binomial(3, chance) - source.binomial(3, chance)) / 3
    alarms = 0
    for criteria in rows:
        corrected = holm([sign_flip(row).p for row in criteria.tolist()])
        worse = any(p <= 0.05 and row.mean() < 0 for p, row in zip(corrected, criteria, strict=True))
        alarms += worse or mean_interval(criteria.mean(axis=0).tolist(), DIFFERENCES).high < 0
    assert alarms / len(rows) < 0.05
