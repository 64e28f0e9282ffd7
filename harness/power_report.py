"""The records of `synthesis power`: what drop a run can show, and how large a suite has to be for others."""

from typing import Literal

from pydantic import Field

from harness.records import Record


class Needed(Record):
    """Scenarios that two runs with so many seeds need to show a drop."""

    drop: float
    seeds: int
    scenarios: int


class PowerReport(Record):
    """What `synthesis power --json` prints."""

    kind: Literal["power"] = "power"
    schema_version: Literal["1"] = "1"
    run: str
    scenarios: int = Field(description="that have a score")
    seeds: float = Field(description="trials a scenario, on average")
    mean: float
    within: float = Field(description="variance between trials of one scenario")
    between: float = Field(description="variance between scenarios; it cancels out where runs are paired")
    within_share: float | None
    level: float
    power: float = Field(description="how often the drop would be shown")
    detectable_drop: float | None = Field(
        description="between two runs like this one; null where there are too few scenarios for any"
    )
    below_line: float | None = Field(
        description="how far below a threshold a mean has to be to be found there"
    )
    needed: tuple[Needed, ...]
