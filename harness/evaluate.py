"""The whole line for scenarios: run what has to be run, score everything, sum up, decide, write."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson

from harness.check import lexicon_stamp
from harness.criteria.judge import Judge
from harness.criterion import CheckerCriterion
from harness.decide import Decision, RunOutcome, Thresholds, decide_run, reaches
from harness.errors import Withdrawn
from harness.judge_prompt import prompt_version
from harness.judging import Judging, ask_judges
from harness.plan import Plan, Trial
from harness.recorded_run import Why, earlier
from harness.report import replace_file
from harness.run import RunOptions, Stop, run_trials
from harness.run_report import RunReport, RunStamp, RunSummary, RunTiming, ScenarioReport, StopReason
from harness.scenario import Scenario
from harness.score import ScoredTrial, Scoring, score_trial
from harness.secrets import Redactor
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.spending import Prices, Usage, total, usage_of
from harness.summarize import ScenarioScores, mean, stdev, summarize, worst
from harness.transcript import VERSION as TRANSCRIPT_VERSION
from harness.transcript import Transcript
from harness.version import VERSION
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
    prices: Prices = field(default_factory=dict)

    @property
    def judging(self) -> Judging:
        """What judges said is kept beside the transcripts."""
        return Judging(self.run.models, self.run.place.judgments)


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
        self.under_way = False
        """Whether trials can have been run; before that there is nothing to report."""

    async def run(self) -> None:
        """Every trial that has to be run; those already there are only scored."""
        self.display.planned(self.plan)
        try:
            waiting = await self._sort_trials() if self.options.resume else self.plan.trials()
            self.under_way = True
            await run_trials(waiting, self.options.run, self, self.stop)
        finally:
            await self.options.run.models.close()

    async def _sort_trials(self) -> list[Trial]:
        """Score what stands as its transcript is read: all of them at once would fill the memory."""
        waiting: list[Trial] = []
        why: dict[Why, int] = {}
        for trial in self.plan.trials():
            reason, transcript = earlier(trial, self.options.run.place)
            why[reason] = why.get(reason, 0) + 1
            if transcript is None:
                waiting.append(trial)
            elif (scored := await self._take(trial, transcript)) is not None:
                self.display.kept(trial, scored)
        self.display.resumed(why)
        return waiting

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
        path = self.options.run.place.transcript_name(trial)
        criteria = trial.scenario.criteria
        try:
            judged = await ask_judges(transcript, criteria, self.options.judging)
        except Withdrawn:
            return None
        scoring = Scoring(self.options.settings, self.options.prices, judged)
        scored = score_trial(transcript, criteria, scoring, path)
        self._scores.setdefault(trial.scenario.slug, {})[trial.seed] = scored
        return scored

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
            started=self._started.isoformat(timespec="seconds"),
            seconds=round(time.perf_counter() - self._clock, 6),
            trials_seconds=None if self._first is None else round(self._last - self._first, 6),
            model_seconds=model_seconds(self.rows()),
        )
        stamp = make_stamp(self.plan.scenarios, self.options.settings)
        conclusion = Conclusion(
            target,
            self.options.thresholds,
            stamp,
            timing,
            self.stop.reason,
            self._unscored,
            self.options.run.models.redactor,
        )
        return conclude(self.rows(), conclusion)


def model_seconds(rows: Sequence[ScenarioScores]) -> float | None:
    """All waiting for models; null where none was asked."""
    found = [trial.model_seconds for row in rows for trial in row.trials if trial.model_seconds is not None]
    return round(sum(found), 3) if found else None


@dataclass(frozen=True)
class Conclusion:
    """What a list of scores needs to become a report."""

    target: Path
    thresholds: Thresholds
    stamp: RunStamp
    timing: RunTiming
    stopped: StopReason | None = None
    unscored: Usage | None = None
    redactor: Redactor = Redactor()


def conclude(rows: list[ScenarioScores], conclusion: Conclusion) -> RunOutcome:
    """Sum up, decide, write the report whole."""
    summary = summarize(rows, conclusion.stopped, conclusion.unscored)
    decision = decide_run(summary, rows, conclusion.thresholds)
    replace_file(conclusion.target, encode_report(summary, decision, rows, conclusion))
    return RunOutcome(summary, decision, rows, conclusion.target)


def make_stamp(scenarios: Sequence[Scenario], settings: CheckSettings) -> RunStamp:
    """Versions and hashes of everything that scores; raises where words or a measure are not there."""
    used = sorted(
        {
            (criterion.checker, criterion.options.language or settings.language)
            for scenario in scenarios
            for criterion in scenario.criteria
            if isinstance(criterion, CheckerCriterion)
        }
    )
    judges = {
        criterion.model_name
        for scenario in scenarios
        for criterion in scenario.criteria
        if isinstance(criterion, Judge)
    }
    return RunStamp(
        tool_version=VERSION,
        transcript_version=TRANSCRIPT_VERSION,
        language=settings.language,
        similarity=similarity_name(settings.similarity),
        similarity_threshold=settings.similarity_threshold,
        lexicons={f"{name}/{language}": lexicon_stamp(name, language) for name, language in used},
        judges=dict.fromkeys(sorted(judges), prompt_version()),
    )


def encode_report(
    summary: RunSummary, decision: Decision, rows: Sequence[ScenarioScores], conclusion: Conclusion
) -> Iterator[bytes]:
    """The bytes of a `RunReport`, scenario by scenario, so that it is never in memory as a whole."""
    head = {
        "kind": "run",
        "schema_version": "1",
        "summary": summary.model_dump(mode="json"),
        "thresholds": [result.model_dump(mode="json") for result in decision.thresholds],
        "exit_code": int(decision.exit),
    }
    tail = {
        "stamp": conclusion.stamp.model_dump(mode="json"),
        "timing": conclusion.timing.model_dump(mode="json"),
    }
    yield orjson.dumps(head)[:-1] + b',\n"scenarios":['
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + _encode_scenario(row, conclusion.redactor)
    yield b"\n],\n" + orjson.dumps(tail)[1:] + b"\n"


_OURS = frozenset({"name", "file", "tags", "system_sha256", "status", "transcript", "fingerprint"})
"""What a scenario and a trial are found by."""


def _encode_scenario(row: ScenarioScores, redactor: Redactor) -> bytes:
    """A subject's parameters and a rubric come from a file, in which a key may stand."""
    scenario, scores = row.scenario, row.scores
    system = scenario.system
    head = ScenarioReport.model_construct(
        name=scenario.name,
        file=Path(scenario.file).as_posix(),
        tags=scenario.definition.tags,
        subject=_shared_subject(row),
        system_sha256=None if system is None else sha256(system.encode()).hexdigest(),
        rubric=tuple(criterion.definition() for criterion in scenario.criteria),
        mean=mean(scores),
        worst=worst(scores),
        stdev=stdev(scores),
        scored=len(scores),
        errors=row.errors,
        not_run=len(row.planned) - len(row.trials),
        usage=total(trial.usage for trial in row.trials),
        judge_usage=total(trial.judge_usage for trial in row.trials),
        trials=(),
    ).model_dump_json(exclude={"trials"})
    trials = b",\n".join(redactor.line(trial.encoded, _OURS) for trial in row.trials)
    return redactor.line(head.encode(), _OURS)[:-1] + b',"trials":[' + trials + b"]}"


def _shared_subject(row: ScenarioScores) -> dict[str, object]:
    """The subject's identity; where trusted Python chooses one per seed, each transcript has its own."""
    subject = row.scenario.subject
    return {"type": "by seed"} if callable(subject) else row.scenario.identity_of(subject)


def read_report(path: Path) -> RunReport:
    """A report from disk, checked against its records."""
    return RunReport.model_validate_json(path.read_bytes())
