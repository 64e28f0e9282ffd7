"""`--stop decided`: in which order trials are run, and when no further one can matter."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from harness.decide import Thresholds
from harness.looks import Look, plan_looks, settled_at
from harness.plan import Plan, Trial
from harness.run_report import ThresholdResult
from harness.score import ScoredTrial
from harness.settled import Settled
from harness.summarize import ScenarioScores


def in_rounds(plan: Plan, trials: Iterable[Trial]) -> list[Trial]:
    """The first seed of every scenario, then the second: what is known of the whole grows evenly."""
    rank = {
        (scenario.slug, seed): (number, place)
        for place, (scenario, seeds) in enumerate(plan.rows)
        for number, seed in enumerate(seeds)
    }
    return sorted(trials, key=lambda trial: rank[trial.scenario.slug, trial.seed])


@dataclass
class StopRule:
    """Told of every scored trial; knows when the run is decided.

    Without a confidence the rule is exact: nothing that could still come would change the exit code. With
    one, the data are looked at a few times, and the error rate is shared between the looks.
    """

    plan: Plan
    wanted: Thresholds
    rows: Callable[[], Sequence[ScenarioScores]]
    settled: tuple[ThresholdResult, ...] | None = None
    _looks: list[Look] = field(default_factory=list)

    def __post_init__(self) -> None:
        planned = {scenario.slug: len(seeds) for scenario, seeds in self.plan.rows}
        # Where looks decide, only errors and a trial below the worst are settled by themselves.
        required = self.wanted.asked
        if self.wanted.confidence is not None:
            required = {name: line for name, line in required.items() if name == "--min-worst"}
            self._looks = list(plan_looks(max(planned.values()), self.wanted.confidence))
        self._exact = Settled(planned, required, self.wanted.max_errors)
        self._rounds = {
            (scenario.slug, seed): number
            for scenario, seeds in self.plan.rows
            for number, seed in enumerate(seeds)
        }
        self._waiting = [0] * max(planned.values())
        for number in self._rounds.values():
            self._waiting[number] += 1

    @property
    def thresholds(self) -> Thresholds:
        """What the finished run is held to: at the last look's level, where there were others before it."""
        if self.wanted.confidence is None:
            return self.wanted
        seeds = max(len(seeds) for _, seeds in self.plan.rows)
        return replace(self.wanted, confidence=plan_looks(seeds, self.wanted.confidence)[-1].level)

    def decided_by(self, trial: Trial, scored: ScoredTrial) -> bool:
        """Take one more trial; whether the run is decided now."""
        self._exact.take(trial.scenario.slug, scored.score, error=scored.status == "error")
        self._waiting[self._rounds[trial.scenario.slug, trial.seed]] -= 1
        return self._exact.decided or self._look()

    def _look(self) -> bool:
        """The looks that are due, each once; the last needs none, since the run is at its end."""
        while len(self._looks) > 1 and not any(self._waiting[: self._looks[0].seeds]):
            self.settled = settled_at(self.rows(), self._looks.pop(0), self.wanted)
            if self.settled is not None:
                return True
        return False
