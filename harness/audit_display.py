"""How an audit goes, on standard error: one line that renews itself on a terminal, plain lines elsewhere."""

import shutil
import sys
import time
from collections.abc import Callable

from harness.audit import AuditDisplay, AuditPlan
from harness.audit_aggregate import Aggregate
from harness.console import one_line, say
from harness.live import PLAIN_EVERY, REDRAW, minutes
from harness.progress import MOMENT

_MEGABYTE = 10**6


class LiveAuditDisplay(AuditDisplay):
    """Bytes done, conversations, turns a second, time gone and time left where the size is known."""

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._clock = clock
        self._began = self._drawn_at = clock()
        self._next = self._began + (MOMENT if self._terminal else PLAIN_EVERY)
        self._total: int | None = None
        self._done = self._drawn = 0
        self._turns_before = 0
        self._shown = False

    def planned(self, plan: AuditPlan, sums: Aggregate) -> None:
        """Compressed files and streams do not say how much is in them."""
        sizes = [each.size if each.compression is None else None for each in plan.inputs]
        known = [size for size in sizes if size is not None]
        self._total = sum(known) if len(known) == len(sizes) else None
        self._began = self._clock()
        self._turns_before = sums.counts["turns"]

    def drawing(self, size: int) -> None:
        """The first pass; the second one's time begins when this is over."""
        self._drawn += size
        self._draw(lambda gone: f"drawing a sample: {self._amount(self._drawn)} · {minutes(gone)} gone")
        self._drawn_at = self._clock()

    def audited(self, size: int, skipped: int, sums: Aggregate) -> None:
        """The second pass, or the only one."""
        if not self._done:
            self._began = max(self._began, self._drawn_at)
        self._done += size
        self._draw(lambda gone: self._line(gone, skipped, sums))

    def note(self, text: str) -> None:
        """A line that stays."""
        self.close()
        say(f"synthesis: {one_line(text, 400)}\n")

    def close(self) -> None:
        """Leave nothing of the renewed line behind."""
        if self._shown:
            say("\r\x1b[K")
            self._shown = False

    def _amount(self, done: int) -> str:
        total = "" if self._total is None else f" of {self._total / _MEGABYTE:.1f}"
        return f"{done / _MEGABYTE:.1f}{total} MB"

    def _line(self, gone: float, skipped: int, sums: Aggregate) -> str:
        counts = sums.counts
        rate = (counts["turns"] - self._turns_before) / gone if gone > 0 else 0.0
        line = f"{self._amount(self._done + skipped)} · {counts['conversations']} conversations"
        line += f" · {rate:.0f} turns/s"
        if counts["rejected"]:
            line += f" · {counts['rejected']} rejected"
        line += f" · {minutes(gone)} gone"
        if self._total and self._done:
            left = max(0.0, gone / self._done * (self._total - skipped - self._done))
            line += f" · about {minutes(left)} left"
        return line

    def _draw(self, line: Callable[[float], str]) -> None:
        now = self._clock()
        if self._quiet or now < self._next:
            return
        self._next = now + (REDRAW if self._terminal else PLAIN_EVERY)
        text = line(now - self._began)
        if self._terminal:
            say(f"\r{one_line(text, shutil.get_terminal_size().columns - 1)}\x1b[K")
            self._shown = True
        else:
            say(f"synthesis: {text}\n")
