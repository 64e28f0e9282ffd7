"""Rates with 95 % intervals from sums, and how rates change in the course of a conversation.

Turns of one conversation resemble each other, so a turn says less than an independent case would. The
interval that is shown is Wilson's for as many independent turns as these are worth: the variance of the rate
is taken over conversations (the ratio of two sums, linearised), and compared with what it would be if turns
were independent. Where nothing or everything failed, resemblance cannot be seen; then each conversation
counts as one.
"""

import math
from dataclasses import dataclass

from harness.audit_aggregate import CheckSums

Z = 1.959963984540054
"""Of a normal distribution: 95 % lie between -Z and Z."""
_PLACES = 6
Interval = tuple[float, float]


def rate(failed: int, applicable: int) -> float | None:
    """Null where there is nothing to divide by."""
    return round(failed / applicable, _PLACES) if applicable else None


def wilson(share: float, size: float) -> Interval:
    """The interval for a share of `size` independent cases; `size` may be a fraction."""
    middle = (share + Z * Z / (2 * size)) / (1 + Z * Z / size)
    half = Z / (1 + Z * Z / size) * math.sqrt(share * (1 - share) / size + Z * Z / (4 * size * size))
    return round(max(0.0, middle - half), _PLACES), round(min(1.0, middle + half), _PLACES)


def by_turn(sums: CheckSums) -> Interval | None:
    """As if turns were independent."""
    if not sums.applicable:
        return None
    return wilson(sums.failed / sums.applicable, sums.applicable)


def effective_turns(sums: CheckSums) -> float | None:
    """How many independent turns the judged ones are worth: never more than there are, at least one."""
    size, clusters = sums.applicable, sums.conversations
    if not size:
        return None
    share = sums.failed / size
    if sums.failed in (0, size) or clusters < 2:
        return float(clusters)
    failed_squares, products, squares = sums.squares
    spread = failed_squares - 2 * share * products + share * share * squares
    variance = clusters / (clusters - 1) * spread / (size * size)
    if variance <= 0:
        return float(size)
    return min(float(size), max(1.0, share * (1 - share) / variance))


def by_conversation(sums: CheckSums) -> Interval | None:
    """The interval that is shown."""
    size = effective_turns(sums)
    return None if size is None else wilson(sums.failed / sums.applicable, size)


@dataclass(frozen=True)
class Trend:
    """The first third of the turns against the last, in conversations of three turns and more."""

    conversations: int
    early_failed: int
    early_applicable: int
    late_failed: int
    late_applicable: int
    difference: float | None
    interval: Interval | None


def trend(sums: CheckSums) -> Trend:
    """How much more often late turns fail than early ones; its variance is taken over conversations too."""
    number, early_failed, early, late_failed, late, *products = sums.thirds
    if not early or not late:
        return Trend(number, early_failed, early, late_failed, late, None, None)
    first, last = early_failed / early, late_failed / late
    # What one conversation adds to the difference, by its early failed, early, late failed and late.
    weights = (-1 / early, first / early, 1 / late, -last / late)
    pairs = [(one, two) for one in range(4) for two in range(one, 4)]
    spread = math.fsum(
        (1 if one == two else 2) * weights[one] * weights[two] * product
        for (one, two), product in zip(pairs, products, strict=True)
    )
    difference = last - first
    interval = None
    if number > 1 and spread > 0:
        half = Z * math.sqrt(number / (number - 1) * spread)
        interval = (
            round(max(-1.0, difference - half), _PLACES),
            round(min(1.0, difference + half), _PLACES),
        )
    return Trend(number, early_failed, early, late_failed, late, round(difference, _PLACES), interval)
