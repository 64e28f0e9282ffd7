"""What one trial was: events, one JSON object a line, and what scoring reads from them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from harness.errors import SynthesisError
from harness.json_file import read_regular
from harness.problems import first_mistake
from harness.records import Record, Turn

VERSION: Literal[1] = 1
Json = Any
"""Any JSON value: what a subject, a gate or a scenario may hand over."""

Medium = Literal["conversation", "code", "bash"]
SandboxLevel = Literal["limits", "landlock", "bubblewrap"]
"""What holds an agent's programs, the weakest first."""
MOST = 2**53
"""Above it, readers of JSON no longer agree on what a number says."""
Count = Annotated[int, Field(strict=True, ge=0, le=MOST)]
Ordinal = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Milliseconds = Annotated[float, Field(strict=True, ge=0, le=MOST, allow_inf_nan=False)]
_RESTORE = "restore the file, or run the trial again"


class _Event(Record):
    """Every line has these; `parent` is the `seq` of the child_start it happened under, null at the top."""

    v: Literal[1] = VERSION
    seq: int = Field(ge=0)
    turn: int = Field(ge=0, description="which of the person's messages this belongs to; 0 before the first")
    parent: int | None


class Start(_Event):
    """The trial begins; `fingerprint` is of everything that shapes what follows."""

    type: Literal["start"] = "start"
    scenario: str
    seed: int
    fingerprint: str
    subject: dict[str, Json]
    system: str | None


class User(_Event):
    """What the person says."""

    type: Literal["user"] = "user"
    text: str


class Assistant(_Event):
    """What the subject says; `code` where it spoke in code."""

    type: Literal["assistant"] = "assistant"
    text: str
    code: str | None
    medium: Medium


class GateCall(_Event):
    """The subject asks for a gate."""

    type: Literal["gate_call"] = "gate_call"
    gate: str
    arguments: Json


class Observation(_Event):
    """What a gate gave back."""

    type: Literal["observation"] = "observation"
    gate: str
    ok: bool
    result: Json


class ChildStart(_Event):
    """A child begins; events under it carry this event's `seq` as their parent."""

    type: Literal["child_start"] = "child_start"
    medium: Medium
    prompt: str


class ChildEnd(_Event):
    """A child ended; its parent is the child_start it closes."""

    type: Literal["child_end"] = "child_end"
    reason: str
    terminated: bool
    result: Json


class AttemptEvent(_Event):
    """One request to a model, whatever came of it."""

    type: Literal["attempt"] = "attempt"
    model: str = Field(description="PROVIDER:NAME")
    attempt: Ordinal = Field(description="counted from 1 for each question")
    status: Count | None
    request_id: str | None
    latency_ms: Milliseconds
    input_tokens: Count | None
    output_tokens: Count | None
    finish: str | None = Field(description="why the model stopped, in the server's words")
    error: str | None
    wait_ms: Milliseconds | None = Field(description="until the next attempt; null where there was none")


class Sandbox(_Event):
    """A program of the agent's was started, contained like this."""

    type: Literal["sandbox"] = "sandbox"
    level: SandboxLevel
    network: bool


class Error(_Event):
    """Something went wrong that is not the subject's answer."""

    type: Literal["error"] = "error"
    kind: str
    message: str


class End(_Event):
    """The trial is over; a transcript without this line is unfinished."""

    type: Literal["end"] = "end"
    reason: Literal["completed", "ward", "timeout", "error", "interrupted"]
    terminated: bool
    result: Json
    ward: str | None = Field(default=None, description="which ward ended an agent; only where one did")


Event = Annotated[
    Start
    | User
    | Assistant
    | GateCall
    | Observation
    | ChildStart
    | ChildEnd
    | AttemptEvent
    | Sandbox
    | Error
    | End,
    Field(discriminator="type"),
]
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


@dataclass(frozen=True)
class Transcript:
    """The events of one trial as they were recorded."""

    events: Sequence[dict[str, Json]]

    @cached_property
    def start(self) -> dict[str, Json]:
        """The first event."""
        return self.events[0]

    @cached_property
    def end(self) -> dict[str, Json] | None:
        """The last event, where the trial came to one."""
        last = self.events[-1]
        return last if last["type"] == "end" else None

    @property
    def finished(self) -> bool:
        """Whether the subject came to an end of its own, by answering or by a ward."""
        return self.end is not None and self.end["reason"] in ("completed", "ward")

    @property
    def terminated(self) -> bool:
        """Whether it ended the way it should."""
        return self.end is not None and bool(self.end["terminated"])

    @property
    def result(self) -> Json:
        """The final result: the last reply, or what the agent handed to `done`."""
        return None if self.end is None else self.end["result"]

    @property
    def seed(self) -> int:
        """The trial's seed."""
        return int(self.start["seed"])

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Each message of the person's with the reply to it; what children said is not in here."""
        replies: dict[int, list[str]] = {}
        for event in self.of_type("assistant", scope="parent"):
            replies.setdefault(event["turn"], []).append(event["text"])
        return tuple(
            Turn(user=event["text"], assistant="\n\n".join(filter(None, replies[event["turn"]])))
            for event in self.of_type("user", scope="parent")
            if event["turn"] in replies
        )

    def of_type(self, *types: str, scope: str = "any") -> Iterator[dict[str, Json]]:
        """Events of these types, in order; with scope `parent`, without those of children."""
        for event in self.events:
            if event["type"] in types and (scope == "any" or event["parent"] is None):
                yield event

    @property
    def error(self) -> str | None:
        """What went wrong, for a trial that did not finish."""
        if self.finished:
            return None
        said = [f"{event['kind']}: {event['message']}" for event in self.of_type("error")]
        return said[-1] if said else "the transcript has no end"


def weakest(levels: Iterable[SandboxLevel | None]) -> SandboxLevel | None:
    """The least contained of all; null where nothing had to be contained."""
    order: tuple[SandboxLevel, ...] = get_args(SandboxLevel)
    return min((level for level in levels if level is not None), key=order.index, default=None)


def read_transcript(path: Path) -> Transcript:
    """Read a transcript of ours, up to its last whole line; anything else in it is an error."""
    try:
        lines = read_regular(path).split(b"\n")
    except OSError as error:
        raise SynthesisError(
            f"cannot be read: {error.strerror}", where=str(path), fix="check the file"
        ) from error
    if lines[-1]:
        lines = lines[:-1]
    events = [_event(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line]
    if not events or events[0]["type"] != "start":
        raise SynthesisError("not a transcript: it does not begin with a start event", where=str(path))
    if any(event["type"] == "end" for event in events[:-1]):
        raise SynthesisError("it goes on after its end", where=str(path), fix=_RESTORE)
    return Transcript(events)


def _event(line: bytes, where: str) -> dict[str, Json]:
    try:
        return parse_event(line)
    except ValueError as error:
        raise SynthesisError(str(error), where=where, fix=_RESTORE) from error


def parse_event(line: bytes) -> dict[str, Json]:
    """One line of a transcript; raises ValueError saying what is wrong with it."""
    try:
        event: dict[str, Json] = orjson.loads(line)
        EVENTS.validate_python(event, strict=True)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except ValidationError as error:
        spot, what = first_mistake(error)
        raise ValueError(f"not a transcript event: {spot}: {what}") from error
    return event
