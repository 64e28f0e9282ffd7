"""OpenTelemetry GenAI spans as JSON: messages as attributes, and the older events and attributes."""

import re
from collections.abc import Iterator, Mapping

import orjson

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import object_of
from harness.importers._messages import message_of, text_of
from harness.importers._otlp import PACKED, Span, nested, parsed, spans
from harness.importers._replies import Origin, exchange
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 8
_NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.(role|content)")
_AROUND = frozenset({"invoke_agent", "create_agent", "execute_tool", "embeddings", "invoke_workflow"})
_WORDS = frozenset(
    {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
        "gen_ai.prompt", "gen_ai.completion", "gen_ai.tool.definitions",
    }
)  # fmt: skip
_MESSAGE = frozenset({"content", "role", "tool_calls"})
_BODIES = {
    "client.inference.operation.details": _WORDS,
    "choice": _MESSAGE | {"message", "finish_reason"},
}
"""What the bodies of events have; of all others, what a message has."""


def recognise(record: Json) -> str | None:
    """OTLP's outermost key, or a span with attributes that begin with `gen_ai.`."""
    if not isinstance(record, dict):
        return None
    for key in ("resourceSpans", "resourceLogs"):
        if isinstance(record.get(key), list):
            return f'OTLP JSON with "{key}"'
    attributes = record.get("attributes")
    if isinstance(attributes, dict) and any(name.startswith("gen_ai.") for name in attributes):
        return 'spans with "gen_ai." attributes'
    if isinstance(attributes, dict) and ("context" in record or "spanId" in record or "span_id" in record):
        return "spans"
    return None


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver | Unreadable]:
    """Every call of a model: its output is judged, its input is context."""
    found = list(spans(object_of(record)))
    for span in found:
        try:
            yield from list(_call(span))
        except Unreadable as error:
            if len(found) == 1:
                raise
            yield Unreadable("span {}: {}", span.id, error)


def _call(span: Span) -> Iterator[Conversation | PassedOver]:
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _AROUND:
        yield PassedOver("a span around calls of a model")
        return
    asked, said = _today(span.attributes)
    if not asked and not said:
        asked, said = _events(span)
    if not asked and not said:
        asked, said = _before(span)
    if not asked and not said:
        about = any(name.startswith("gen_ai.") for name in span.attributes)
        yield PassedOver("a span that does not hold the words" if about else "a span of something else")
        return
    kept = {key: value for key, value in span.attributes.items() if not _is_words(key)}
    fields = {**nested(kept), "trace_id": span.trace, "name": span.name, "resource": nested(span.resource)}
    origin = Origin(span.id, (), fields)
    for place, reply in enumerate(_choices(said), 1):
        yield from exchange(origin.choice(place), asked, reply)


def _choices(said: list[Message]) -> list[list[Message]]:
    """Each message that a call gave back is a choice, unless one of a tool shows that they are one talk."""
    if all(each.role == "assistant" for each in said):
        return [[each] for each in said] or [said]
    return [said]


def _is_words(key: str) -> bool:
    return key in _WORDS or _NUMBERED.fullmatch(key) is not None


def _today(attributes: Mapping[str, Json]) -> tuple[list[Message], list[Message]]:
    """Messages with parts, as the conventions have them now."""
    system = text_of(parsed(attributes.get("gen_ai.system_instructions"), "type"))
    asked = [Message("system", system)] if system else []
    asked += _messages(attributes.get("gen_ai.input.messages"), "user")
    return asked, _messages(attributes.get("gen_ai.output.messages"), "assistant")


def _messages(value: Json, role: str) -> list[Message]:
    """A list of messages, or a text where somebody put one."""
    value = parsed(value, "role")
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    found = []
    for item in items:
        if isinstance(item, dict):
            content = item["parts"] if "parts" in item else parsed(item.get("content"), "type")
            item = {"role": item.get("role", role), "content": content}  # noqa: PLW2901
        message = message_of({"role": role, "content": item} if isinstance(item, str) else item)
        if message is not None:
            found.append(message)
    return found


def _events(span: Span) -> tuple[list[Message], list[Message]]:
    """One event a message, and one a choice."""
    asked: list[Message] = []
    said: list[Message] = []
    for name, attributes in span.events:
        kind = name.removeprefix("gen_ai.")
        body = _body(attributes, _BODIES.get(kind, _MESSAGE))
        if kind == "client.inference.operation.details":
            more_asked, more_said = _today(body)
            asked, said = asked + more_asked, said + more_said
        elif kind == "choice":
            message = body.get("message", body.get("content"))
            message = parsed(message, "content" if "message" in body else "type")
            message = {"content": message} if isinstance(message, list) else message
            said += _messages([message] if message is not None else None, "assistant")
        elif kind in ("system.message", "user.message", "assistant.message", "tool.message"):
            asked += _messages([{"role": kind.partition(".")[0], "content": body.get("content")}], "user")
    return asked, said


def _body(attributes: dict[str, Json], signs: frozenset[str]) -> dict[str, Json]:
    """What an event says; some write all of it as JSON into one attribute, some its words alone.

    Words may well be JSON: an object in a text is all the event says where it is empty or has one of `signs`.
    """
    packed = attributes.get(PACKED)
    if packed is None or isinstance(packed, dict):
        return {**attributes, **(packed or {})}
    try:
        body = orjson.loads(packed) if isinstance(packed, str) else None
    except orjson.JSONDecodeError:
        body = None
    if isinstance(body, dict) and (not body or not signs.isdisjoint(body)):
        return {**attributes, **body}
    return {**attributes, "content": packed}


def _before(span: Span) -> tuple[list[Message], list[Message]]:
    """The prompt and the completion as attributes: whole, or message by message with a number."""
    numbered: dict[str, dict[int, dict[str, Json]]] = {"prompt": {}, "completion": {}}
    for key, value in span.attributes.items():
        if match := _NUMBERED.fullmatch(key):
            numbered[match[1]].setdefault(int(match[2]), {})[match[3]] = value
    both = [[side[number] for number in sorted(side)] or None for side in numbered.values()]
    whole = dict(span.attributes)
    for _, body in span.events:
        whole |= {key: body[key] for key in ("gen_ai.prompt", "gen_ai.completion") if key in body}
    asked, said = both[0] or whole.get("gen_ai.prompt"), both[1] or whole.get("gen_ai.completion")
    return _messages(asked, "user"), _messages(said, "assistant")
