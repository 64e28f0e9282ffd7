"""Intervals and trends from sums are those that the conversations themselves would give."""

import math
import random

import pytest

from harness import audit_figures
from harness.audit_aggregate import LAST_TURN, CheckSums
from harness.audit_figures import Z, by_conversation, by_turn, effective_turns, trend, wilson

Held = list[bool | None]


def sums_of(conversations: list[Held]) -> CheckSums:
    sums = CheckSums()
    for held in conversations:
        sums.add_conversation(held)
    return sums


def some(seed: int, count: int = 200) -> list[Held]:
    """Conversations that differ in how often they fail, so that turns resemble each other."""
    chance = random.Random(seed)
    found: list[Held] = []
    for _ in range(count):
        often = chance.choice([0.02, 0.1, 0.8])
        found.append(
            [None if chance.random() < 0.2 else chance.random() >= often for _ in range(chance.randint(1, 9))]
        )
    return found


@pytest.mark.parametrize(
    ("failed", "size", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (15, 100, 0.0931, 0.2328), (10, 10, 0.7225, 1.0)],
)
def test_wilson_as_in_textbooks(failed: int, size: int, low: float, high: float) -> None:
    assert wilson(failed / size, size) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_variance_over_conversations_is_that_of_the_ratio_estimator(seed: int) -> None:
    conversations = [held for held in some(seed) if held.count(None) < len(held)]
    sums = sums_of(conversations)
    failed = [held.count(False) for held in conversations]
    applicable = [len(held) - held.count(None) for held in conversations]
    share, size = sum(failed) / sum(applicable), sum(applicable)
    spread = sum((y - share * m) ** 2 for y, m in zip(failed, applicable, strict=True))
    variance = len(failed) / (len(failed) - 1) * spread / size**2
    assert share * (1 - share) / variance < size / 1.5, "turns resemble each other, and it shows"
    assert effective_turns(sums) == pytest.approx(share * (1 - share) / variance)


def test_where_turns_resemble_each_other_the_interval_is_wider() -> None:
    sums = sums_of(some(1))
    narrow, wide = by_turn(sums), by_conversation(sums)
    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_single_turns_have_the_interval_of_independent_ones_nearly() -> None:
    sums = sums_of([[number % 4 != 0] for number in range(400)])
    assert effective_turns(sums) == pytest.approx(400, rel=0.01)
    assert by_conversation(sums) == pytest.approx(by_turn(sums), abs=1e-4)


def test_turns_are_never_worth_more_than_there_are() -> None:
    sums = sums_of([[True, False]] * 50)  # every conversation alike: the variance over them is none
    assert effective_turns(sums) == 100
    nearly: list[Held] = [[True, bool(number % 26 == 0)] for number in range(52)]
    assert effective_turns(sums_of(nearly)) == 104


@pytest.mark.parametrize("verdict", [True, False])
def test_where_all_are_the_same_each_conversation_counts_as_one(verdict: bool) -> None:
    sums = sums_of([[verdict] * 10] * 30)
    assert effective_turns(sums) == 30
    assert by_conversation(sums) == wilson(0.0 if verdict else 1.0, 30)


def test_one_conversation_says_as_much_as_one_turn() -> None:
    assert effective_turns(sums_of([[True, False, True]])) == 1


def test_without_a_turn_it_applies_to_there_is_no_figure() -> None:
    sums = sums_of([[None], [None, None]])
    assert (by_turn(sums), by_conversation(sums), effective_turns(sums)) == (None, None, None)
    assert audit_figures.rate(0, 0) is None
    assert (sums.conversations, sums.not_applicable) == (0, 3)


@pytest.mark.parametrize("seed", range(5))
def test_the_trend_is_that_of_the_conversations(seed: int) -> None:
    conversations = [held for held in some(seed) if len(held) >= 3]
    parts = [(held[: len(held) // 3], held[-(len(held) // 3) :]) for held in conversations]
    counts = [
        (first.count(False), len(first) - first.count(None), last.count(False), len(last) - last.count(None))
        for first, last in parts
    ]
    early_failed, early, late_failed, late = map(sum, zip(*counts, strict=True))
    first, last = early_failed / early, late_failed / late
    effects = [(d - last * c) / late - (b - first * a) / early for b, a, d, c in counts]
    error = math.sqrt(len(effects) / (len(effects) - 1) * sum(effect**2 for effect in effects))
    found = trend(sums_of(some(seed)))
    assert found.conversations == len(conversations)
    assert (found.early_failed, found.early_applicable) == (early_failed, early)
    assert (found.late_failed, found.late_applicable) == (late_failed, late)
    assert found.difference == pytest.approx(last - first, abs=1e-6)
    assert found.interval == pytest.approx((last - first - Z * error, last - first + Z * error), abs=2e-6)


def test_what_gets_worse_rises() -> None:
    worse: list[Held] = [[True, True, number % 2 == 0] for number in range(100)]
    found = trend(sums_of(worse))
    assert found.difference == 0.5
    assert found.interval is not None
    assert found.interval[0] > 0.3


def test_short_conversations_have_no_trend() -> None:
    two: list[Held] = [[True, False]]
    assert trend(sums_of(two * 10)).difference is None
    unjudged: list[Held] = [[None, True, None]]
    assert trend(sums_of(unjudged * 10)).difference is None


def test_turns_are_counted_by_their_number_and_late_ones_together() -> None:
    sums = sums_of([[*[True] * 20, *[False] * 5], [None, False]])
    assert sums.applicable_by_turn == [1, 2, *[1] * 18, 5]
    assert sums.failed_by_turn == [0, 1, *[0] * 18, 5]
    assert len(sums.applicable_by_turn) == LAST_TURN
