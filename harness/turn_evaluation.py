"""The data of a turn's evaluation: what goes in, what comes out. Frozen, no decisions, no I/O."""

from typing import Literal

from pydantic import Field, JsonValue, StrictBool, StrictInt

from harness.records import Record

Stance = Literal["helpful", "cautious", "confident"]
Severity = Literal["critical", "error", "warning"]


class Memory(Record):
    """Something known of the person before this turn; `dimension` is the memory's kind, such as semantic."""

    id: str = ""
    content: str
    dimension: str = ""


class ToolInvocation(Record):
    """One call of a tool during the turn."""

    name: str = ""
    status: Literal["success", "failure"]
    result: JsonValue = None


class Source(Record):
    """Something the reply could cite."""

    url: str = ""
    title: str = ""


class TurnContext(Record):
    """What is known around a turn; whatever is not known is left out of the overall score."""

    turn_index: StrictInt = Field(default=0, ge=0)
    stance: Stance | None = Field(default=None, description="the tone asked for; null where none was")
    memories: tuple[Memory, ...] = ()
    tool_invocations: tuple[ToolInvocation, ...] = ()
    is_harmful_request: StrictBool | None = Field(default=None, description="null: not known")
    sources: tuple[Source, ...] = ()


class TurnInput(Record):
    """One turn as `evaluate_turns` takes it."""

    user_message: str
    actual_response: str
    golden_response: str = ""
    context: TurnContext = TurnContext()


class TurnIssue(Record):
    """A dimension whose score is too low, and what lowered it."""

    dimension: str
    category: str
    severity: Severity
    message: str


class TurnEvaluation(Record):
    """One turn in all its dimensions; equal input gives equal values but for `latency_ms`."""

    id: str = Field(description="derived from the texts and the context")
    turn_index: int
    user_message: str
    actual_response: str
    scores: dict[str, float] = Field(description="every dimension, 0 to 1; the default where not applicable")
    not_applicable: tuple[str, ...] = Field(description="dimensions without the input they need")
    overall: float | None = Field(description="weighted over what applies; null where nothing does")
    passed: bool | None
    warned: bool = Field(description="the overall score is low enough for a warning")
    latency_ms: float = Field(description="clock time: the only field that may differ between equal turns")
    issues: tuple[TurnIssue, ...]
    evidence: tuple[str, ...]


class TurnComparison(Record):
    """How a turn's evaluation changed against an earlier one of the same conversation."""

    change: Literal["degradation", "improvement", "unchanged", "not_comparable"]
    delta: float | None = Field(description="overall now minus overall before")
    pass_changed: bool
    by_dimension: dict[str, float] = Field(description="score now minus score before, where both apply")
