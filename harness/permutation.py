"""The paired sign-flip test: had nothing changed, a scenario's difference could as well be its negative."""

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

EXACT_UP_TO = 20
DRAWS = 9_999
_FEWER_DRAWS = 1_999
_MANY = 2_000
_GROUP = 8
_SLACK = 1e-9
"""Sums of the same numbers in another order differ in the last bits and must count as equal."""


@dataclass(frozen=True)
class SignFlip:
    """The two-sided p-value; `draws` is null where every flip was counted."""

    p: float
    draws: int | None

    @property
    def exact(self) -> bool:
        """Whether every flip was counted."""
        return self.draws is None


def sign_flip(differences: Sequence[float], seed: int = 1) -> SignFlip:
    """Over one difference a scenario. A scenario that does not differ has nothing to flip."""
    moved = [difference for difference in differences if difference]
    if not moved:
        return SignFlip(1.0, None)
    observed = abs(math.fsum(moved)) - _SLACK * math.fsum(map(abs, moved))
    if len(moved) <= EXACT_UP_TO:
        return SignFlip(_exact(moved, observed), None)
    draws = DRAWS if len(moved) <= _MANY else _FEWER_DRAWS
    # The observed signs are one of the possible ones: counting them keeps p above 0 and the test valid.
    return SignFlip((1 + _drawn(moved, observed, draws, random.Random(seed))) / (draws + 1), draws)  # noqa: S311


def _exact(moved: Sequence[float], observed: float) -> float:
    """Every flip is one half's sum plus the other's: a thousand and a thousand instead of a million."""
    half = len(moved) // 2
    left, right = _sums(moved[:half]), sorted(_sums(moved[half:]))
    extreme = sum(
        len(right) - bisect_left(right, observed - sum_) + bisect_right(right, -observed - sum_)
        for sum_ in left
    )
    return min(1.0, extreme / (len(left) * len(right)))


def _sums(values: Sequence[float]) -> list[float]:
    """The sums under every choice of signs; bit i of the index is the sign of value i."""
    sums = [0.0]
    for value in values:
        sums = [sum_ + value for sum_ in sums] + [sum_ - value for sum_ in sums]
    return sums


def _drawn(moved: Sequence[float], observed: float, draws: int, source: random.Random) -> int:
    """How many draws of all signs are as far out; a byte chooses the signs of eight at once."""
    tables = [_sums(moved[first : first + _GROUP]) for first in range(0, len(moved), _GROUP)]
    tables = [table * (2**_GROUP // len(table)) for table in tables]
    return sum(
        abs(sum(map(list.__getitem__, tables, source.randbytes(len(tables))))) >= observed
        for _ in range(draws)
    )
