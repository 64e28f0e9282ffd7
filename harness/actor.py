"""One agent at work, parent or child: the model speaks, acts, sees what came of it, until done or a ward."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.box import ShellBox
from harness.confined import ConfinedFolder
from harness.gate import Bench, Gate, GateError, gate_fields
from harness.gates.cast import Cast
from harness.hands import Hands
from harness.medium import medium_type
from harness.model import Message, ToolCall
from harness.sandbox import Sandbox
from harness.speaker import ScriptedSpeaker, ServedSpeaker, Speaker
from harness.subject import Context
from harness.transcript import Json, Medium
from harness.ward_clock import WardClock
from harness.wards import Ward, Wards


@dataclass(frozen=True)
class Part:
    """What an agent is given to work with."""

    medium: Medium
    gates: Mapping[str, type[Gate]]
    wards: Wards
    system: str = ""


@dataclass(frozen=True)
class Stage:
    """What parent and children share."""

    context: Context
    files: ConfinedFolder
    sandbox: Sandbox
    native: bool
    mediums: tuple[Medium, ...]
    """Those that children may have."""


@dataclass(frozen=True)
class Outcome:
    """How it ended: through `done` with a result, or by a ward; `text` is what it said last."""

    result: Json
    text: str
    ward: Ward | None = None


@dataclass
class Actor:
    """Keeps its conversation with the model from one message of the person's to the next."""

    part: Part
    speaker: Speaker
    stage: Stage
    parent: int | None = None
    above: WardClock | None = None
    """The clock of whoever cast it."""
    history: list[Message] = field(default_factory=list)
    said: str = ""

    def __post_init__(self) -> None:
        in_shell = {name: gate_fields(kind) for name, kind in self.part.gates.items() if not kind.contained}
        self._box = ShellBox(self.stage.sandbox, in_shell)
        bench = Bench(self.stage.files, self._box, cast=self._cast, context=self.stage.context)
        recorder = self.stage.context.recorder
        self._hands = Hands(self.part.gates, bench, recorder, self.parent, self.stage.sandbox)
        bench.call = self._hands.call
        self._medium = medium_type(self.part.medium)(self._hands, self.stage.native)

    async def perform(self, message: str) -> Outcome:
        """Work on one message until `done`, or until a ward ends it."""
        self._hands.finished, self._hands.result, self.said = False, None, ""
        self._hear(Message("user", message))
        self._clock = WardClock(self.part.wards.max_seconds, self.above)
        try:
            async with self._clock.running():
                for _ in range(self.part.wards.max_turns):
                    await self._turn()
                    if self._hands.finished:
                        return Outcome(self._hands.result, self.said)
        except TimeoutError:
            if not self._clock.expired:
                raise
            return Outcome(None, self.said, "max_seconds")
        return Outcome(None, self.said, "max_turns")

    async def close(self) -> None:
        """End every program."""
        try:
            await self._medium.close()
        finally:
            await self._box.close()

    async def _turn(self) -> None:
        system = "\n\n".join(part for part in (self.part.system, self._medium.brief()) if part)
        messages = (Message("system", system), *self.history)
        with self._clock.standing_still():
            answer = await self.speaker.answer(messages, self._medium.tools())
        step = self._medium.step(answer)
        self.said = step.text
        self.stage.context.recorder.assistant(
            step.text, code=step.code, medium=self.part.medium, parent=self.parent
        )
        await self._clock.charge(self.speaker.seconds)
        calls = tuple(map(_told_again, answer.calls)) if self._medium.tools() else ()
        if answer.text or calls:  # a server refuses a message with nothing in it
            self.history.append(Message("assistant", answer.text, calls))
        for message in await self._medium.act(step):
            self._hear(message)

    def _hear(self, message: Message) -> None:
        """Neighbours that are not the model's are one message: many chat templates take nothing else."""
        if message.role == "user" and self.history and self.history[-1].role == "user":
            last = self.history.pop()
            message = replace(last, content=f"{last.content}\n\n{message.content}")
        self.history.append(message)

    async def _cast(self, cast: Cast) -> Json:
        """A child's events are grafted in where it was cast."""
        part, speaker = self._child_part(cast), self._child_speaker()
        recorder = self.stage.context.recorder
        number = recorder.child_start(cast.medium, cast.prompt, self.parent)
        if isinstance(speaker, ServedSpeaker):
            speaker.asker = self.stage.context.child_asker(number)
        child = Actor(part, speaker, self.stage, number, self._clock)
        reason: Literal["done", "error", "interrupted"] | Ward = "error"
        result: Json = None
        try:
            outcome = await child.perform(cast.prompt)
            reason, result = outcome.ward or "done", outcome.result
        except asyncio.CancelledError:
            reason = "interrupted"
            raise
        finally:
            try:
                recorder.child_end(number, reason, terminated=reason == "done", result=result)
            finally:
                await child.close()
        if reason != "done":
            raise GateError(f"the child was ended by its ward {reason} before it was done")
        return result

    def _child_part(self, cast: Cast) -> Part:
        if self.part.wards.max_depth < 1:
            raise GateError("no child can be cast from here: max_depth is reached")
        if cast.medium not in self.stage.mediums:
            raise GateError(f"a child cannot have the medium {cast.medium} here")
        wanted = tuple(self.part.gates) if cast.gates is None else (*cast.gates, "done")
        wanted = tuple(dict.fromkeys((*wanted, "run") if cast.medium == "bash" else wanted))
        if missing := [name for name in wanted if name not in self.part.gates]:
            raise GateError(f"you have no gate {', '.join(missing)} to give to a child")
        gates = {name: self.part.gates[name] for name in wanted}
        return Part(cast.medium, gates, self.part.wards.for_child(cast.wards), cast.system_prompt or "")

    def _child_speaker(self) -> Speaker:
        if isinstance(self.speaker, ScriptedSpeaker):
            return self.speaker.child()
        assert isinstance(self.speaker, ServedSpeaker)
        return replace(self.speaker)


def _told_again(call: ToolCall) -> ToolCall:
    """Arguments that were no object are told as one: servers that parse what they are sent refuse others."""
    given = call.arguments
    return call if isinstance(given, dict) else replace(call, arguments={"arguments": given})
