"""What is said to a language model and what it says back, whoever serves it."""

import difflib
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from harness import plugins
from harness.records import Record
from harness.script import lines_for
from harness.transcript import Json

Role = Literal["system", "user", "assistant", "tool"]
StopText = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class ToolCall:
    """The model asks for a tool; `id` ties the answer to it."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True)
class Message:
    """One message of a conversation with a model; `call_id` says which call a tool's message answers."""

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Tool:
    """What the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Json]


@dataclass(frozen=True)
class Tokens:
    """What one request used, as the server counted it."""

    input: int
    output: int


@dataclass(frozen=True)
class Answer:
    """What a model said; `code` only where a script says outright that it is code."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    code: str | None = None
    finish: str | None = None
    tokens: Tokens | None = None


class ScriptedToolCall(Record):
    """A gate the scripted model calls."""

    gate: str
    arguments: dict[str, Json] = Field(default={})


class ScriptedAnswer(Record):
    """What a scripted model says: words, code for a code or bash medium, or calls of gates."""

    text: str = ""
    code: str | None = None
    calls: tuple[ScriptedToolCall, ...] = ()

    def answer(self, number: int) -> Answer:
        """As a model would give it."""
        calls = tuple(
            ToolCall(f"call-{number}-{index}", call.gate, call.arguments)
            for index, call in enumerate(self.calls, 1)
        )
        return Answer(self.text, calls, self.code, finish="stop")


ScriptedLine = str | ScriptedAnswer
ScriptedLines = Annotated[tuple[ScriptedLine, ...], Field(min_length=1)]


class ScriptedModel(Record):
    """A model whose answers are data: deterministic, needs no key, no network.

    A flat list is said in order; a list of lists goes by (seed − 1) modulo its size, a map by seed. The first
    child that is cast takes the first of `children`, the second the next.
    """

    replies: (
        ScriptedLines
        | Annotated[tuple[ScriptedLines, ...], Field(min_length=1)]
        | Annotated[dict[int, ScriptedLines], Field(min_length=1)]
    )
    children: tuple["ScriptedModel", ...] = ()

    def lines(self, seed: int) -> tuple[ScriptedLine, ...]:
        """What is said under a seed."""
        return lines_for(seed, self.replies)


def split_name(model: str) -> tuple[str, str]:
    """`openai:llama3:8b` is the model `llama3:8b` of the provider `openai`; raises ValueError."""
    provider, colon, name = model.partition(":")
    known = plugins.names("providers")
    if not colon or not name or provider not in known:
        close = difflib.get_close_matches(provider, known, n=1)
        hint = f'did you mean "{close[0]}:…"?' if close and colon else f"providers: {', '.join(known)}"
        raise ValueError(f'"{model}" is not PROVIDER:NAME ({hint})')
    return provider, name


def _of_known_provider(model: str) -> str:
    split_name(model)
    return model


ModelName = Annotated[str, AfterValidator(_of_known_provider)]


class ModelOptions(Record):
    """Which model, and with which parameters; where one is left out, the server's own default holds."""

    model: ModelName | ScriptedModel | None = Field(
        default=None, description='"PROVIDER:NAME"; the model of --model if left out'
    )
    base_url: str | None = Field(
        default=None, description="the server; no key is ever sent to one named here"
    )
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1, description="of one answer")
    stop: tuple[StopText, ...] = ()
    extra_body: dict[str, Json] = Field(default={}, description="more keys for the body of each request")
    request_timeout: float = Field(
        default=120, gt=0, le=3600, allow_inf_nan=False, description="seconds for one request"
    )

    def parameters(self) -> dict[str, Json]:
        """What shapes an answer, for fingerprints: not how long we wait for it."""
        own = set(ModelOptions.model_fields) - {"request_timeout"}
        return self.model_dump(mode="json", exclude_defaults=True, include=own)


@dataclass(frozen=True)
class Question:
    """One thing asked of a model: everything that shapes the answer."""

    messages: tuple[Message, ...]
    options: ModelOptions
    tools: tuple[Tool, ...] = ()
    seed: int | None = None
