"""Anthropic's Messages API: stored messages, responses, pairs of both, and batches."""

from collections.abc import Iterator

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import error_of, id_of, inner, object_of, rest_of, tags_of
from harness.importers._messages import is_messages, message_of, messages_of, text_of
from harness.importers._replies import Origin, conversation, exchange
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 5
_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_READ = (
    "id",
    "tags",
    "messages",
    "system",
    "request",
    "response",
    "params",
    "result",
    "content",
    "custom_id",
)


def recognise(record: Json) -> str | None:
    """A response of this API, or messages with a system prompt beside them or blocks in them."""
    for path in ((), ("response",), ("result", "message")):
        if _is_response(inner(record, *path)):
            return 'rows have a reply of the type "message" with content blocks'
    for path in ((), ("request",), ("params",)):
        place = inner(record, *path)
        if not is_messages(inner(place, "messages")):
            continue
        if "system" in place:
            return 'rows have "system" beside "messages"'
        if any(_has_blocks(message) for message in place["messages"]):
            return 'rows have "messages" with blocks such as "tool_use"'
        if path == ("params",):
            return 'rows have "params" with "messages"'
    return None


def _is_response(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "message"
        and value.get("role") == "assistant"
        and isinstance(value.get("content"), list)
        and "stop_reason" in value
    )


def _has_blocks(message: dict[str, Json]) -> bool:
    content = message.get("content")
    kinds = [inner(part, "type") for part in content] if isinstance(content, list) else []
    return any(isinstance(kind, str) and kind in _BLOCKS for kind in kinds)


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """Stored messages are all judged; where there is a reply beside a request, only the reply is."""
    record = object_of(record)
    places = (record.get("response"), inner(record, "result", "message"), record)
    reply = next((place for place in places if isinstance(place, dict) and "content" in place), None)
    asked = (record.get("request"), record.get("params"), record)
    request = next((place for place in asked if isinstance(place, dict) and "messages" in place), None)
    if reply is None and (reason := error_of(record) or error_of(record.get("result"))):
        raise Unreadable("the server answered with an error: {}", reason)
    source = reply or {}
    origin = Origin(
        id_of(record.get("id"), record.get("custom_id"), source.get("id")),
        tags_of(record.get("tags")),
        {**rest_of(source, *_READ), **rest_of(record, *_READ)},
    )
    history = [] if request is None else [*_system(request.get("system")), *messages_of(request["messages"])]
    if reply is not None:
        answer = message_of({**reply, "role": reply.get("role", "assistant")})
        yield from exchange(origin, history, [] if answer is None else [answer])
    elif request is not record:
        yield PassedOver("a request without a reply in words")
    elif history:
        yield conversation(origin, history)
    else:
        raise Unreadable("no message with any words")


def _system(value: Json) -> list[Message]:
    text = text_of(value)
    return [Message("system", text)] if text else []
