"""The way an agent acts: what it is told, how its words are read, what is done about them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from harness import plugins
from harness.gate import Gate, description, gate_fields
from harness.hands import Hands
from harness.model import Answer, Message, Tool, ToolCall
from harness.transcript import Json

_LONGEST_SHOWN = 20_000
_FENCE = "```"
_INFO = re.compile(r"```[ \t]*([\w+-]*)")


@dataclass(frozen=True)
class Step:
    """What the model said, taken apart: words, code, calls."""

    text: str
    code: str | None = None
    calls: tuple[ToolCall, ...] = ()


@dataclass
class Medium(ABC):
    """One agent's way to act; `hands` reach the gates. It may hold a program, so it has to be closed."""

    hands: Hands
    native: bool = True
    """Whether the model has tool calls of its own."""

    @abstractmethod
    def brief(self) -> str:
        """What the model is told about how to act."""

    def tools(self) -> tuple[Tool, ...]:
        """What is offered to the model as tools of its own."""
        return ()

    @abstractmethod
    def step(self, answer: Answer) -> Step:
        """Take apart what the model said."""

    @abstractmethod
    async def act(self, step: Step) -> list[Message]:
        """Do it, and say what came of it."""

    async def close(self) -> None:  # noqa: B027 - most hold nothing
        """End whatever was started."""


def medium_type(name: str) -> type[Medium]:
    """The medium that lives in `mediums/<name>.py`."""
    kind: type[Medium] = plugins.only_class("mediums", name, Medium)
    return kind


def gate_list(gates: Mapping[str, type[Gate]]) -> str:
    """A line for each gate with its arguments."""
    return "\n".join(
        f"- {name}({', '.join(gate_fields(kind))}): {description(kind)}" for name, kind in gates.items()
    )


def fenced(text: str, languages: tuple[str, ...]) -> tuple[str, list[str]]:
    """The words outside and the blocks inside of fences in one of the languages."""
    words: list[str] = []
    blocks: list[str] = []
    block: list[str] | None = None
    for line in text.replace("\r\n", "\n").split("\n"):
        if block is None and line.startswith(_FENCE):
            block = [line]
        elif block is None:
            words.append(line)
        elif line.rstrip() != _FENCE:
            block.append(line)
        else:
            if _language(block[0]) in languages:
                blocks.append("".join(f"{each}\n" for each in block[1:]))
            else:
                words += [*block, line]
            block = None
    return "\n".join([*words, *(block or ())]).strip(), blocks


def _language(opening: str) -> str:
    """What stands first behind a fence."""
    found = _INFO.match(opening)
    return found[1].lower() if found else ""


def shown_to_model(value: Json) -> str:
    """Texts as they are, other values as JSON; what is very long is cut, and says so."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_LONGEST_SHOWN]}\n[cut: {len(text) - _LONGEST_SHOWN} more characters]"
