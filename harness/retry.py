"""When a request is made again, and how long to wait before it."""

import random
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime

RETRIED = frozenset({408, 409, 429})
_FIRST = 0.5
_LONGEST = 30.0


def is_retried(status: int) -> bool:
    """Worth another try: the server was busy, or failed."""
    return status in RETRIED or 500 <= status <= 599


def asked_to_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `Retry-After`, which is a number or a date; None where it says nothing sensible."""
    given = headers.get("retry-after", "")
    for text, unit in ((headers.get("retry-after-ms", ""), 1000), (given, 1)):
        with suppress(ValueError):
            wait = float(text) / unit
            return wait if 0 <= wait < float("inf") else None
    with suppress(ValueError, TypeError, OverflowError):
        return max((parsedate_to_datetime(given) - now).total_seconds(), 0.0)
    return None


def backoff(attempt: int, asked: float | None, chance: random.Random) -> float:
    """Twice as long each time, spread so that trials that failed together do not come back together."""
    grown = min(_FIRST * 2 ** (attempt - 1), _LONGEST)
    if asked is not None:
        return asked + chance.uniform(0, min(grown, asked / 10))
    return chance.uniform(grown / 2, grown)
