"""What `synthesis eval --baseline` was asked for: checked before the run, compared after it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.baselines import read_run
from harness.comparability import (
    HowScored,
    differences,
    how_scored,
    how_scored_now,
    refuse_different,
    scored_like,
)
from harness.compare_report import CompareReport
from harness.compare_request import (
    OFFER,
    CompareRequest,
    LimitArguments,
    refuse_without_transcripts,
    score_again,
)
from harness.errors import SynthesisError
from harness.plan import Plan
from harness.report import replace_file
from harness.run_directory import COMPARISON
from harness.secrets import Redactor
from harness.settings import CheckSettings


@dataclass(frozen=True)
class BaselineArguments:
    """Options as they were typed; None where nothing was."""

    baseline: str | None = None
    fail_on_regression: bool = False
    max_drop: str | None = None
    max_scenario_drop: str | None = None
    rescore: bool = False

    @property
    def limits(self) -> LimitArguments:
        """What the comparison is held to."""
        return LimitArguments(self.fail_on_regression, self.max_drop, self.max_scenario_drop)

    def refuse_stopping(self) -> None:
        """What a comparison is held to is known at the end only; an early stop would look past it."""
        if self.limits.limits().any:
            what = "it stops when thresholds are decided, which limits of a comparison are not before the end"
            fix = "leave out --stop, or --fail-on-regression, --max-drop and --max-scenario-drop"
            raise SynthesisError(what, where="--stop decided", fix=fix)

    def check(self, plan: Plan, settings: CheckSettings, redactor: Redactor) -> None:
        """Before anything runs: a baseline that could not be compared afterwards is an error now."""
        asked = self.limits.limits()
        if self.baseline is None:
            if asked.any or self.rescore:
                what = "there is nothing to compare with"
                raise SynthesisError(what, fix="name a baseline or an earlier run: --baseline main")
            return
        base = read_run(self.baseline)
        if not any(scenario.name in base.scenarios for scenario in plan.scenarios):
            what = "the baseline has none of these scenarios"
            raise SynthesisError(what, where=self.baseline, fix="name a baseline of the same scenarios")
        now = how_scored_now(plan.scenarios, settings, redactor)
        base = scored_like(base, now)
        if not self.rescore:
            refuse_different(base, now, "this run", offer=OFFER)
        elif differences(how_scored(base), now):
            refuse_without_transcripts(base)

    def bring_up_to_date(self, now: HowScored, warn: Callable[[str], None], *, data_only: bool) -> None:
        """Before the run, which may be dear: score the baseline again where that is wanted and needed."""
        if self.baseline is None or not self.rescore:
            return
        base = scored_like(read_run(self.baseline), now)
        if differences(how_scored(base), now):
            base = score_again(base, warn, data_only=data_only)
        refuse_different(base, now, "this run")

    def compare(self, run: Path, warn: Callable[[str], None], *, data_only: bool) -> CompareReport | None:
        """The finished run with the baseline, written beside its report; null where none was asked for."""
        if self.baseline is None:
            return None
        request = CompareRequest(
            self.baseline, str(run), self.limits, rescore=self.rescore, data_only=data_only
        )
        report = request.compare(warn)
        replace_file(run / COMPARISON, [report.model_dump_json(indent=2).encode() + b"\n"])
        return report
