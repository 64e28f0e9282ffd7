"""A progress bar, only on a terminal and only when the work takes longer than a moment."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOMENT = 0.5


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """Yields what to call with the number of bytes done; None where nobody would see it.

    `total` is None where it is not known beforehand.
    """
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

    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total = what, total
        self._next = time.monotonic() + MOMENT
        self._shown = False

    def advance(self, done: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next, self._shown = now + 0.1, True
        sys.stderr.write(f"\r{self._what} {self._bar(done)}\x1b[K")
        sys.stderr.flush()

    def _bar(self, done: int) -> str:
        if not self._total:
            return f"{done / 1e6:.1f} MB"
        filled = 30 * done // self._total
        return f"{'█' * filled}{'░' * (30 - filled)} {100 * done // self._total} %"

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
