"""Which failures are tried again, and how long is waited before."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.retry import asked_to_wait, backoff, is_retried

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529, 599])
def test_a_busy_or_failing_server_is_asked_again(status: int) -> None:
    assert is_retried(status)


@pytest.mark.parametrize("status", [200, 301, 307, 400, 401, 402, 403, 404, 405, 413, 418, 422, 499, 600])
def test_what_would_fail_again_is_not(status: int) -> None:
    assert not is_retried(status)


@pytest.mark.parametrize(
    ("given_headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after-ms": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 13:00:30 +0100"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 -0000"}, None),
        ({"retry-after": "Sun, 99 Mar 2026 12:00:30 GMT"}, None),
    ],
)
def test_the_server_says_how_long(given_headers: dict[str, str], seconds: float | None) -> None:
    assert asked_to_wait(given_headers, NOW) == seconds


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ Mar \d+ \d+:\d+:\d+ [+-]?\w+"))
@example("Sun, 01 Mar 2026 12:00:00 +99999999999999999999")
@example("Sun, 01 Mar 9999 23:59:59 -2359")
@example("Sun, 01 Mar 0001 00:00:00 +2359")
def test_whatever_it_says_the_wait_is_a_number_of_seconds_or_none(text: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        wait = asked_to_wait({name: text}, NOW)
        assert wait is None or 0 <= wait < float("inf")


def test_each_wait_is_about_twice_the_last_up_to_half_a_minute() -> None:
    for attempt, longest in enumerate([0.5, 1, 2, 4, 8, 16, 30, 30, 30], 1):
        waits = [backoff(attempt, None, random.Random(seed)) for seed in range(50)]
        assert longest / 2 <= min(waits) < max(waits) <= longest
        assert len(set(waits)) > 40, "those that failed together do not come back together"
    assert backoff(1000, None, random.Random(1)) <= 30


@given(st.integers(1, 20), st.floats(0, 1e6), st.integers())
def test_a_wait_that_was_asked_for_is_kept_and_a_little_longer(attempt: int, asked: float, seed: int) -> None:
    assert asked <= backoff(attempt, asked, random.Random(seed)) <= asked * 1.1 + 1e-9


def test_no_wait_asked_for_is_no_wait() -> None:
    assert backoff(5, 0.0, random.Random(1)) == 0.0


def test_the_same_chance_gives_the_same_wait() -> None:
    assert backoff(3, None, random.Random("a/1/3")) == backoff(3, None, random.Random("a/1/3"))
    assert backoff(3, None, random.Random("a/1/3")) != backoff(3, None, random.Random("a/2/3"))
