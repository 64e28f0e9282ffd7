"""Calling gates on an agent's behalf, and writing down what came of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import ValidationError

from harness.box import GateAnswer
from harness.gate import Bench, Gate, GateError
from harness.problems import first_mistake, shown
from harness.record import Sink
from harness.sandbox import Sandbox
from harness.transcript import Json

LARGEST = 2**20
"""Bytes of a call's arguments, as JSON: every call is written down with them."""


@dataclass
class Hands:
    """One agent's gates; `parent` is the child_start its events belong under."""

    gates: Mapping[str, type[Gate]]
    bench: Bench
    recorder: Sink
    parent: int | None
    sandbox: Sandbox
    finished: bool = False
    """Whether `done` was called."""
    result: Json = None
    _noted: bool = field(default=False, repr=False)

    async def call(self, name: str, arguments: Json) -> GateAnswer:
        """A gate that is not there gives no observation: it cannot have been used."""
        await asyncio.sleep(0)  # gates that never wait would let no limit of time be noticed
        self.recorder.gate_call(name, _too_large(arguments) or arguments, self.parent)
        kind = self.gates.get(name)
        if kind is None:
            there = ", ".join(self.gates)
            return GateAnswer(ok=False, result=f'there is no gate "{shown(name)}"; there are: {there}')
        if kind.contained:
            self.note_sandbox()
        try:
            result, ok = await _checked(kind, name, arguments).call(self.bench), True
        except GateError as error:
            result, ok = str(error), False
        self.recorder.observation(name, ok=ok, result=result, parent=self.parent)
        if ok and kind.final:
            self.finished, self.result = True, result
        return GateAnswer(ok=ok, result=result, final=self.finished)

    def observe(self, what: str, *, ok: bool, result: Json) -> None:
        """Something came of the agent's work that no gate gave."""
        self.recorder.observation(what, ok=ok, result=result, parent=self.parent)

    def note_sandbox(self) -> None:
        """Once, when the first program is started."""
        if not self._noted:
            self._noted = True
            level, network = self.sandbox.level, self.sandbox.network
            self.recorder.sandbox(level, network=network, parent=self.parent)


def _too_large(arguments: Json) -> str:
    """Why they are not taken and not written down; empty where they are."""
    try:
        size = len(orjson.dumps(arguments))
    except TypeError:  # what is not JSON, the recorder refuses
        return ""
    return f"{size} bytes of arguments are too many, at most {LARGEST} are taken" if size > LARGEST else ""


def _checked(kind: type[Gate], name: str, arguments: Json) -> Gate:
    if not isinstance(arguments, dict):
        raise GateError(f"{name}: the arguments are not a JSON object")
    if why := _too_large(arguments):
        raise GateError(f"{name}: {why}")
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        spot, what = first_mistake(error)
        raise GateError(f"{name}: {spot}: {what}") from error
