"""What `synthesis compare` was asked for: two names, limits, and whether to score again first."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.arguments import share
from harness.baselines import read_run
from harness.comparability import alike, differences, how_scored, refuse_different
from harness.compare import compare
from harness.compare_report import CompareReport
from harness.compared_run import ComparedRun, find_run, read_compared
from harness.decide import ComparisonLimits
from harness.errors import SynthesisError
from harness.load import LoadOptions
from harness.rescore import RescoreOptions, rescore
from harness.settings import find_settings

OFFER = "give --rescore, or "


@dataclass(frozen=True)
class LimitArguments:
    """Limits as they were typed; None where nothing was."""

    fail_on_regression: bool = False
    max_drop: str | None = None
    max_scenario_drop: str | None = None

    def limits(self) -> ComparisonLimits:
        """Checked."""
        return ComparisonLimits(
            fail_on_regression=self.fail_on_regression,
            max_drop=_share(self.max_drop, "--max-drop"),
            max_scenario_drop=_share(self.max_scenario_drop, "--max-scenario-drop"),
        )


@dataclass(frozen=True)
class CompareRequest:
    """Two runs by name; `rescore` scores what is out of date again, offline."""

    base: str
    head: str
    limits: LimitArguments = LimitArguments()
    rescore: bool = False
    data_only: bool = False

    def inputs(self) -> list[str]:
        """The files it reads, which nothing may be written over."""
        return [str(find_run(name)) for name in (self.base, self.head)]

    def compare(self, warn: Callable[[str], None]) -> CompareReport:
        """Read, score again where that is wanted and needed, compare."""
        limits = self.limits.limits()
        named = [read_run(name) for name in (self.base, self.head)]
        base, head = alike(*named)
        for run, taken in zip(named, (base, head), strict=True):
            if taken is not run:
                warn(f"{run.side.name} is taken as it was scored again: {taken.report}")
        if self.rescore and differences(how_scored(base), how_scored(head)):
            base = score_again(base, warn, data_only=self.data_only)
        if self.rescore and differences(how_scored(base), how_scored(head)):
            head = score_again(head, warn, data_only=self.data_only)
        offer = "" if self.rescore else OFFER
        refuse_different(base, how_scored(head), head.side.name, offer=offer)
        return compare(base, head, limits)


def score_again(run: ComparedRun, warn: Callable[[str], None], *, data_only: bool) -> ComparedRun:
    """Today's rubric and checkers over the transcripts of a run; no model is asked."""
    refuse_without_transcripts(run)
    settings = find_settings(Path.cwd())
    options = RescoreOptions(
        settings=settings.check,
        prices=settings.prices,
        load=LoadOptions(data_only=data_only, criteria_only=True, turns=settings.turns, warn=warn),
    )
    outcome = rescore(run.place, options)
    warn(f"{run.side.name} was scored again: {outcome.report}")
    return read_compared(run.side.name, outcome.report)


def refuse_without_transcripts(run: ComparedRun) -> None:
    """They are what is scored again."""
    if not run.place.transcripts.is_dir():
        fix = "name the folder of the run itself, or save the baseline with its transcripts"
        raise SynthesisError("no transcripts to score again", where=str(run.place.path), fix=fix)


def _share(text: str | None, option: str) -> float | None:
    return None if text is None else share(text, option, 0.05)
