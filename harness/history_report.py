"""The records of `synthesis history`: runs in a row, and each scenario through them."""

from typing import Literal

from pydantic import Field

from harness.records import Record


class RunPoint(Record):
    """One run of the row."""

    run: str
    started: str
    mean: float | None
    worst: float | None
    scenarios: int
    scored: int
    errors: int
    exit_code: int
    scored_otherwise: tuple[str, ...] = Field(description="what scored it differently from the run before")


class ScenarioTrend(Record):
    """One scenario: its mean in every run, null where it was not in it or had no score."""

    name: str
    means: tuple[float | None, ...]
    first: float
    last: float
    dropped_in: str | None = Field(description="the first run since which it has stayed below what it was")
    drop: float | None = Field(description="how far the last mean is below the best before that run")


class HistoryReport(Record):
    """What `synthesis history --json` prints."""

    kind: Literal["history"] = "history"
    schema_version: Literal["1"] = "1"
    folder: str
    runs: tuple[RunPoint, ...]
    scenarios: tuple[ScenarioTrend, ...]
    skipped: dict[str, str] = Field(description="what looked like a run and could not be read, and why")
