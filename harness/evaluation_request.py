"""What was asked for on the command line, checked and joined with the project's settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from harness.arguments import one_of, seconds, share, whole_number
from harness.decide import Thresholds
from harness.errors import SynthesisError
from harness.evaluate import EvaluationOptions, KeepWorkspaces, make_stamp
from harness.load import LoadOptions, load_scenarios
from harness.plan import Plan, parse_seeds, plan_trials
from harness.resources import bundled
from harness.run import RunOptions
from harness.run_directory import RunDirectory, claim_default, claim_new, claim_resumed
from harness.settings import EvalSettings, Settings, find_settings


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
    jobs: str | None = None
    timeout: str | None = None
    out: str | None = None
    resume: str | None = None
    keep_workspaces: str | None = None
    recursive: bool = False
    data_only: bool = False
    fail_fast: bool = False

    def resolve(self, warn: Callable[[str], None]) -> "ResolvedEvaluation":
        """Everything checked, nothing written yet."""
        settings = find_settings(Path.cwd())
        if self.out is not None and self.resume is not None:
            raise SynthesisError("--out and --resume both name a folder", fix="give one of them")
        thresholds = self.thresholds(settings.eval)
        jobs = settings.eval.jobs if self.jobs is None else whole_number(self.jobs, "--jobs", least=1)
        timeout = settings.eval.timeout if self.timeout is None else seconds(self.timeout, "--timeout")
        keep = self._keep(settings.eval)
        seeds = self._seeds(settings.eval)
        options = LoadOptions(recursive=self.recursive, data_only=self.data_only, warn=warn)
        scenarios = load_scenarios(self.paths or (bundled("scenarios"),), options)
        plan = plan_trials(scenarios, seeds, self.scenarios, self.tags)
        # Words that are missing are an error now, not after the run.
        make_stamp(plan.scenarios, settings.check)
        notes = _notes(plan) if self.seeds is not None else ()
        return ResolvedEvaluation(self, plan, settings, thresholds, jobs, timeout, keep, notes)

    def thresholds(self, defaults: EvalSettings) -> Thresholds:
        """Checked before anything runs."""
        return Thresholds(
            min_mean=_share(self.min_mean, "--min-mean", defaults.min_mean),
            min_worst=_share(self.min_worst, "--min-worst", defaults.min_worst),
            min_scenario_mean=_share(
                self.min_scenario_mean, "--min-scenario-mean", defaults.min_scenario_mean
            ),
            max_errors=defaults.max_errors
            if self.max_errors is None
            else whole_number(self.max_errors, "--max-errors"),
        )

    def _seeds(self, defaults: EvalSettings) -> tuple[int, ...] | None:
        if self.seeds is not None:
            return parse_seeds(self.seeds)
        given = defaults.seeds
        return None if given is None else parse_seeds(str(given), "eval.seeds in the project file")

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
    jobs: int
    timeout: float
    keep: KeepWorkspaces
    notes: tuple[str, ...]

    def claim(self) -> EvaluationOptions:
        """Take the folder of the run: the first thing that is written."""
        return EvaluationOptions(
            run=RunOptions(self._directory(), jobs=self.jobs, timeout=self.timeout),
            settings=self.settings.check,
            thresholds=self.thresholds,
            keep_workspaces=self.keep,
            fail_fast=self.request.fail_fast,
            resume=self.request.resume is not None,
        )

    def _directory(self) -> RunDirectory:
        if self.request.resume is not None:
            return claim_resumed(Path(self.request.resume))
        if self.request.out is not None:
            return claim_new(Path(self.request.out))
        return claim_default(Path("runs"), datetime.now().astimezone().strftime("%Y%m%d-%H%M%S"))


def _share(text: str | None, option: str, default: float | None) -> float | None:
    return default if text is None else share(text, option)


def _notes(plan: Plan) -> tuple[str, ...]:
    own = sum(scenario.definition.seeds is not None for scenario, _ in plan.rows)
    return (f"--seeds wins over the seeds that {own} scenarios ask for themselves",) if own else ()
