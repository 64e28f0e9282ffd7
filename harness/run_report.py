"""The records of a run's report: per trial, per scenario, over all, and what was decided."""

from typing import Literal

from pydantic import Field

from harness.records import Hit, LexiconStamp, Record, Status
from harness.spending import Usage
from harness.transcript import Json, SandboxLevel

TrialStatus = Literal["scored", "not_applicable", "error"]
StopReason = Literal["interrupted", "fail-fast", "max-cost", "max-tokens", "model", "decided"]


class CriterionScore(Record):
    """One criterion on one trial; `score` is null where it did not apply or could not be judged."""

    name: str
    criterion: str
    status: Status
    passed: bool | None = Field(alias="pass")
    score: float | None
    max_score: float
    reason: str
    evidence: dict[str, Json]
    hits: tuple[Hit, ...]


class TrialReport(Record):
    """One scenario under one seed; `score` is the share of points reached, null where there is none."""

    seed: int
    status: TrialStatus
    score: float | None
    error: str | None
    terminated: bool
    transcript: str
    fingerprint: str
    usage: Usage | None = Field(default=None, description="what the subject asked of models")
    judge_usage: Usage | None = Field(default=None, description="what judges asked of models")
    sandbox: SandboxLevel | None = Field(default=None, description="what held the agent's programs")
    criteria: tuple[CriterionScore, ...]


class DimensionSummary(Record):
    """One dimension over the turns it applied to, and how many issues it raised."""

    turns: int
    mean: float
    worst: float
    critical: int
    error: int
    warning: int


class ScenarioReport(Record):
    """One scenario over its seeds."""

    name: str
    file: str
    tags: tuple[str, ...]
    subject: dict[str, Json]
    system_sha256: str | None
    rubric: tuple[dict[str, Json], ...]
    mean: float | None
    worst: float | None
    stdev: float | None
    scored: int
    errors: int
    not_run: int
    passed: int = Field(default=0, description="trials that reached every point")
    pass_at_k: dict[str, float] = Field(
        default={}, description="by k, the chance that one of k of these trials reaches every point"
    )
    pass_all_k: dict[str, float] = Field(default={}, description="by k, the chance that all of k do: pass^k")
    flaky: bool = Field(default=False, description="some trials reached every point and some did not")
    usage: Usage | None = None
    judge_usage: Usage | None = None
    dimensions: dict[str, DimensionSummary] = Field(default={})
    trials: tuple[TrialReport, ...]


class RunSummary(Record):
    """The figures of a run; mean, worst and stdev are over the trials that have a score."""

    scenarios: int
    trials: int
    scored: int
    passed: int = Field(description="trials that reached every point")
    not_applicable: int
    errors: int
    not_run: int
    mean: float | None
    worst: float | None
    stdev: float | None
    worst_scenario: str | None
    worst_scenario_mean: float | None
    flaky: tuple[str, ...] = Field(default=(), description="scenarios that passed under some seeds only")
    complete: bool
    stopped: StopReason | None
    usage: Usage | None = None
    judge_usage: Usage | None = None
    sandbox: SandboxLevel | None = Field(default=None, description="the weakest of all trials")
    dimensions: dict[str, DimensionSummary] = Field(
        default={}, description="of evaluated turns; those with critical issues first"
    )


class Certainty(Record):
    """How sure a figure is, where a confidence was asked for."""

    low: float
    high: float
    level: float = Field(
        description="of this interval; above what was asked for where there were early looks"
    )
    rough: str | None = Field(description="why the interval is only roughly right; null where it is not")
    detectable: float | None = Field(
        description="how far below the line is found 4 times in 5; null where it is not known or nothing is"
    )
    within_share: float | None = Field(description="the part of the variance that further seeds take away")
    advice: str = Field(description="whether more scenarios or more seeds would help")


class ThresholdResult(Record):
    """One threshold, what it was held to, and who is to blame where it failed."""

    name: str
    required: float
    actual: float | None
    held: bool
    blame: tuple[str, ...]
    inconclusive: bool = Field(
        default=False, description="neither held nor failed at the confidence asked for"
    )
    not_decided: bool = Field(default=False, description="the run was decided by another threshold before")
    certainty: Certainty | None = None

    @property
    def failed(self) -> bool:
        """Neither held nor left open."""
        return not (self.held or self.inconclusive or self.not_decided)


class TurnStamp(Record):
    """How the dimensions of turns were weighed."""

    weights: dict[str, float]
    pass_at: float
    warn_below: float
    numbers: str = Field(description="SHA-256 of every dimension's numbers")


class RunStamp(Record):
    """What produced a run's numbers."""

    tool_version: str
    transcript_version: int
    language: str
    similarity: str
    similarity_threshold: float
    lexicons: dict[str, LexiconStamp]
    judges: dict[str, str] = Field(default={}, description="each judge and the version of its prompt")
    turns: TurnStamp | None = None


class RunTiming(Record):
    """The clock's part of a report: the only part that may differ between equal runs."""

    started: str
    seconds: float
    trials_seconds: float | None = Field(description="from the first trial's start to the last one's end")
    model_seconds: float | None = Field(default=None, description="all waiting for models, added up")
    turns_latency_ms: float | None = Field(
        default=None, description="evaluating turns, added up; null where none was evaluated"
    )


class RunReport(Record):
    """What `synthesis eval` and `synthesis score` write."""

    kind: Literal["run"] = "run"
    schema_version: Literal["1"] = "1"
    summary: RunSummary
    thresholds: tuple[ThresholdResult, ...]
    exit_code: int
    scenarios: tuple[ScenarioReport, ...]
    stamp: RunStamp
    timing: RunTiming
