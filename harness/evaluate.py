"""The whole line for scenarios: run what has to be run, score everything, sum up, decide, write."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from harness.conclude import Conclusion, conclude, make_stamp, model_seconds, turns_latency_ms
from harness.decide import RunOutcome, Thresholds, reaches
from harness.judging import Judging
from harness.plan import Plan, Trial
from harness.recorded_run import Why, earlier
from harness.run import RunOptions, run_trials
from harness.run_report import RunTiming
from harness.score import ScoredTrial, Scoring, judge_and_score
from harness.settings import CheckSettings
from harness.spending import Prices, Usage, total, usage_of
from harness.stopping import StopRule, in_rounds
from harness.summarize import ScenarioScores
from harness.transcript import Transcript, read_transcript
from harness.workers import Stop, work_off
from harness.workspace import remove_workspace

KeepWorkspaces = Literal["always", "failed", "never"]


@dataclass(frozen=True)
class EvaluationOptions:
    """How a plan is evaluated."""

    run: RunOptions
    settings: CheckSettings = CheckSettings()
    thresholds: Thresholds = Thresholds()
    keep_workspaces: KeepWorkspaces = "always"
    fail_fast: bool = False
    resume: bool = False
    stop_decided: bool = False
    prices: Prices = field(default_factory=dict)

    @property
    def scoring(self) -> Scoring:
        """What scoring reads beside the transcript."""
        return Scoring(self.settings, self.prices, redactor=self.run.models.redactor)

    def judging(self, trial: Trial) -> Judging:
        """What judges said is kept beside the transcripts; they have as long as the trial had."""
        return Judging(self.run.models, self.run.place.judgments, seconds=self.run.seconds_for(trial))


class Display:
    """Who shows how it goes; this one shows nothing."""

    def planned(self, plan: Plan) -> None:
        """What is about to happen."""

    def resumed(self, why: dict[Why, int]) -> None:
        """How many trials of an earlier run are run again and why; those that are kept are scored by now."""

    def kept(self, trial: Trial, scored: ScoredTrial) -> None:
        """A trial of the earlier run stands and was only scored."""

    def started(self, trial: Trial) -> None:
        """A trial begins."""

    def scored(self, trial: Trial, scored: ScoredTrial) -> None:
        """A trial is done and scored."""


@dataclass
class Evaluation:
    """A run in the making: collects scores as trials finish."""

    plan: Plan
    options: EvaluationOptions
    display: Display = field(default_factory=Display)
    stop: Stop = field(default_factory=Stop)

    def __post_init__(self) -> None:
        self._scores: dict[str, dict[int, ScoredTrial]] = {}
        self._started = datetime.now(UTC)
        self._clock = self._last = time.perf_counter()
        self._first: float | None = None
        self._unscored: Usage | None = None
        self.options.run.models.ended = self.stop.ask
        self._rule = (
            StopRule(self.plan, self.options.thresholds, self.rows) if self.options.stop_decided else None
        )
        self.under_way = False
        """Whether trials can have been run; before that there is nothing to report."""

    async def run(self) -> None:
        """Every trial that has to be run; those already there are only scored."""
        self.display.planned(self.plan)
        try:
            waiting = await self._go_on() if self.options.resume else self.plan.trials()
            if self._rule is not None:
                waiting = in_rounds(self.plan, waiting)
            self.under_way = True
            await self.run_trials(waiting)
        finally:
            await self.options.run.models.close()

    async def run_trials(self, waiting: Iterable[Trial]) -> None:
        """Here, a few at once."""
        await run_trials(waiting, self.options.run, self, self.stop)

    async def _go_on(self) -> list[Trial]:
        """Score what stands; gives what has to be run.

        Where somebody has to be asked, that is left to workers, who read the transcript again: all of them at
        once would fill the memory.
        """
        waiting: list[Trial] = []
        to_judge: list[Trial] = []
        why: dict[Why, int] = {}
        for trial in self.plan.trials():
            reason, transcript = earlier(trial, self.options.run.place)
            why[reason] = why.get(reason, 0) + 1
            if transcript is None:
                waiting.append(trial)
            elif any(criterion.asks for criterion in trial.scenario.criteria):
                to_judge.append(trial)
            else:
                await self._keep(trial, transcript)
        self.under_way = bool(to_judge)
        await work_off(to_judge, self._judge_again, self.options.run.jobs, self.stop)
        if not self.stop.reason:
            self.display.resumed(why)
        return waiting

    async def _judge_again(self, trial: Trial) -> None:
        self.display.started(trial)
        await self._keep(trial, read_transcript(self.options.run.place.transcript(trial)))

    async def _keep(self, trial: Trial, transcript: Transcript) -> None:
        if (scored := await self._take(trial, transcript)) is not None:
            self.display.kept(trial, scored)

    def started(self, trial: Trial) -> None:
        """A trial begins."""
        if self._first is None:
            self._first = time.perf_counter()
        self.display.started(trial)

    async def finished(self, trial: Trial, transcript: Transcript) -> None:
        """A trial came to an end: score it now, while others still run."""
        self._last = time.perf_counter()
        if transcript.end is None or transcript.end["reason"] == "interrupted":
            used = usage_of(transcript.of_type("attempt"), self.options.prices)
            self._unscored = total([self._unscored, used])
            return
        scored = await self._take(trial, transcript)
        if scored is None:
            return
        self.display.scored(trial, scored)
        self._tidy(trial, scored)
        if self.options.fail_fast and self._is_final_failure(scored):
            self.stop.ask("fail-fast")

    async def _take(self, trial: Trial, transcript: Transcript) -> ScoredTrial | None:
        """The trial's score; None where the run ends before a judge can be asked."""
        options = self.options
        path = options.run.place.transcript_name(trial)
        judging = options.judging(trial)
        scored = await judge_and_score(transcript, trial.scenario.criteria, judging, options.scoring, path)
        if scored is not None:
            self.note_score(trial, scored)
        return scored

    def note_score(self, trial: Trial, scored: ScoredTrial) -> None:
        """Keep a score; where that decides the run, nothing more is started."""
        self._scores.setdefault(trial.scenario.slug, {})[trial.seed] = scored
        if self._rule is not None and self.stop.reason is None and self._rule.decided_by(trial, scored):
            self.stop.ask("decided")

    def _is_final_failure(self, scored: ScoredTrial) -> bool:
        """An error, or a trial that alone breaks --min-worst."""
        lowest = self.options.thresholds.min_worst
        return scored.status == "error" or (
            lowest is not None and scored.score is not None and not reaches(scored.score, lowest)
        )

    def _tidy(self, trial: Trial, scored: ScoredTrial) -> None:
        keep = self.options.keep_workspaces
        lost = scored.status == "error" or (scored.score is not None and scored.score < 1)
        if keep == "never" or (keep == "failed" and not lost):
            with suppress(OSError):  # a folder that will not go is no reason to end a run
                remove_workspace(self.options.run.place.workspace(trial))

    def rows(self) -> list[ScenarioScores]:
        """What there is so far, in the order of the plan."""
        return [
            ScenarioScores(scenario, seeds, tuple(found[seed] for seed in seeds if seed in found))
            for scenario, seeds in self.plan.rows
            for found in (self._scores.get(scenario.slug, {}),)
        ]

    def finish(self) -> RunOutcome:
        """Sum up, decide, and write the report in one step."""
        if self.options.keep_workspaces != "always":
            self.options.run.place.remove_empty_workspaces()
        target = self.options.run.place.report
        timing = RunTiming(
            started=self._started.isoformat(timespec="milliseconds"),
            seconds=round(time.perf_counter() - self._clock, 6),
            trials_seconds=None if self._first is None else round(self._last - self._first, 6),
            model_seconds=model_seconds(self.rows()),
            turns_latency_ms=turns_latency_ms(self.rows()),
        )
        stamp = make_stamp(self.plan.scenarios, self.options.settings)
        conclusion = Conclusion(
            target,
            self._rule.thresholds if self._rule else self.options.thresholds,
            stamp,
            timing,
            self.stop.reason,
            self._unscored,
            self.options.run.models.redactor,
            self._rule.settled if self._rule else None,
        )
        return conclude(self.rows(), conclusion)
