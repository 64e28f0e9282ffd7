"""Anthropic's messages API."""

from typing import ClassVar, Self

from pydantic import field_validator, model_validator

from harness.model import Answer, Message, Question, Tokens, ToolCall
from harness.provider import Payload, Provider, none_if_unreadable
from harness.transcript import MOST, Count, Json

_MOST_TOKENS = 4096
"""The API has no default of its own for the length of an answer."""


class Anthropic(Provider):
    """It has no seeds: the seed shapes nothing but the trial's name."""

    base_url: ClassVar[str] = "https://api.anthropic.com"
    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    url_variable: ClassVar[str] = "ANTHROPIC_BASE_URL"
    path: ClassVar[str] = "/v1/messages"

    def url(self, base_url: str) -> str:
        """The version may stand in the base URL already, as it does with other servers."""
        return base_url.removesuffix("/v1") + self.path

    def headers(self, key: str | None) -> dict[str, str]:
        """The API's version is part of every request."""
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(self, question: Question, name: str) -> dict[str, Json]:
        """The system prompt stands apart; neighbours of one role are one message."""
        options = question.options
        system = [message.content for message in question.messages if message.role == "system"]
        body = {
            "model": name,
            "max_tokens": options.max_tokens or _MOST_TOKENS,
            "system": "\n\n".join(system) or None,
            "messages": _messages(question.messages),
            "temperature": options.temperature,
            "stop_sequences": list(options.stop) or None,
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in question.tools
            ]
            or None,
        }
        return {key: value for key, value in body.items() if value is not None} | options.extra_body

    def read(self, payload: Json) -> Answer:
        """Texts joined, tool uses in order; blocks of other kinds are left out."""
        message = _Message.model_validate(payload)
        texts = [block.text for block in message.content if block.type == "text"]
        calls = tuple(
            ToolCall(block.id, block.name, block.input)
            for block in message.content
            if block.type == "tool_use"
        )
        usage = message.usage
        tokens = None if usage is None else Tokens(usage.input, usage.output_tokens)
        return Answer("".join(texts), calls, finish=message.stop_reason, tokens=tokens)


class _Block(Payload):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Json = None


class _Usage(Payload):
    input_tokens: Count
    output_tokens: Count
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None

    @property
    def input(self) -> int:
        """What was read from or written to the server's cache was input all the same."""
        cached = (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        return self.input_tokens + cached

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if self.input > MOST:
            raise ValueError("too many to be counted")
        return self


class _Message(Payload):
    content: tuple[_Block, ...]
    stop_reason: str | None = None
    usage: _Usage | None = None

    _uncounted = field_validator("usage", mode="wrap")(none_if_unreadable)


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Json]]:
    joined: list[dict[str, Json]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] += _blocks(message)
        else:
            joined.append({"role": role, "content": _blocks(message)})
    return joined


def _blocks(message: Message) -> list[dict[str, Json]]:
    """An empty text is left out, since the API refuses it."""
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.call_id, "content": message.content}]
    text = [{"type": "text", "text": message.content}] if message.content else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)}
        for call in message.calls
    ]
    return text + calls


def _input(call: ToolCall) -> dict[str, Json]:
    return call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
