"""Score recorded transcripts again: today's rubric, today's checkers, no subject called."""

import asyncio
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from harness.conclude import Conclusion, conclude, make_stamp, turns_latency_ms
from harness.console import counted
from harness.criterion import Criterion
from harness.decide import RunOutcome, Thresholds
from harness.errors import Place, Problems, SynthesisError
from harness.facts import RecordedAccess, ScenarioFacts
from harness.judging import Judging, settle_criteria
from harness.load import LoadOptions, load_scenarios
from harness.model_arguments import refuse_unpriced
from harness.models import Models
from harness.recorded_run import (
    RecordedScenario,
    find_scenario_file,
    may_load,
    read_recorded_scenarios,
)
from harness.rubric import RubricReader
from harness.run_directory import RunDirectory
from harness.run_report import RunStamp, RunTiming
from harness.scenario import Scenario, ScenarioDefinition
from harness.score import ScoredTrial, Scoring, judge_and_score
from harness.settings import CheckSettings
from harness.spending import Prices
from harness.subject import Context, Session, Subject, SubjectError
from harness.summarize import ScenarioScores
from harness.transcript import Json, Transcript, read_transcript
from harness.workers import Stop

_SHOWN = 5


class Recorded(Subject):
    """Stands for the subject of a recorded run; it is never asked anything."""

    recorded: dict[str, Any]

    def identity(self) -> dict[str, Json]:
        """As it was recorded."""
        return self.recorded

    def system_prompt(self, system: str | None) -> str | None:
        """As the agent that was recorded had it."""
        identity = self.recorded.get("identity")
        own = identity.get("system_prompt") if isinstance(identity, dict) else None
        return "\n\n".join(part for part in (own, system) if part) or None

    def open(self, context: Context) -> Session:
        """Scoring calls no subject."""
        raise SubjectError("recorded", f"{context.scenario} is only scored again")


@dataclass(frozen=True)
class RescoreOptions:
    """`rubric` replaces every scenario's own; `scenarios` are files to look in before those of the report.

    Without `ask_judges` only judgments that are kept count: a report is data, perhaps a stranger's, and that
    it names judges is no reason to pay them. `seconds` are for all judges of a trial.
    """

    rubric: Path | None = None
    scenarios: tuple[str, ...] = ()
    settings: CheckSettings = CheckSettings()
    prices: Prices = field(default_factory=dict)
    models: Models = field(default_factory=Models)
    thresholds: Thresholds = Thresholds()
    load: LoadOptions = LoadOptions()
    ask_judges: bool = False
    seconds: float | None = None

    @property
    def warn(self) -> Callable[[str], None]:
        """Where notes go."""
        return self.load.warn

    @property
    def facts(self) -> ScenarioFacts:
        """Who judges where a criterion names nobody."""
        return ScenarioFacts(self.load.judge, confined=self.load.data_only, turns=self.load.turns)


def rescore(place: RunDirectory, options: RescoreOptions) -> RunOutcome:
    """A new report beside the old one, named by what scored it."""
    started, clock = datetime.now(UTC), time.perf_counter()
    if not place.report.is_file():
        fix = "name the folder of a run; one that was killed gets its report from: synthesis eval … --resume"
        raise SynthesisError("there is no report here", where=str(place.path), fix=fix)
    place.refuse_links()
    criteria = _Criteria(place, options)
    stop = Stop()
    options.models.ended = stop.ask
    rows = asyncio.run(_Rescoring(place, options).rows(criteria))
    criteria.warn()
    stamp = make_stamp([row.scenario for row in rows], options.settings)
    target = place.path / f"report-{_fingerprint(rows, stamp)}.json"
    seconds = round(time.perf_counter() - clock, 6)
    timing = RunTiming(
        started=started.isoformat(timespec="milliseconds"),
        seconds=seconds,
        trials_seconds=None,
        turns_latency_ms=turns_latency_ms(rows),
    )
    conclusion = Conclusion(
        target, options.thresholds, stamp, timing, stop.reason, redactor=options.models.redactor
    )
    return conclude(rows, conclusion)


class _Criteria:
    """Where a scenario's criteria come from: the given rubric, its file as it is today, or the report."""

    def __init__(self, place: RunDirectory, options: RescoreOptions) -> None:
        self._place = place
        self._options = options
        self._files: dict[str, dict[str, Scenario]] = {}
        self._recorded: dict[str, list[str]] = {}
        self._given = None if options.rubric is None else _read_rubric(options.rubric, options.facts)
        # Who judges where a file names nobody may have been said on the command line of the run.
        self._load = replace(options.load, judge=RecordedAccess(**vars(options.load.judge)))
        named = load_scenarios(options.scenarios, self._load) if options.scenarios else []
        self._named = {scenario.name: scenario for scenario in named}

    def of(self, entry: RecordedScenario) -> tuple[Criterion, ...]:
        if self._given is not None:
            return self._given
        today = self._named.get(entry.name) or self._today(entry.file).get(entry.name)
        if today is not None:
            return _settled_as(today, entry.rubric, self._options.facts)
        if any("score" in definition for definition in entry.rubric):
            fix = f"name its file if you trust it: {self._naming(entry.file)}"
            raise SynthesisError("the rubric has a function in it", where=entry.name, fix=fix)
        self._recorded.setdefault(entry.file, []).append(entry.name)
        return _recorded_criteria(entry, self._options.facts)

    def warn(self) -> None:
        """One line a file about the scenarios that were scored by what the report recorded."""
        for file, names in self._recorded.items():
            some = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            why = self._why_recorded(file, some)
            scored = f"{counted(len(names), 'scenario')} scored by the rubric in the report"
            self._options.warn(f"{scored}: {why}")

    def _why_recorded(self, file: str, names: str) -> str:
        found = find_scenario_file(self._place, file)
        if not found.is_file():
            return f"{file} is not there (name where it is: {self._naming('FILE')})"
        if not may_load(found):
            return f"{file} is code: name it if you trust it: {self._naming(file)}"
        return f"no longer in {file}: {names}"

    def _naming(self, file: str) -> str:
        """In full: comparing scores again too, and has no such option."""
        return shlex.join(["synthesis", "score", str(self._place.path), "--scenarios", file])

    def _today(self, file: str) -> dict[str, Scenario]:
        if file not in self._files:
            found = find_scenario_file(self._place, file)
            scenarios = load_scenarios([found], self._load) if may_load(found) else []
            self._files[file] = {scenario.name: scenario for scenario in scenarios}
        return self._files[file]


def _read_rubric(path: Path, facts: ScenarioFacts) -> tuple[Criterion, ...]:
    problems: list[SynthesisError] = []
    criteria = RubricReader(path.parent, trusted=False, problems=problems).read_file(path)
    return _settled(criteria, facts, Place(str(path)), problems)


def _recorded_criteria(entry: RecordedScenario, facts: ScenarioFacts) -> tuple[Criterion, ...]:
    problems: list[SynthesisError] = []
    place = Place(f"report of {entry.name}") / "rubric"
    criteria = RubricReader(Path(), trusted=False, problems=problems).read(entry.rubric, place)
    return _settled(criteria, facts, place, problems)


def _settled(
    criteria: Iterable[Criterion], facts: ScenarioFacts, place: Place, problems: list[SynthesisError]
) -> tuple[Criterion, ...]:
    """Ready to judge; raises what is wrong with any of them."""
    settled = settle_criteria(tuple(criteria), facts, place, problems)
    if problems:
        raise Problems(problems)
    return settled


def _settled_as(
    today: Scenario, recorded: Sequence[dict[str, Json]], facts: ScenarioFacts
) -> tuple[Criterion, ...]:
    place = Place(today.file) / "rubric"
    return tuple(
        criterion.settle_as(_recorded_like(criterion, index, recorded), facts, place)
        for index, criterion in enumerate(today.criteria)
    )


def _recorded_like(criterion: Criterion, index: int, rubric: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """What the report has of the same name, or else in the same place."""
    alike = {place: definition for place, definition in enumerate(rubric) if criterion.key in definition}
    named = [entry for entry in alike.values() if criterion.name and entry.get("name") == criterion.name]
    return named[0] if named else alike.get(index, {})


@dataclass(frozen=True)
class _Rescoring:
    """Trials are scored a few at once, since judges take their time."""

    place: RunDirectory
    options: RescoreOptions

    async def rows(self, criteria: _Criteria) -> list[ScenarioScores]:
        try:
            return [
                await self._scenario(entry, criteria.of(entry))
                for entry in read_recorded_scenarios(self.place)
            ]
        finally:
            await self.options.models.close()

    async def _scenario(self, entry: RecordedScenario, criteria: tuple[Criterion, ...]) -> ScenarioScores:
        scored: list[ScoredTrial] = []
        system: str | None = None
        at_once = self.options.models.at_once
        if self.options.ask_judges:
            asked = (criterion.endpoint for criterion in criteria)
            refuse_unpriced(filter(None, asked), self.options.models.budget)
        for first in range(0, len(entry.trials), at_once):
            names = [trial.transcript for trial in entry.trials[first : first + at_once]]
            found = [(name, _transcript(self.place, name)) for name in names]
            there = [(name, transcript) for name, transcript in found if transcript is not None]
            system = there[-1][1].start["system"] if there else system
            found_scores = await asyncio.gather(*(self._trial(*item, criteria) for item in there))
            scored += [score for score in found_scores if score is not None]
        return _scenario_scores(entry, criteria, system, scored)

    async def _trial(
        self, name: str, transcript: Transcript, criteria: tuple[Criterion, ...]
    ) -> ScoredTrial | None:
        """None where the judge was refused before: that is told once."""
        options = self.options
        judging = Judging(
            options.models, self.place.judgments, ask=options.ask_judges, seconds=options.seconds
        )
        scoring = Scoring(options.settings, options.prices, redactor=options.models.redactor)
        return await judge_and_score(transcript, criteria, judging, scoring, name)


def _scenario_scores(
    entry: RecordedScenario, criteria: tuple[Criterion, ...], system: str | None, scored: list[ScoredTrial]
) -> ScenarioScores:
    definition = ScenarioDefinition.model_construct(name=entry.name, tags=entry.tags, prompt=(), rubric=())
    scenario = Scenario(
        definition,
        entry.file,
        Path(entry.file).parent,
        system,
        {},
        Recorded(recorded=entry.subject),
        criteria,
    )
    seeds = tuple(trial.seed for trial in entry.trials)
    missing = tuple(range(-entry.not_run, 0))
    return ScenarioScores(scenario, seeds + missing, tuple(scored))


def _transcript(place: RunDirectory, name: str) -> Transcript | None:
    """None where the file is gone: the trial then counts as not run, which makes the report incomplete."""
    path = place.path / name
    if not path.resolve().is_relative_to(place.path.resolve()):
        raise SynthesisError("the transcript lies outside the run", where=name, fix="restore the report")
    return read_transcript(path) if path.is_file() else None


def _fingerprint(rows: Sequence[ScenarioScores], stamp: RunStamp) -> str:
    rubrics = [[criterion.definition() for criterion in row.scenario.criteria] for row in rows]
    scoring = orjson.dumps([rubrics, stamp.model_dump(mode="json")], option=orjson.OPT_SORT_KEYS)
    return sha256(scoring).hexdigest()[:12]
