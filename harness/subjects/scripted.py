"""A subject whose replies are given as data: deterministic, needs no model, no key, no network."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

from pydantic import Field, JsonValue, StrictBool

from harness.records import Record
from harness.script import lines_for
from harness.subject import Context, Reply, Subject, SubjectError
from harness.transcript import Json, Medium


class ScriptedCall(Record):
    """A gate call with what the gate is to have answered."""

    gate: str
    arguments: JsonValue = None
    ok: StrictBool = True
    result: JsonValue = None


class ScriptedChild(Record):
    """A child the agent started, and what it said."""

    medium: Medium = "conversation"
    prompt: str = ""
    turns: tuple["ScriptedTurn", ...] = Field(min_length=1)
    terminated: StrictBool = True
    result: JsonValue = None


class ScriptedTurn(Record):
    """One turn of an agent: words or code, then the gates it called or the child it started."""

    text: str = ""
    code: str | None = None
    medium: Medium = "conversation"
    calls: tuple[ScriptedCall, ...] = ()
    child: ScriptedChild | None = None


class ScriptedReply(Record):
    """A reply with everything an agent did on the way to it."""

    turns: tuple[ScriptedTurn, ...] = Field(min_length=1)
    result: JsonValue = None
    terminated: StrictBool = True


Line = str | ScriptedReply
Script = Annotated[tuple[Line, ...], Field(min_length=1)]


class Scripted(Subject):
    """A flat list is successive turns; a list of lists goes by (seed − 1) modulo its size, a map by seed."""

    replies: (
        Script
        | Annotated[tuple[Script, ...], Field(min_length=1)]
        | Annotated[dict[int, Script], Field(min_length=1)]
    )

    def identity(self) -> dict[str, Json]:
        """A hash stands for the script: every transcript begins with this."""
        return {"type": "scripted", "sha256": sha256(self.model_dump_json().encode()).hexdigest()}

    def open(self, context: Context) -> "ScriptedSession":
        """The lines of this seed."""
        return ScriptedSession(lines_for(context.seed, self.replies), context)


@dataclass
class ScriptedSession:
    """Says its lines in order."""

    lines: Sequence[Line]
    context: Context
    said: int = 0

    async def reply(self, message: str) -> Reply:  # noqa: ARG002 - a script does not listen
        """The next line; running out of them is an error."""
        if self.said >= len(self.lines):
            raise SubjectError(
                "script", f"the script has {len(self.lines)} replies, and one more was asked for"
            )
        line = self.lines[self.said]
        self.said += 1
        return Reply(line, result=line) if isinstance(line, str) else self._act(line)

    async def close(self) -> None:
        """Nothing is held."""

    def _act(self, line: ScriptedReply) -> Reply:
        for turn in line.turns:
            self._turn(turn, None)
        text = line.turns[-1].text
        result = text if line.result is None else line.result
        return Reply(text, result=result, terminated=line.terminated, recorded=True)

    def _turn(self, turn: ScriptedTurn, parent: int | None) -> None:
        recorder = self.context.recorder
        recorder.assistant(turn.text, code=turn.code, medium=turn.medium, parent=parent)
        for call in turn.calls:
            recorder.gate_call(call.gate, call.arguments, parent)
            recorder.observation(call.gate, ok=call.ok, result=call.result, parent=parent)
        if turn.child is not None:
            child = recorder.child_start(turn.child.medium, turn.child.prompt, parent)
            for inner in turn.child.turns:
                self._turn(inner, child)
            reason = "done" if turn.child.terminated else "ward"
            recorder.child_end(child, reason, terminated=turn.child.terminated, result=turn.child.result)
