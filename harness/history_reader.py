"""The figures of one run for a history, read from its report."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.comparability import HowScored
from harness.compared_run import read_whole
from harness.decide import outranking
from harness.errors import SynthesisError
from harness.recorded_run import ReportPart, read_scenarios
from harness.run_directory import COMPARISON


class _Scenario(ReportPart):
    """One scenario's mean and what gave it."""

    name: str
    mean: float | None = Field(allow_inf_nan=False)
    rubric: tuple[dict[str, Any], ...]


class _Head(ReportPart):
    """The run that was compared."""

    report_sha256: str


class _Comparison(ReportPart):
    """What the comparison beside a report came to."""

    head: _Head
    exit_code: int


@dataclass(frozen=True)
class RunFigures:
    """What a history shows of a run; `means` by scenario, null where nothing was scored."""

    started: str
    mean: float | None
    worst: float | None
    scored: int
    errors: int
    exit_code: int
    means: Mapping[str, float | None]
    scored_by: HowScored


def read_figures(report: Path) -> RunFigures:
    """Raises what is wrong with a report that is damaged or none."""
    whole = read_whole(report)
    scenarios = list(read_scenarios(report, _Scenario))
    return RunFigures(
        started=whole.timing.started,
        mean=whole.summary.mean,
        worst=whole.summary.worst,
        scored=whole.summary.scored,
        errors=whole.summary.errors,
        exit_code=outranking(whole.exit_code, _compared(report)),
        means={scenario.name: scenario.mean for scenario in scenarios},
        scored_by=HowScored(whole.stamp, {scenario.name: scenario.rubric for scenario in scenarios}),
    )


def _compared(report: Path) -> int:
    """The exit code of the comparison that `eval --baseline` made of this very report; 0 without one."""
    kept = report.with_name(COMPARISON)
    if not kept.is_file():
        return 0
    try:
        found = _Comparison.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError) as error:
        fix = "remove it, or compare again"
        raise SynthesisError("the comparison beside it is damaged", where=str(kept), fix=fix) from error
    digest = hashlib.sha256(report.read_bytes()).hexdigest()
    return found.exit_code if found.head.report_sha256 == digest else 0
