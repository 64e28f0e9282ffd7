"""A model that acts: it calls gates, writes code or commands, casts children, until it is done."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal, Self, get_args

import orjson
from pydantic import Field, PrivateAttr, StrictBool, field_validator
from pydantic.json_schema import SkipJsonSchema

from harness import plugins
from harness.actor import Actor, Outcome, Part, Stage
from harness.confined import ConfinedFolder
from harness.errors import Place, SynthesisError
from harness.function_gate import function_gate, gate_identity, gate_name
from harness.gate import Gate, gate_type
from harness.model_subject import ModelSubject
from harness.problems import shown
from harness.records import Record
from harness.sandbox import LEVELS, Limits, Sandbox, strongest
from harness.subject import Context, FileText, Reply, ScenarioFolder
from harness.transcript import Json, Medium
from harness.wards import Wards

GateEntry = str | SkipJsonSchema[Callable[..., Any]]


class AgentIdentity(Record):
    """Who the agent is."""

    system_prompt: str | FileText = ""


class Agent(ModelSubject):
    """`gates` are names; `done` is always there, and `run` in the medium bash."""

    gates: tuple[GateEntry, ...] = ()
    wards: Wards = Wards()
    medium: Medium = "conversation"
    identity_: AgentIdentity = Field(default=AgentIdentity(), alias="identity")
    tool_calls: Literal["native", "text"] = Field(
        default="native", description='"text" for models that have no tool calls of their own'
    )
    network: StrictBool = Field(default=False, description="whether its programs may use the network")
    limits: Limits = Field(default=Limits(), description="of its programs")
    not_kept: ClassVar[tuple[str, ...]] = ("gates",)
    _mediums: tuple[Medium, ...] = PrivateAttr(default=get_args(Medium))

    @field_validator("gates")
    @classmethod
    def _known_gates(cls, gates: tuple[GateEntry, ...]) -> tuple[GateEntry, ...]:
        known = plugins.names("gates")
        for gate in gates:
            if isinstance(gate, str) and gate not in known:
                raise ValueError(f'there is no gate "{shown(gate)}"; there are: {", ".join(known)}')
        names = [gate if isinstance(gate, str) else gate_name(gate) for gate in gates]
        for gate in gates:
            if not isinstance(gate, str):
                if gate_name(gate) in known:
                    raise ValueError(f'"{gate_name(gate)}" is the name of a gate that is there already')
                function_gate(gate)
        if len(set(names)) < len(names):
            raise ValueError(f"a gate is listed twice in {names}")
        return gates

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:
        """Read the prompt's file; a stranger's agent starts no programs, and neither do its children."""
        if folder.confined and self.runs_programs:
            fix = "use the medium conversation without run, or run without --data-only"
            raise SynthesisError("the agent runs programs", where=place, fix=fix)
        settled = super().settle(folder, place)
        prompt = self.identity_.system_prompt
        if isinstance(prompt, FileText):
            text = folder.read_text(prompt, place / "identity" / "system_prompt")
            settled = settled.model_copy(update={"identity_": AgentIdentity(system_prompt=text)})
        settled._mediums = ("conversation",) if folder.confined else get_args(Medium)
        return settled

    @property
    def mediums(self) -> tuple[Medium, ...]:
        """Those that children may have."""
        return self._mediums

    @property
    def runs_programs(self) -> bool:
        """Whether anything of it has to be contained."""
        return self.medium != "conversation" or any(kind.contained for kind in self.gate_types().values())

    @property
    def may_run_programs(self) -> bool:
        """Whether it or a child that it casts may start one."""
        return self.runs_programs or ("cast" in self.gates and len(self.mediums) > 1)

    def gate_types(self) -> dict[str, type[Gate]]:
        """What may be called, by name."""
        own = {
            gate if isinstance(gate, str) else gate_name(gate): gate_type(gate)
            if isinstance(gate, str)
            else function_gate(gate)
            for gate in self.gates
        }
        always = ("done", "run") if self.medium == "bash" else ("done",)
        return own | {name: gate_type(name) for name in always if name not in own}

    def identity(self) -> dict[str, Json]:
        """Functions by their name and what is in their file."""
        made = {"gates": [gate if isinstance(gate, str) else gate_identity(gate) for gate in self.gates]}
        return super().identity() | made

    def system_prompt(self, system: str | None) -> str | None:
        """Who it is, then what the scenario says; the medium adds how to act."""
        own = self.identity_.system_prompt
        assert isinstance(own, str)  # `settle` has read it
        return "\n\n".join(part for part in (own, system) if part) or None

    def open(self, context: Context) -> "AgentSession":
        """Nothing is asked and nothing started before the first message."""
        return AgentSession(self, context)


@dataclass
class AgentSession:
    """One actor for the whole conversation."""

    subject: Agent
    context: Context
    private: "TemporaryDirectory[str]" = field(init=False)

    def __post_init__(self) -> None:
        subject, context = self.subject, self.context
        system = subject.system_prompt(context.system) or ""
        part = Part(subject.medium, subject.gate_types(), subject.wards, system)
        speaker = subject.speaker(context, context.asker)
        level = strongest() if subject.may_run_programs else LEVELS[0]
        # After all that can raise: a session that was not made is closed by nobody.
        self.private = TemporaryDirectory(prefix="synthesis-", ignore_cleanup_errors=True)
        private = Path(self.private.name)
        sandbox = Sandbox(level, context.workspace, private, subject.limits, subject.network)
        native = subject.tool_calls == "native"
        stage = Stage(context, ConfinedFolder(context.workspace), sandbox, native, subject.mediums)
        self.actor = Actor(part, speaker, stage)

    async def reply(self, message: str) -> Reply:
        """What it hands to `done` is its answer; the person is told it, if it was not said already."""
        outcome = await self.actor.perform(message)
        if outcome.ward is not None:
            return Reply(outcome.text, result=None, terminated=False, recorded=True, ward=outcome.ward)
        text = _told(outcome)
        if text != outcome.text:
            self.context.recorder.assistant(text)
        return Reply(text, result=outcome.result, recorded=True)

    async def close(self) -> None:
        """End every program and let go of their folders."""
        try:
            await self.actor.close()
        finally:
            self.private.cleanup()


def _told(outcome: Outcome) -> str:
    if outcome.result in (None, ""):
        return outcome.text
    if isinstance(outcome.result, str):
        return outcome.result
    return orjson.dumps(outcome.result, option=orjson.OPT_SORT_KEYS).decode()
