"""The interval of a mean covers as often as it says, and says where it does not. scipy is the oracle."""

import math

import numpy as np
import pytest
from scipy import stats
from score_generators import DIFFERENCE_GENERATORS, FEW_BROKE, MEAN_GENERATORS, Generator

from harness.intervals import DIFFERENCES, SHARES, Interval, mean_interval
from harness.student import normal_quantile, t_cdf, t_quantile

SUITES = 1500
ALLOWANCE = 0.007
"""What chance adds to a share over so many suites: a little more than one standard error."""
CASES = [(DIFFERENCES, generator) for generator in DIFFERENCE_GENERATORS] + [
    (SHARES, generator) for generator in MEAN_GENERATORS
]
IDS = [f"{'difference' if scale == DIFFERENCES else 'mean'}-{generator.name}" for scale, generator in CASES]


def drawn(
    generator: Generator, scale: tuple[float, float], scenarios: int, trials: int, suites: int = SUITES
) -> list[Interval]:
    source = np.random.default_rng(20261)
    rows = generator.draw(source, (suites, scenarios), trials).tolist()
    return [mean_interval(row, scale) for row in rows]


def covered(intervals: list[Interval], truth: float) -> float:
    return sum(found.low - 1e-9 <= truth <= found.high + 1e-9 for found in intervals) / len(intervals)


@pytest.mark.parametrize("df", [1, 1.5, 2, 3.7, 9, 49, 1000])
def test_student_s_t_is_scipy_s(df: float) -> None:
    for probability in (0.001, 0.2, 0.5, 0.6, 0.8, 0.975, 0.9995):
        assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-9, abs=1e-9)
    for t in (-40.0, -2.5, -0.1, 0.0, 0.3, 1.0, 6.0):
        assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-9, abs=1e-12)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975))


def test_far_from_the_ends_and_without_outliers_it_is_the_t_interval() -> None:
    values = [0.001 * (-1) ** i * (1 + (i % 3)) for i in range(30)]
    found = mean_interval(values, DIFFERENCES)
    error = stats.sem(values)
    carriers = sum((v - np.mean(values)) ** 2 for v in values) ** 2 / sum(
        (v - np.mean(values)) ** 4 for v in values
    )
    low, high = stats.t.interval(0.95, min(29, 2 * carriers), np.mean(values), error)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-3, abs=1e-7)
    assert found.standard_error == pytest.approx(error)
    assert found.rough is None


def test_a_coin_a_scenario_gives_wilson_s_interval_for_a_share() -> None:
    """With so many coins t is the normal quantile, and what was measured is p(1−p)/n."""
    values = [1.0] * 4000 + [0.0] * 1000
    found = mean_interval(values)
    wilson = stats.binomtest(4000, 5000).proportion_ci(0.95, "wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=2e-5)


def test_weights_are_trials() -> None:
    alike = mean_interval([0.2, 0.4, 0.9, 0.5], weights=[3, 3, 3, 3])
    assert alike == mean_interval([0.2, 0.4, 0.9, 0.5])
    uneven = mean_interval([0.0, 1.0, 0.5], weights=[1, 2, 1])
    assert uneven.estimate == pytest.approx(0.625)
    # Deviations of 3·share·(value − mean), as a ratio of sums is linearised.
    deviations = [0.75 * -0.625, 1.5 * 0.375, 0.75 * -0.125]
    assert uneven.standard_error == pytest.approx(math.sqrt(sum(d * d for d in deviations) / 2 / 3))


def test_without_any_spread_unseen_scenarios_bound_the_mean() -> None:
    found = mean_interval([1.0] * 20)
    # Clopper and Pearson's limit for no failure among 20.
    assert found.low == pytest.approx(stats.binomtest(20, 20).proportion_ci(0.95, "exact").low)
    assert (found.estimate, found.high) == (1, 1)
    assert found.rough == "all scenarios are alike"
    same_drop = mean_interval([-0.2] * 60, DIFFERENCES)
    assert -0.3 < same_drop.low < -0.2 < same_drop.high < -0.1


def test_one_scenario_says_nearly_nothing() -> None:
    found = mean_interval([0.5])
    assert (found.low, found.high) == pytest.approx((0.0125, 0.9875))
    assert found.rough == "a single scenario"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([0.05 * i for i in range(19)], "fewer than 20 scenarios"),
        ([1.0] * 16 + [0.1, 0.2, 0.3, 0.4], "fewer than 10 scenarios differ from the rest"),
        (
            [0.99 + 0.0001 * i for i in range(30)] + [0.0],
            "nearly all of the spread is in one or two scenarios",
        ),
        ([0.05 * i for i in range(20)], None),
    ],
)
def test_what_is_rough_is_called_rough(values: list[float], why: str | None) -> None:
    assert mean_interval(values).rough == why


def test_the_interval_stays_on_the_scale_and_holds_the_estimate() -> None:
    source = np.random.default_rng(3)
    for row in source.beta(0.2, 0.1, (500, 6)).tolist():
        found = mean_interval(row)
        assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_a_higher_level_is_wider() -> None:
    values = [0.1, 0.5, 0.9, 0.7, 0.6]
    narrow, wide = mean_interval(values, level=0.8), mean_interval(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize("scenarios", [10, 20, 50])
@pytest.mark.parametrize(("scale", "generator"), CASES, ids=IDS)
def test_coverage(scale: tuple[float, float], generator: Generator, scenarios: int, trials: int) -> None:
    """93 to 97 %; above that only where few scenarios differ at all, and the output says so."""
    found = drawn(generator, scale, scenarios, trials)
    share = covered(found, generator.truth)
    rough = sum(one.rough is not None for one in found) / len(found)
    assert share >= 0.93 - ALLOWANCE
    assert share <= 0.97 + ALLOWANCE or rough > 0.95, f"{share:.3f} covered, {rough:.2f} called rough"


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize(("scale", "generator"), CASES, ids=IDS)
def test_coverage_with_five_scenarios(scale: tuple[float, float], generator: Generator, trials: int) -> None:
    found = drawn(generator, scale, 5, trials)
    assert covered(found, generator.truth) >= 0.9 - ALLOWANCE
    assert all(one.rough for one in found)


def test_the_plain_percentile_bootstrap_would_not_do() -> None:
    """Why it is not used: on the same suites it covers far less."""
    generator = DIFFERENCE_GENERATORS[3]
    source = np.random.default_rng(4)
    rows = generator.draw(source, (400, 5), 10)
    hits = 0
    for row in rows:
        means = row[source.integers(0, 5, (300, 5))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        hits += bool(low <= generator.truth <= high)
    assert hits / 400 < 0.85


def test_where_few_scenarios_break_ten_are_too_few_and_fifty_are_not() -> None:
    """The known limit: what broke may not be among ten scenarios, and nothing in them shows it."""
    ten = drawn(FEW_BROKE, DIFFERENCES, 10, 10)
    assert 0.8 < covered(ten, FEW_BROKE.truth) < 0.93
    assert all(one.rough for one in ten)
    for scenarios in (20, 50):
        assert covered(drawn(FEW_BROKE, DIFFERENCES, scenarios, 10), FEW_BROKE.truth) >= 0.93 - ALLOWANCE


@pytest.mark.parametrize("scenarios", [5, 10, 30])
def test_without_a_change_false_alarms_stay_under_five_percent(scenarios: int) -> None:
    unchanged = DIFFERENCE_GENERATORS[1]
    for trials in (1, 3, 10):
        found = drawn(unchanged, DIFFERENCES, scenarios, trials)
        assert sum(one.high < 0 for one in found) / len(found) < 0.05
