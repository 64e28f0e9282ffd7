"""Gates: the tools an agent may call, each a class whose fields are the arguments."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from harness import plugins
from harness.records import Record
from harness.transcript import Json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from harness.box import GateCall, ShellBox
    from harness.confined import ConfinedFolder
    from harness.gates.cast import Cast
    from harness.subject import Context


class GateError(Exception):
    """What a gate refuses or cannot do; the agent sees the message, and the trial goes on."""


@dataclass
class Bench:
    """What gates work on: the workspace of one trial, as files and as a shell, and a way to cast children."""

    files: "ConfinedFolder"
    box: "ShellBox"
    call: "GateCall | None" = None
    """How commands in the shell reach the agent's gates."""
    cast: "Callable[[Cast], Awaitable[Json]] | None" = None
    context: "Context | None" = None


class Gate(Record):
    """A subclass's fields are its arguments, in order; the name of its file is the gate's name."""

    final: ClassVar[bool] = False
    """Whether calling it ends the agent's work."""
    contained: ClassVar[bool] = False
    """Whether it starts programs, in the sandbox."""

    @abstractmethod
    async def call(self, bench: Bench) -> Json:
        """Do it; raises GateError for what the agent is to be told."""


def gate_type(name: str) -> type[Gate]:
    """The class behind a gate's name."""
    return plugins.only_class("gates", name, Gate)


def gate_fields(kind: type[Gate]) -> tuple[str, ...]:
    """The arguments in the order in which they may be given without their names."""
    return tuple(kind.model_fields)


def gate_schema(kind: type[Gate]) -> dict[str, Json]:
    """The JSON Schema of a gate's arguments, as tool definitions take it."""
    schema: dict[str, Json] = _untitled(kind.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def description(kind: type[Gate]) -> str:
    """What a gate does, in one line."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _untitled(schema: Json) -> Json:
    """Without the titles pydantic makes of names; an argument may well be called `title`."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _untitled(each) for name, each in value.items()}
        if key == "properties"
        else _untitled(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
