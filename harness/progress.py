"""A progress bar, only on a terminal and only when the work takes longer than a moment."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOMENT = 0.5


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Yields what to call with the number done; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _LateBar(what, total)
    try:
        yield bar.advance
    finally:
        bar.close()


class _LateBar:
    """Appears after a moment, redraws at most ten times a second, and leaves nothing behind."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._next = time.monotonic() + MOMENT
        self._shown = False

    def advance(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next, self._shown = now + 0.1, True
        filled = 30 * done // max(1, self._total)
        bar = "█" * filled + "░" * (30 - filled)
        sys.stderr.write(f"\r{self._what} {bar} {done}/{self._total}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
