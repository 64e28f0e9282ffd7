"""A reply made to be slow is not: a megabyte takes less than a second, and time grows with length.

CPU time of this process, the best of three, so that a busy machine does not decide.
"""

import time
from collections.abc import Callable

import pytest

from harness import check_turn
from harness.text import fold

MEGABYTE = 1_000_000
USER = "My dad died and I can't sleep."

HOSTILE: dict[str, Callable[[int], str]] = {
    "one word again and again": lambda size: ("you " * size)[:size],
    "starts of promises that never come": lambda size: (
        "you will you'll it is going to be ".ljust(34) * size
    )[:size],
    "nothing but sentence ends": lambda size: ("!?." * size)[:size],
    "one letter sentences": lambda size: ("a. " * size)[:size],
    "numbered list without end": lambda size: (" 1. x" * size)[:size],
    "spaces": lambda size: "x" + " " * size,
    "quotation marks that never close": lambda size: (' "a' * size)[:size],
    "apostrophes": lambda size: (" 'a" * size)[:size],
    "line breaks": lambda size: ("\n- " * size)[:size],
    "one endless word": lambda size: "a" * size,
    "emphasis marks": lambda size: ("*_" * size)[:size],
    "emoji": lambda size: ("🙏🏽" * size)[:size],
    "an ordinary paragraph": lambda size: (
        "That sounds hard. Do you want to talk about your dad, or rest a bit? " * size
    )[:size],
    "orders": lambda size: ("Stop crying and go to bed now, then call her. " * size)[:size],
}


def seconds(text: str, check: str) -> float:
    """CPU seconds of one check, the best of three."""
    taken = []
    for _ in range(3):
        fold.cache_clear()
        began = time.process_time()
        check_turn(USER, text, checks=[check])
        taken.append(time.process_time() - began)
    return min(taken)


def reference() -> float:
    """What takes a second on a quiet machine of today takes this long on the one we are on."""
    began = time.process_time()
    total = 0
    for number in range(2_000_000):
        total += number & 7
    assert total == 7_000_000
    return 10 * (time.process_time() - began)


@pytest.mark.parametrize("check", ["agency_language", "unverifiable_reassurance", "topic_pivot"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_is_quick_and_time_grows_with_length(name: str, check: str) -> None:
    check_turn(USER, "Warm up.", checks=[check])
    quarter = seconds(HOSTILE[name](MEGABYTE // 4), check)
    whole = seconds(HOSTILE[name](MEGABYTE), check)
    assert whole < max(1.0, reference())
    assert whole < 8 * quarter + 0.05
