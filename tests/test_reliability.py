"""Kappa and alpha, against published examples and by hand."""

import random
from collections.abc import Sequence
from itertools import permutations, product

import pytest

from harness.reliability import Metric, alpha, interval, kappa, nominal

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units, a dot where
# an observer said nothing. The last unit has a single rating.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[float(value) for value in ratings if value != "."] for ratings in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("metric", "published"), [(nominal, 0.743), (interval, 0.849)])
def test_four_observers_with_missing_ratings(metric: Metric, published: float) -> None:
    assert len(UNITS) == 12
    found = alpha(UNITS, metric)
    assert found is not None
    assert round(found, 3) == published


def test_two_observers_who_say_yes_or_no() -> None:
    """The same paper's first example: agreement of 60 % that is hardly better than chance."""
    units = [(float(a), float(b)) for a, b in zip("0100000010", "1110010000", strict=True)]
    assert alpha(units) == 0.0952


def test_two_observers_with_five_categories() -> None:
    """The same paper's second example."""
    units = [(float(ord(a)), float(ord(b))) for a, b in zip("aabbdcccedda", "babbbccceddd", strict=True)]
    assert alpha(units) == 0.692


def test_a_unit_with_a_single_rating_changes_nothing() -> None:
    assert alpha([*UNITS, [4.0], []], nominal) == alpha(UNITS, nominal)
    assert alpha([*UNITS, [400.0]], interval) == alpha(UNITS, interval)


def table(both: int, only_first: int, only_second: int, neither: int) -> list[tuple[float, float]]:
    rows = [(1.0, 1.0)] * both + [(1.0, 0.0)] * only_first
    return rows + [(0.0, 1.0)] * only_second + [(0.0, 0.0)] * neither


@pytest.mark.parametrize(
    ("pairs", "by_hand"),
    [
        (table(20, 5, 10, 15), 0.4),  # agreed 35/50, by chance 25*30/2500 + 25*20/2500 = 0.5
        (table(45, 15, 25, 15), 0.1304),  # agreed 0.60, by chance 0.6*0.7 + 0.4*0.3 = 0.54: 6/46
        (table(25, 35, 5, 35), 0.2593),  # agreed 0.60, by chance 0.6*0.3 + 0.4*0.7 = 0.46: 14/54
        (table(3, 0, 0, 4), 1.0),
        (table(0, 3, 3, 0), -1.0),
        (table(4, 0, 0, 0), None),
        (table(3, 2, 0, 0), 0.0),
        ([], None),
    ],
)
def test_kappa_by_hand(pairs: list[tuple[float, float]], by_hand: float | None) -> None:
    assert kappa(pairs) == by_hand


def test_kappa_of_points_is_weighted_by_squares() -> None:
    # squared distances 0, 1, 0, 4 have mean 1.25; of all 16 pairs of (1, 2, 3, 5) and (1, 3, 3, 3):
    # 0+4+4+4 + 1+1+1+1 + 4+0+0+0 + 16+4+4+4 = 48, mean 3; 1 - 1.25/3.
    pairs = [(1.0, 1.0), (2.0, 3.0), (3.0, 3.0), (5.0, 3.0)]
    assert kappa(pairs, interval) == 0.5833
    assert kappa(pairs, nominal) == 0.3333  # agreed 0.5, by chance (1*1 + 1*3) / 16 = 0.25


def slow_alpha(units: Sequence[Sequence[float]], metric: str) -> float:
    """By the definition, pair by pair."""

    def distance(first: float, second: float) -> float:
        return float(first != second) if metric == "nominal" else (first - second) ** 2

    compared = [unit for unit in units if len(unit) > 1]
    every = [value for unit in compared for value in unit]
    observed = sum(
        sum(distance(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1) for unit in compared
    )
    by_chance = sum(distance(*pair) for pair in product(every, repeat=2)) / (len(every) - 1)
    return 1 - observed / by_chance


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", [nominal, interval])
def test_alpha_is_what_the_definition_gives(seed: int, metric: Metric) -> None:
    chance = random.Random(seed)
    units = [[chance.choice([0.0, 0.25, 1.0]) for _ in range(chance.randint(0, 5))] for _ in range(30)]
    assert alpha(units, metric) == pytest.approx(slow_alpha(units, metric.__name__), abs=0.00006)


@pytest.mark.parametrize("metric", [nominal, interval])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3])
def test_nothing_can_be_said_where_nothing_varies(metric: Metric, value: float) -> None:
    assert alpha([(value, value)] * 7, metric) is None
    assert kappa([(value, value)] * 7, metric) is None
    assert alpha([], metric) is None


def test_how_far_two_lots_are_apart() -> None:
    assert nominal([1.0, 2.0], [1.0, 3.0, 1.0]) == 4
    assert interval([1.0], [2.0, 4.0]) == pytest.approx(1 + 9)
    assert interval([2.0, 4.0], [1.0]) == pytest.approx(1 + 9)


def test_alpha_of_points_does_not_depend_on_the_scale() -> None:
    scaled = [[value * 1000 + 5 for value in unit] for unit in UNITS]
    assert alpha(scaled, interval) == alpha(UNITS, interval)


def test_a_figure_is_never_minus_nought() -> None:
    # 100 * 100 - 73 * 137 = -1: worse than chance by 0.00002, which rounds to nought
    assert str(kappa(table(100, 73, 137, 100))) == "0.0"
