"""The records of `audit.json`: what was read, what failed and how surely, where to look first."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from harness.records import Hit, LexiconStamp, Record
from harness.run_report import ThresholdResult, TurnStamp
from harness.transcript import Json

Share = float | None
Interval = tuple[float, float]


class AuditSummary(Record):
    """The figures over everything; mean, worst and stdev are over conversations that have a score."""

    inputs: int
    conversations: int = Field(description="that were read and asked for")
    turns: int
    failed_turns: int = Field(description="turns that at least one check failed")
    scored: int
    passed: int = Field(description="conversations that reached every point")
    not_applicable: int = Field(description="conversations to which no criterion applied")
    without_turns: int = Field(description="conversations without a reply that could be judged")
    unprompted: int = Field(description="replies before anybody asked, which are not judged")
    alone: int = Field(description="turns judged without the message they answer, which is not in the log")
    errors: int = Field(description="conversations that could not be judged")
    rejected: int = Field(description="rows that could not be read")
    passed_over: int = Field(description="records without a conversation of their own")
    left_out: int = Field(description="conversations that --where left out")
    not_drawn: int = Field(description="conversations that --sample left out")
    mean: float | None
    worst: float | None
    stdev: float | None
    scores: tuple[int, ...] = Field(description="conversations by score: from 0 to 0.1, …, from 0.9 to 1")
    complete: bool


class Trend(Record):
    """The first third of the turns against the last, in conversations of three turns and more."""

    conversations: int
    early_applicable: int
    early_failed: int
    late_applicable: int
    late_failed: int
    difference: float | None = Field(description="late rate minus early rate")
    interval: Interval | None = Field(description="95 %, by conversation")


class AuditedCheck(Record):
    """One check over turns; the rate is failed turns over those the check applies to."""

    check: str
    turns: int
    applicable: int
    passed: int
    failed: int
    not_applicable: int
    errors: int
    conversations: int = Field(description="with a turn the check applies to")
    rate: Share
    interval: Interval | None = Field(
        description="95 %, by conversation: turns of one conversation are not independent"
    )
    interval_by_turn: Interval | None = Field(description="95 %, as if turns were independent")
    effective_turns: float | None = Field(description="how many independent turns these are worth")
    trend: Trend
    changed_by_redaction: int | None = Field(
        description="turns whose verdict would be another on the redacted text; null where none was asked"
    )


class TurnRate(Record):
    """One check at one turn number."""

    applicable: int
    failed: int
    rate: Share


class TurnDrift(Record):
    """Every check at one turn number; the last is for all later turns."""

    turn: str
    checks: dict[str, TurnRate]


class Place(Record):
    """Where a conversation stands."""

    file: str
    line: int
    conversation: str


class RuleExample(Place):
    """The first place where a rule matched in a failing turn."""

    turn: int
    text: str
    excerpt: str


class RuleCount(Record):
    """How often a rule matched in turns that failed."""

    check: str
    rule: str
    group: str
    hits: int
    example: RuleExample


class AuditedCriterion(Record):
    """One criterion of the rubric over conversations."""

    name: str
    criterion: dict[str, Json]
    passed: int
    failed: int
    not_applicable: int
    errors: int


class WorstConversation(Place):
    """A conversation with a low score and the criteria that cost it."""

    score: float
    turns: int
    failed_turns: int
    lost: tuple[str, ...]


class ReasonCount(Record):
    """Why something was not read or not judged, how often, and where first."""

    reason: str
    count: int
    file: str | None = None
    line: int | None = None


class Reasons(Record):
    """The most frequent first; `others` are those for which no room was kept."""

    total: int
    reasons: tuple[ReasonCount, ...]
    others: int


class AuditedInput(Record):
    """One file, what it was taken for and why, and what was in it."""

    path: str
    importer: str
    why: str
    conversations: int
    turns: int
    rejected: int
    passed_over: int
    left_out: int
    not_drawn: int


class RedactionReport(Record):
    """What was taken out of everything that was written; verdicts are of the original words."""

    terms: int = Field(description="in the user's own list")
    turns: int
    conversations: int
    details: dict[str, int] = Field(description="by kind; in the turns that were judged")


class SampleReport(Record):
    """Not everything was looked at."""

    size: int
    seed: int
    population: int
    drawn: int


class AuditStamp(Record):
    """What produced the numbers."""

    tool_version: str
    language: str
    similarity: str
    similarity_threshold: float
    lexicons: dict[str, LexiconStamp]
    turns: TurnStamp | None = None
    inputs_sha256: str | None = Field(description="of names, sizes, beginnings and ends; null for a stream")


class AuditTiming(Record):
    """The clock's part, and who did the work: all that may differ between equal audits."""

    started: str
    seconds: float
    engine: str


class AuditReport(Record):
    """What `synthesis audit` writes."""

    kind: Literal["audit"] = "audit"
    schema_version: Literal["1"] = "1"
    summary: AuditSummary
    thresholds: tuple[ThresholdResult, ...]
    exit_code: int
    max_rejects: int
    max_errors: int
    checks: tuple[AuditedCheck, ...]
    drift: tuple[TurnDrift, ...]
    criteria: tuple[AuditedCriterion, ...]
    rules: tuple[RuleCount, ...] = Field(description="the most frequent first")
    worst: tuple[WorstConversation, ...]
    rejects: Reasons
    passed_over: Reasons
    errors: Reasons
    inputs: tuple[AuditedInput, ...]
    inputs_not_listed: int
    where: tuple[str, ...]
    sample: SampleReport | None
    redaction: RedactionReport | None
    stamp: AuditStamp
    timing: AuditTiming


class FailedCheck(Record):
    """One check that a turn failed; offsets are code points of the original text."""

    check: str
    reason: str
    evidence: dict[str, Json]
    spans: tuple[Hit, ...]


class FailedTurn(Place):
    """A turn that at least one check failed; `redacted`: the words are not quite those that were judged."""

    kind: Literal["turn"]
    turn: int
    failed: tuple[FailedCheck, ...]
    user: str
    assistant: str
    redacted: bool


class FailedCriterion(Record):
    """One criterion that a conversation failed as a whole."""

    criterion: str
    reason: str


class FailedConversation(Place):
    """Criteria that a conversation failed where no failing turn says so."""

    kind: Literal["conversation"]
    failed: tuple[FailedCriterion, ...]
    redacted: bool


Finding = Annotated[FailedTurn | FailedConversation, Field(discriminator="kind")]
FINDINGS: TypeAdapter[Finding] = TypeAdapter(Finding)
