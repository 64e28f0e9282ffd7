"""What was asked for on the command line, checked and joined with the project's settings."""

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from harness.arguments import confidence, one_of, seconds, share, whole_number
from harness.baseline_arguments import BaselineArguments
from harness.comparability import how_scored_now
from harness.compare_report import CompareReport
from harness.conclude import make_stamp
from harness.console import counted
from harness.decide import RunOutcome, Thresholds
from harness.engine import LOCAL
from harness.errors import SynthesisError
from harness.evaluate import EvaluationOptions, KeepWorkspaces
from harness.load import LoadOptions, load_scenarios
from harness.model_arguments import ModelArguments
from harness.model_subject import ModelSubject
from harness.models import Models
from harness.plan import Plan, Seeds, parse_seeds, plan_trials
from harness.problems import shown
from harness.recorded_run import load_recorded_scenarios, refuse_left_out
from harness.resources import bundled
from harness.run import RunOptions
from harness.run_directory import RunDirectory, check_resumable, claim_default, claim_new, claim_resumed
from harness.scenario import Scenario
from harness.settings import MOST_JOBS, EvalSettings, Settings, find_settings

_REPEATED = (
    "seeds", "scenarios", "tags", "min_mean", "min_worst", "min_scenario_mean", "max_errors", "confidence",
    "stop", "jobs", "engine", "timeout", "keep_workspaces", "recursive", "data_only", "fail_fast",
)  # fmt: skip
"""Options that going on with a run needs again."""


@dataclass(frozen=True)
class EvaluationRequest:
    """Options as they were typed; None where nothing was."""

    paths: tuple[str, ...] = ()
    seeds: str | None = None
    scenarios: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_mean: str | None = None
    min_worst: str | None = None
    min_scenario_mean: str | None = None
    max_errors: str | None = None
    confidence: str | None = None
    stop: str | None = None
    jobs: str | None = None
    engine: str | None = None
    timeout: str | None = None
    out: str | None = None
    resume: str | None = None
    keep_workspaces: str | None = None
    recursive: bool = False
    data_only: bool = False
    fail_fast: bool = False
    models: ModelArguments = ModelArguments()
    baseline: BaselineArguments = BaselineArguments()

    def resolve(self, warn: Callable[[str], None], *, offline: bool = False) -> "ResolvedEvaluation":
        """Everything checked, nothing written yet; `offline` where nothing is to be run."""
        settings = find_settings(Path.cwd())
        if self.out is not None and self.resume is not None:
            raise SynthesisError("--out and --resume both name a folder", fix="give one of them")
        thresholds = self.thresholds(settings.eval)
        jobs = settings.eval.jobs if self.jobs is None else _jobs(self.jobs)
        timeout = settings.eval.timeout if self.timeout is None else seconds(self.timeout, "--timeout")
        if self.stop is not None:
            one_of(self.stop, "--stop", ("decided",))
            self.baseline.refuse_stopping()
        keep = self._keep(settings.eval)
        engine = self._engine(settings.eval)
        seeds = self._seeds(settings.eval)
        options = LoadOptions(
            recursive=self.recursive,
            data_only=self.data_only,
            access=self.models.access(os.environ, offline=offline),
            judge=self.models.judge_access(os.environ, offline=offline),
            turns=settings.turns,
            warn=warn,
        )
        scenarios = self._load(settings.eval, options)
        plan = plan_trials(scenarios, seeds, self.scenarios, self.tags)
        # Words that are missing are an error now, not after the run.
        make_stamp(plan.scenarios, settings.check)
        self.models.check(plan, settings.prices)
        if self.resume is not None:
            refuse_left_out(RunDirectory(Path(self.resume)), plan)
        notes = tuple(self._notes(plan, settings.eval))
        jobs = min(jobs, plan.size)
        models = self.models.models(settings, os.environ, jobs)
        self.baseline.check(plan, settings.check, models.redactor)
        return ResolvedEvaluation(self, plan, settings, thresholds, models, timeout, keep, engine, notes)

    def again(self, folder: Path) -> str:
        """What to type to go on with the run in this folder: everything as it was typed."""
        named = {name: getattr(self, name) for name in _REPEATED} | vars(self.models) | vars(self.baseline)
        options = [part for name, value in named.items() for part in _typed(name, value)]
        return shlex.join(["synthesis", "eval", *self.paths, *options, "--resume", str(folder)])

    def compare(self, outcome: RunOutcome, warn: Callable[[str], None]) -> CompareReport | None:
        """The run with its baseline; null where there is none, or where the run has no score to compare."""
        if not outcome.summary.scored:
            return None
        return self.baseline.compare(outcome.report.parent, warn, data_only=self.data_only)

    def _load(self, defaults: EvalSettings, options: LoadOptions) -> list[Scenario]:
        if self.resume is None or self.paths:
            return load_scenarios(self.paths or defaults.paths or (bundled("scenarios"),), options)
        place = RunDirectory(Path(self.resume))
        check_resumable(place)
        return load_recorded_scenarios(place, options)

    def _notes(self, plan: Plan, defaults: EvalSettings) -> Iterator[str]:
        if not (self.paths or self.resume or defaults.paths):
            yield "running the bundled scenarios"
        for option, name in (("--seeds", "seeds"), ("--timeout", "timeout")):
            own = sum(getattr(scenario.definition, name) is not None for scenario in plan.scenarios)
            if own and getattr(self, name) is not None:
                asks = "asks for itself" if own == 1 else "ask for themselves"
                yield f"{option} wins over the {name} that {counted(own, 'scenario')} {asks}"
        yield from self._note_ignored_model(plan)

    def _note_ignored_model(self, plan: Plan) -> Iterator[str]:
        """A scenario's own subject wins over --model, which is easily overlooked."""
        ignoring = [scenario for scenario in plan.scenarios if not _takes_given_model(scenario)]
        fixed = [scenario for scenario in plan.scenarios if scenario.definition.fixed_subject]
        if self.models.override_subject and fixed:
            keep = "keeps its subject, which is" if len(fixed) == 1 else "keep their subjects, which are"
            yield f"{counted(len(fixed), 'scenario')} of {len(plan.scenarios)} {keep} part of the question"
        if self.models.model is None or self.models.override_subject or not ignoring:
            return
        bring = "brings a subject of its own" if len(ignoring) == 1 else "bring subjects of their own"
        yield (
            f"{counted(len(ignoring), 'scenario')} of {len(plan.scenarios)} {bring} and "
            f"{'ignores' if len(ignoring) == 1 else 'ignore'} --model; --override-subject forces it"
        )

    def thresholds(self, defaults: EvalSettings) -> Thresholds:
        """Checked before anything runs."""
        found = Thresholds(
            min_mean=_share(self.min_mean, "--min-mean", defaults.min_mean),
            min_worst=_share(self.min_worst, "--min-worst", defaults.min_worst),
            min_scenario_mean=_share(
                self.min_scenario_mean, "--min-scenario-mean", defaults.min_scenario_mean
            ),
            max_errors=defaults.max_errors
            if self.max_errors is None
            else whole_number(self.max_errors, "--max-errors"),
            confidence=defaults.confidence
            if self.confidence is None
            else confidence(self.confidence, "--confidence"),
        )
        needs = {"--confidence": self.confidence, "--stop": self.stop}
        idle = next((name for name, value in needs.items() if value is not None), None)
        if idle is not None and not found.asked:
            what = "there is no threshold to decide about"
            raise SynthesisError(what, where=idle, fix="give one, for example --min-mean 0.85")
        return found

    def _seeds(self, defaults: EvalSettings) -> Seeds:
        given = None if self.seeds is None else parse_seeds(self.seeds)
        if defaults.seeds is None:
            return Seeds(given)
        return Seeds(given, parse_seeds(str(defaults.seeds), "eval.seeds in the project file"))

    def _engine(self, defaults: EvalSettings) -> str:
        """What is counted in one process cannot be kept by several, and is not weakened without a word."""
        engine = defaults.engine if self.engine is None else self.engine
        limits = [
            option
            for option, value in (
                ("--max-cost", self.models.max_cost),
                ("--max-tokens", self.models.max_tokens),
            )
            if value is not None
        ]
        if engine != LOCAL and limits:
            what = f"{limits[0]} can be kept by one process only"
            raise SynthesisError(
                what, where=f"--engine {shown(engine)}", fix=f"leave it out, or use --engine {LOCAL}"
            )
        return engine

    def _keep(self, defaults: EvalSettings) -> KeepWorkspaces:
        if self.keep_workspaces is None:
            return defaults.keep_workspaces
        word = one_of(self.keep_workspaces, "--keep-workspaces", ("always", "failed", "never"))
        return cast("KeepWorkspaces", word)


@dataclass(frozen=True)
class ResolvedEvaluation:
    """A request that can be run."""

    request: EvaluationRequest
    plan: Plan
    settings: Settings
    thresholds: Thresholds
    models: Models
    timeout: float
    keep: KeepWorkspaces
    engine: str
    notes: tuple[str, ...]

    def prepare(self, warn: Callable[[str], None]) -> None:
        """What the run is compared with is made ready before it: later would be too late to refuse."""
        now = how_scored_now(self.plan.scenarios, self.settings.check, self.models.redactor)
        self.request.baseline.bring_up_to_date(now, warn, data_only=self.request.data_only)

    def claim(self) -> EvaluationOptions:
        """Take the folder of the run: the first thing that is written."""
        directory = self._directory()
        if self.models.recordings is not None:
            self.models.recordings.claim()
        return self.options(directory)

    def options(self, directory: RunDirectory) -> EvaluationOptions:
        """How the plan is evaluated in a folder that is ours."""
        return EvaluationOptions(
            run=RunOptions(
                directory,
                jobs=self.models.at_once,
                timeout=self.timeout,
                timeout_wins=self.request.timeout is not None,
                models=self.models,
            ),
            settings=self.settings.check,
            thresholds=self.thresholds,
            keep_workspaces=self.keep,
            fail_fast=self.request.fail_fast,
            resume=self.request.resume is not None,
            stop_decided=self.request.stop is not None,
            prices=self.settings.prices,
        )

    def _directory(self) -> RunDirectory:
        if self.request.resume is not None:
            return claim_resumed(Path(self.request.resume))
        if self.request.out is not None:
            return claim_new(Path(self.request.out))
        return claim_default(Path("runs"), datetime.now().astimezone().strftime("%Y%m%d-%H%M%S"))


def _takes_given_model(scenario: Scenario) -> bool:
    return isinstance(scenario.subject, ModelSubject) and scenario.subject.model is None


def _share(text: str | None, option: str, default: float | None) -> float | None:
    return default if text is None else share(text, option)


def _jobs(text: str) -> int:
    jobs = whole_number(text, "--jobs", least=1)
    if jobs > MOST_JOBS:
        what = f'"{text}" is more than {MOST_JOBS}'
        raise SynthesisError(what, where="--jobs", fix="write for example --jobs 100")
    return jobs


def _typed(name: str, value: str | bool | tuple[str, ...] | None) -> Iterator[str]:
    option = f"--{name.replace('_', '-')}"
    if value is True:
        yield option
    elif isinstance(value, str):
        yield from (option, value)
    elif isinstance(value, tuple):
        for item in value:
            yield from (option.removesuffix("s"), item)
