"""What a program may say under the protocol `jsonl`: one JSON object a line, a `reply` the last of them."""

from typing import Annotated, Literal

import orjson
from pydantic import Field, StrictBool, TypeAdapter, ValidationError

from harness.problems import first_mistake
from harness.records import Record
from harness.transcript import Count, Json, Medium, Milliseconds, Ordinal


class _Step(Record):
    """What happens before the reply; `parent` is the id of the child that does it."""

    parent: str | None = None


class AssistantLine(_Step):
    """Something said, or code written, on the way to the reply."""

    type: Literal["assistant"]
    text: str
    code: str | None = None
    medium: Medium = "conversation"


class GateCallLine(_Step):
    """The program asks for a gate."""

    type: Literal["gate_call"]
    gate: str
    arguments: Json = None


class ObservationLine(_Step):
    """What the gate gave back."""

    type: Literal["observation"]
    gate: str
    ok: StrictBool
    result: Json = None


class ChildStartLine(_Step):
    """A child begins, under an id of the program's choice; `parent` is the child that began it."""

    type: Literal["child_start"]
    child: str
    medium: Medium
    prompt: str


class ChildEndLine(Record):
    """A child ended; nothing happens in it from here on."""

    type: Literal["child_end"]
    child: str
    reason: str
    terminated: StrictBool
    result: Json = None


class AttemptLine(_Step):
    """One request to a model; what is not known is left out."""

    type: Literal["attempt"]
    model: str
    attempt: Ordinal = 1
    status: Count | None = None
    request_id: str | None = None
    latency_ms: Milliseconds = 0.0
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    finish: str | None = None
    error: str | None = None
    wait_ms: Milliseconds | None = None


class ReplyLine(Record):
    """The answer; `result` is its text if left out."""

    type: Literal["reply"]
    text: str
    result: Json = None
    terminated: StrictBool = True

    @property
    def final(self) -> Json:
        """What the trial's end would give as its result."""
        return self.result if "result" in self.model_fields_set else self.text


StepLine = AssistantLine | GateCallLine | ObservationLine | ChildStartLine | ChildEndLine | AttemptLine
Line = StepLine | ReplyLine
_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def parse_line(line: bytes) -> Line:
    """One line of a program's output; raises ValueError saying what is wrong with it."""
    try:
        return _LINES.validate_python(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except ValidationError as error:
        raise ValueError(": ".join(filter(None, first_mistake(error, ": ")))) from error
