"""The records of a comparison of two runs: what changed, how sure that is, and what it looks like."""

from typing import Literal

from pydantic import Field

from harness.records import Record

Change = Literal["better", "worse", "same", "new", "missing", "not scored"]
PairedBy = Literal["seed", "scenario"]


class ComparedSide(Record):
    """One of the two runs."""

    name: str = Field(description="as it was named")
    report: str
    report_sha256: str
    scenarios: int
    trials: int
    scored: int
    errors: int
    not_run: int
    mean: float | None = Field(description="of its own report, over all trials")
    accepted: bool = Field(description="false where the run is incomplete and its errors were not accepted")


class MeanChange(Record):
    """A mean difference, head minus base, every scenario counting once."""

    base: float
    head: float
    difference: float
    low: float
    high: float
    level: float
    rough: str | None = Field(description="why the interval is only roughly right; null where it is not")
    p: float = Field(description="two-sided, by flipping the signs of scenarios")
    draws: int | None = Field(description="random flips; null where every flip was counted")
    detectable: float | None = Field(
        description="the drop that two runs like these would show 4 times in 5; null where none would be"
    )


class ScenarioChange(Record):
    """One scenario; means and difference are over the pairs, or over all trials where seeds differ."""

    name: str
    change: Change
    base: float | None
    head: float | None
    difference: float | None
    paired_by: PairedBy | None
    pairs: int = Field(description="trials with the same seed in both")
    base_trials: int
    base_passed: int = Field(description="trials that reached every point")
    head_trials: int
    head_passed: int
    fell: bool = Field(description="always passed before, and now in a third of the trials at most")


class CriterionChange(Record):
    """One criterion over the scenarios that have it in both runs, as shares of its points."""

    name: str
    change: Change
    scenarios: int
    worse: int = Field(description="scenarios in which it got worse")
    better: int
    mean: MeanChange | None = Field(description="null where it is in one run only")
    corrected_p: float | None = Field(description="after Holm's correction for the number of criteria")


class SaidTurn(Record):
    """One turn in both runs; null where a run has no such turn or no transcript."""

    user: str
    base: str | None
    head: str | None


class EvidenceChange(Record):
    """A criterion that was judged differently."""

    criterion: str
    base_points: float | None
    head_points: float | None
    worth: float
    base_reason: str
    head_reason: str
    base_hits: tuple[str, ...]
    head_hits: tuple[str, ...]


class Drop(Record):
    """One of the worst drops, side by side."""

    scenario: str
    base_seed: int
    head_seed: int
    base_score: float
    head_score: float
    evidence: tuple[EvidenceChange, ...]
    turns: tuple[SaidTurn, ...]


class PromptChange(Record):
    """A system prompt that changed, as a unified diff; null where a transcript is missing."""

    scenarios: tuple[str, ...]
    diff: str | None


class LimitResult(Record):
    """What the comparison was held to."""

    name: str
    limit: float | None
    actual: float | None
    held: bool
    blame: tuple[str, ...]


class CompareSummary(Record):
    """How many of what."""

    scenarios: int = Field(description="in both runs, with a score in each")
    pairs: int
    better: int
    worse: int
    same: int
    new: int
    missing: int
    not_scored: int = Field(description="in both runs, with a score in one at most")
    tests: int = Field(description="criteria tested, for which p-values are corrected")


class CompareStamp(Record):
    """What produced the numbers."""

    tool_version: str
    seed: int = Field(description="of the random flips")


class CompareReport(Record):
    """What `synthesis compare` writes."""

    kind: Literal["comparison"] = "comparison"
    schema_version: Literal["1"] = "1"
    base: ComparedSide
    head: ComparedSide
    summary: CompareSummary
    mean: MeanChange
    scenarios: tuple[ScenarioChange, ...]
    criteria: tuple[CriterionChange, ...]
    prompts: tuple[PromptChange, ...]
    drops: tuple[Drop, ...]
    notes: tuple[str, ...]
    limits: tuple[LimitResult, ...]
    exit_code: int
    stamp: CompareStamp
