"""The records of `synthesis aa`: how often two identical runs would disagree."""

from typing import Literal

from pydantic import Field

from harness.records import Record


class LineDisagreement(Record):
    """One threshold and two runs of the same thing."""

    name: str
    required: float
    reached: float = Field(description="how often a run like these would hold it")
    disagree: float = Field(description="how often one of two would hold it and the other would not")
    observed_runs: int = Field(description="of the runs given")
    observed_reached: int


class AaReport(Record):
    """What `synthesis aa --json` prints."""

    kind: Literal["aa"] = "aa"
    schema_version: Literal["1"] = "1"
    runs: tuple[str, ...]
    scenarios: int
    trials: int = Field(description="of one run")
    means: tuple[float, ...] = Field(description="of the runs given, over the scenarios they share")
    mean_deviation: float = Field(description="by which the mean of identical runs varies")
    usual_difference: float = Field(description="two identical means are closer than this 95 times in 100")
    lines: tuple[LineDisagreement, ...]
    false_alarms: float = Field(description="how often comparing two identical runs would show a regression")
    false_alarm_rate: float = Field(description="what that should stay under")
    flaky: tuple[str, ...]
    draws: int = Field(description="pairs of runs drawn from the trials there are")
    seed: int
    notes: tuple[str, ...]
