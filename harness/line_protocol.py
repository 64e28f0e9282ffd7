"""What a program may say under the protocol `jsonl`: one JSON object a line, a `reply` the last of them."""

from typing import Annotated, Literal

import orjson
from pydantic import Field, StrictBool, TypeAdapter, ValidationError

from harness.records import Record
from harness.transcript import Json, Medium


class AssistantLine(Record):
    """Something said, or code written, on the way to the reply."""

    type: Literal["assistant"]
    text: str
    code: str | None = None
    medium: Medium = "conversation"


class GateCallLine(Record):
    """The program asks for a gate."""

    type: Literal["gate_call"]
    gate: str
    arguments: Json = None


class ObservationLine(Record):
    """What the gate gave back."""

    type: Literal["observation"]
    gate: str
    ok: StrictBool
    result: Json = None


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


StepLine = AssistantLine | GateCallLine | ObservationLine
Line = StepLine | ReplyLine
_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def parse_line(line: bytes) -> Line:
    """One line of a program's output; raises ValueError saying what is wrong with it."""
    try:
        return _LINES.validate_python(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(": ".join([*map(str, first["loc"]), first["msg"]])) from error
