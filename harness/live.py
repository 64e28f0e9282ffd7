"""How a run goes, on standard error: one line that renews itself on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable

from harness.console import one_line
from harness.evaluate import Display, Why
from harness.plan import Plan, Trial
from harness.score import ScoredTrial

REDRAW = 0.1
PLAIN_EVERY = 10.0
SHOWN_ERRORS = 10
SHOWN_RUNNING = 3

_RESUMED = {
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
        self._clock = clock
        self._began = clock()
        self._next = self._began + (REDRAW if self._terminal else PLAIN_EVERY)
        self._total = self._done = self._errors = 0
        self._running: dict[str, None] = {}
        self._drawn = False

    def planned(self, plan: Plan, why: dict[Why, int]) -> None:
        """On resuming, say what is run again and why."""
        self._total = plan.size
        if set(why) != {"new"} and not self._quiet:
            for reason, count in why.items():
                self._say(f"{count} trials {_RESUMED[reason]}")

    def started(self, trial: Trial) -> None:
        """A trial begins."""
        self._running[trial.name] = None
        self._draw()

    def scored(self, trial: Trial, scored: ScoredTrial) -> None:
        """A trial is done and scored; an error is said at once."""
        self._running.pop(trial.name, None)
        self._done += 1
        if scored.status == "error":
            self._errors += 1
            if self._errors <= SHOWN_ERRORS and not self._quiet:
                self._say(f"error in {trial.name}: {one_line(scored.report().error or '')}")
            if self._errors == SHOWN_ERRORS + 1 and not self._quiet:
                self._say("more errors; they are all in the report")
        self._draw()

    def close(self) -> None:
        """Leave nothing of the renewed line behind."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def _draw(self) -> None:
        now = self._clock()
        if now < self._next or self._quiet:
            return
        if self._terminal:
            self._next = now + REDRAW
            sys.stderr.write(f"\r{one_line(self._line(now), 110)}\x1b[K")
            self._drawn = True
        else:
            self._next = now + PLAIN_EVERY
            sys.stderr.write(f"synthesis: {self._line(now)}\n")
        sys.stderr.flush()

    def _line(self, now: float) -> str:
        gone = now - self._began
        left = gone / self._done * (self._total - self._done) if self._done else None
        names = list(self._running)
        running = ", ".join(names[:SHOWN_RUNNING]) + (
            f" +{len(names) - SHOWN_RUNNING}" if len(names) > SHOWN_RUNNING else ""
        )
        return (
            f"{self._done}/{self._total} trials · {self._errors} errors · {_minutes(gone)} gone"
            + (f" · about {_minutes(left)} left" if left is not None else "")
            + (f" · running {running}" if running else "")
        )

    def _say(self, text: str) -> None:
        self.close()
        sys.stderr.write(f"synthesis: {one_line(text, 400)}\n")
        sys.stderr.flush()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
