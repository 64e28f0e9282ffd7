"""Variance within and between scenarios, what drop a suite can see, and passing in some of k trials."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from harness.power import detectable, scenarios_needed
from harness.repeats import is_flaky, pass_all_k, pass_at_k, passes
from harness.variance import Components, components


def test_components_are_those_of_the_analysis_of_variance() -> None:
    groups = [[0.2, 0.4, 0.3], [0.9, 0.8, 1.0], [0.5, 0.6, 0.4]]
    found = components(groups)
    assert found is not None
    assert found.within is not None
    f = stats.f_oneway(*groups).statistic
    assert (3 * found.between + found.within) / found.within == pytest.approx(f)
    assert found.within == pytest.approx(np.mean([np.var(group, ddof=1) for group in groups]))


def test_components_are_found_again_in_data_that_has_them() -> None:
    source = np.random.default_rng(2)
    groups = []
    for _ in range(4000):
        middle = source.normal(0.6, 0.2)
        groups.append(source.normal(middle, 0.1, source.integers(1, 6)).tolist())
    found = components(groups)
    assert found is not None
    assert found.within == pytest.approx(0.01, rel=0.06)
    assert found.between == pytest.approx(0.04, rel=0.06)
    assert found.within_share == pytest.approx(0.2, abs=0.02)


def test_components_where_there_is_little_to_go_by() -> None:
    assert components([[0.5, 0.6]]) is None
    assert components([[], [0.5]]) is None
    single = components([[0.5], [0.7], []])
    assert single is not None
    assert single.between == pytest.approx(0.02)
    assert single.within is None
    alike = components([[1.0, 1.0], [1.0, 1.0]])
    assert alike == Components(0.0, 0.0)
    assert alike.within_share is None
    noisy = components([[0.0, 1.0], [1.0, 0.0]])
    assert noisy == Components(0.0, 0.5), "a variance is never below 0"


def test_the_detectable_change_is_found_four_times_in_five() -> None:
    source = np.random.default_rng(9)
    scenarios, spread = 20, 0.1
    drop = detectable(spread / math.sqrt(scenarios), scenarios - 1)
    rows = source.normal(-drop, spread, (4000, scenarios))
    found = np.mean(stats.ttest_1samp(rows, 0, axis=1).pvalue < 0.05)
    assert found == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("seeds", [1, 5])
@pytest.mark.parametrize("drop", [0.02, 0.05])
def test_the_scenarios_needed_find_the_drop_four_times_in_five(drop: float, seeds: int) -> None:
    source = np.random.default_rng(10)
    number = scenarios_needed(drop, 0.01, seeds)
    noise = source.normal(0, math.sqrt(0.02 / seeds), (3000, number))
    rows = source.normal(-drop, drop, (3000, number)) + noise
    found = np.mean(stats.ttest_1samp(rows, 0, axis=1).pvalue < 0.05)
    assert found == pytest.approx(0.8, abs=0.035)


def test_more_seeds_need_fewer_scenarios_until_scenarios_are_all_that_counts() -> None:
    needed = [scenarios_needed(0.02, 0.04, seeds) for seeds in (1, 5, 20, 1_000_000)]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] > 10 * needed[2]
    assert scenarios_needed(0.02, 0.0, 1) == needed[-1] >= 8


@pytest.mark.parametrize(("trials", "passed"), [(5, 0), (5, 2), (5, 5), (7, 6), (1, 1)])
def test_pass_at_k_and_pass_hat_k_by_going_through_all_draws(trials: int, passed: int) -> None:
    outcomes = [True] * passed + [False] * (trials - passed)
    for k in range(1, trials + 1):
        draws = list(itertools.combinations(outcomes, k))
        assert pass_at_k(trials, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))
        assert pass_all_k(trials, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_flaky_is_passing_under_some_seeds_only() -> None:
    assert passes([1.0, 0.5, 1.0]) == 2
    assert is_flaky([1.0, 0.5])
    assert not is_flaky([1.0, 1.0])
    assert not is_flaky([0.5, 0.9])
    assert not is_flaky([])
