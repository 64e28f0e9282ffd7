"""How a run goes, on standard error: one line that renews itself on a terminal, plain lines elsewhere."""

import asyncio
import shutil
import sys
import time
from collections.abc import Callable

from harness.console import counted, one_line, say
from harness.evaluate import Display
from harness.plan import Plan, Trial
from harness.recorded_run import Why
from harness.score import ScoredTrial

REDRAW = 0.1
PLAIN_EVERY = 10.0
SHOWN_ERRORS = 10
SHOWN_RUNNING = 3

_RESUMED: dict[Why, str] = {
    "kept": "scored again from their transcripts",
    "new": "run for the first time",
    "unfinished": "run again: unfinished",
    "failed": "run again: ended in an error",
    "changed": "run again: the scenario or its subject changed",
}


class LiveDisplay(Display):
    """Progress, what runs, errors so far, time gone and time left."""

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._every = REDRAW if self._terminal else PLAIN_EVERY
        self._clock = clock
        self._began = self._running_since = clock()
        self._next = self._began + self._every
        self._total = self._done = self._kept = self._errors = 0
        self._running: dict[str, None] = {}
        self._drawn = False

    async def tick(self) -> None:
        """Until cancelled: time goes on while long trials run."""
        while not self._quiet:
            await asyncio.sleep(max(0.0, self._next - self._clock()))
            self._draw()

    def planned(self, plan: Plan) -> None:
        """So many trials there are."""
        self._total = plan.size

    def resumed(self, why: dict[Why, int]) -> None:
        """Say what is run again and why; what was only scored says nothing about the time left."""
        self._running_since = self._clock()
        for reason, count in why.items():
            if not self._quiet:
                self.note(f"{counted(count, 'trial')} {_RESUMED[reason]}")

    def started(self, trial: Trial) -> None:
        """A trial begins."""
        self._running[trial.name] = None
        self._draw()

    def kept(self, trial: Trial, scored: ScoredTrial) -> None:
        """A trial of an earlier run stands."""
        self._kept += 1
        self.scored(trial, scored)

    def scored(self, trial: Trial, scored: ScoredTrial) -> None:
        """A trial is done and scored; an error is said at once."""
        self._running.pop(trial.name, None)
        self._done += 1
        if scored.status == "error":
            self._errors += 1
            if self._errors <= SHOWN_ERRORS and not self._quiet:
                self.note(f"error in {trial.name}: {one_line(scored.report().error or '')}")
            if self._errors == SHOWN_ERRORS + 1 and not self._quiet:
                self.note("more errors; they are all in the report")
        self._draw()

    def note(self, text: str) -> None:
        """A line that stays."""
        self.close()
        say(f"synthesis: {one_line(text, 400)}\n")

    def close(self) -> None:
        """Leave nothing of the renewed line behind."""
        if self._drawn:
            say("\r\x1b[K")
            self._drawn = False

    def _draw(self) -> None:
        now = self._clock()
        if now < self._next or self._quiet:
            return
        self._next = now + self._every
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            say(f"\r{one_line(self._line(now), width)}\x1b[K")
            self._drawn = True
        else:
            say(f"synthesis: {self._line(now)}\n")

    def _line(self, now: float) -> str:
        run = self._done - self._kept
        left = (now - self._running_since) / run * (self._total - self._done) if run else None
        names = list(self._running)
        running = ", ".join(names[:SHOWN_RUNNING]) + (
            f" +{len(names) - SHOWN_RUNNING}" if len(names) > SHOWN_RUNNING else ""
        )
        return (
            f"{self._done}/{counted(self._total, 'trial')} · {counted(self._errors, 'error')}"
            f" · {minutes(now - self._began)} gone"
            + (f" · about {minutes(left)} left" if left is not None else "")
            + (f" · running {running}" if running else "")
        )


def minutes(seconds: float) -> str:
    """A time as people read it on a clock."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
