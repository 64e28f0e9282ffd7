"""When the trials that are left can no longer change an outcome. Exact: a score lies between 0 and 1, and a
trial that is still to come may also turn out not to apply."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.summarize import SLACK, mean

_HOLDS_FROM = 5e-8
_FAILS_FROM = 1.2e-6
"""Reports round to six places and allow for that; a bound this far on either side stays there."""


@dataclass(slots=True)
class Tally:
    """The scores so far, and how many trials are still to come."""

    remaining: int
    scores: list[float] = field(default_factory=list)
    total: float = 0.0

    def take(self, score: float | None) -> None:
        """One trial is done; null where it has no score."""
        self.remaining -= 1
        if score is not None:
            self.scores.append(score)
            self.total += score

    def reaches(self, required: float) -> bool | None:
        """Whether the mean will reach it, whatever comes; null where that is still open.

        Lowest where all that is left scores 0, highest where it scores 1. With no score yet there may never
        be one, which holds nothing and fails nothing.
        """
        if not self.scores:
            return None
        if not self.remaining:
            return (mean(self.scores) or 0.0) >= required - SLACK
        trials = len(self.scores) + self.remaining
        if self.total / trials >= required - _HOLDS_FROM:
            return True
        return False if (self.total + self.remaining) / trials < required - _FAILS_FROM else None


class Settled:
    """Follows a run and knows which of its thresholds are settled, with constant work a trial."""

    def __init__(self, planned: Mapping[str, int], required: Mapping[str, float], max_errors: int) -> None:
        self._required = required
        self._max_errors = max_errors
        self._all = Tally(sum(planned.values()))
        self._scenarios = {name: Tally(number) for name, number in planned.items()}
        self._open = set(self._scenarios)
        self._below = False
        self._lowest = 1.0
        self._errors = 0

    def take(self, scenario: str, score: float | None, *, error: bool = False) -> None:
        """One trial is done; an error has no score."""
        tally = self._scenarios[scenario]
        for found in (self._all, tally):
            found.take(score)
        self._errors += error
        if score is not None:
            self._lowest = min(self._lowest, score)
        line = self._required.get("--min-scenario-mean")
        if line is not None:
            reached = tally.reaches(line)
            self._below = self._below or reached is False
            if reached or not tally.remaining:
                self._open.discard(scenario)

    def state(self, threshold: str) -> bool | None:
        """Whether a threshold will hold, whatever comes; null where that is still open."""
        line = self._required[threshold]
        if line <= 0:  # nothing is below; but a run without any score holds nothing
            return True if self._all.scores else None
        if threshold == "--min-mean":
            return self._all.reaches(line)
        if threshold == "--min-worst":
            below = self._lowest < line - _FAILS_FROM
            return False if below else None if self._all.remaining else True
        return False if self._below else None if self._open else True

    @property
    def decided(self) -> bool:
        """Whether the exit code is: too many errors, one threshold that fails, or all that hold."""
        if self._errors > self._max_errors:
            return True
        states = [self.state(name) for name in self._required]
        return False in states or (bool(states) and None not in states)
