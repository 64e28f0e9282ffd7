"""The figures of one run for a history, read from its report."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.comparability import HowScored
from harness.compared_run import read_whole
from harness.recorded_run import ReportPart, read_scenarios


class _Scenario(ReportPart):
    """One scenario's mean and what gave it."""

    name: str
    mean: float | None = Field(allow_inf_nan=False)
    rubric: tuple[dict[str, Any], ...]


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
        exit_code=whole.exit_code,
        means={scenario.name: scenario.mean for scenario in scenarios},
        scored_by=HowScored(whole.stamp, {scenario.name: scenario.rubric for scenario in scenarios}),
    )
