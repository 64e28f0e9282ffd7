"""Any server that speaks OpenAI's chat completions: hosted, Ollama, vLLM, llama.cpp, LM Studio."""

from contextlib import suppress
from typing import ClassVar

import orjson
from pydantic import Field, field_validator

from harness.model import Answer, Message, Question, Tokens, Tool, ToolCall
from harness.provider import Payload, Provider, none_if_unreadable
from harness.transcript import Count, Json


class OpenAI(Provider):
    """Sends the trial's seed; a server that has no seeds ignores it."""

    base_url: ClassVar[str] = "https://api.openai.com/v1"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"
    url_variable: ClassVar[str] = "OPENAI_BASE_URL"
    path: ClassVar[str] = "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, question: Question, name: str) -> dict[str, Json]:
        """What was not asked for is left out, so that the server's defaults hold."""
        options = question.options
        body = {
            "model": name,
            "messages": [_message(message) for message in question.messages],
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "seed": question.seed,
            "stop": list(options.stop) or None,
            "tools": [_tool(tool) for tool in question.tools] or None,
        }
        return {key: value for key, value in body.items() if value is not None} | options.extra_body

    def read(self, payload: Json) -> Answer:
        """The first choice; a refusal is what the model said. Saying nothing uses tokens all the same."""
        completion = _Completion.model_validate(payload)
        choice = completion.choices[0]
        text = choice.message.content
        text = choice.message.refusal if text is None else text
        return Answer(
            text or "",
            tuple(_call(call) for call in choice.message.tool_calls or ()),
            finish=choice.finish_reason,
            tokens=None if completion.usage is None else completion.usage.tokens(),
        )


class _Function(Payload):
    name: str
    arguments: str | dict[str, Json] = ""


class _ToolCall(Payload):
    id: str = ""
    function: _Function


class _Said(Payload):
    content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[_ToolCall, ...] | None = None


class _Choice(Payload):
    message: _Said
    finish_reason: str | None = None


class _Usage(Payload):
    prompt_tokens: Count
    completion_tokens: Count

    def tokens(self) -> Tokens:
        return Tokens(self.prompt_tokens, self.completion_tokens)


class _Completion(Payload):
    choices: tuple[_Choice, ...] = Field(min_length=1)
    usage: _Usage | None = None

    _uncounted = field_validator("usage", mode="wrap")(none_if_unreadable)


def _message(message: Message) -> dict[str, Json]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _written(call)}}
        for call in message.calls
    ]
    plain = {"role": message.role, "content": message.content}
    return {**plain, "tool_calls": calls} if calls else plain


def _written(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else orjson.dumps(call.arguments).decode()


def _tool(tool: Tool) -> dict[str, Json]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _call(call: _ToolCall) -> ToolCall:
    """Arguments that are not JSON stay the text they are: the gate will say so to the model."""
    arguments: Json = call.function.arguments
    if isinstance(arguments, str):
        with suppress(orjson.JSONDecodeError):
            arguments = orjson.loads(arguments or "{}")
    return ToolCall(call.id, call.function.name, arguments)
