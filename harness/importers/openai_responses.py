"""OpenAI's Responses API: input and output items, as responses, pairs and batches have them."""

from collections.abc import Iterator

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import error_of, id_of, inner, object_of, rest_of, tags_of
from harness.importers._messages import message_of, text_of
from harness.importers._replies import Origin, exchange
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 6
_KINDS = frozenset({"message", "reasoning", "function_call", "web_search_call", "file_search_call"})


def recognise(record: Json) -> str | None:
    """Output items, or a batch that asks for them."""
    for path in ((), ("response",), ("response", "body"), ("body",)):
        if _has_items(inner(record, *path)):
            return 'rows have "output" with items of the Responses API'
    if inner(record, "url") == "/v1/responses":
        return 'rows ask for "/v1/responses"'
    return None


def _has_items(value: Json) -> bool:
    output = inner(value, "output")
    if not isinstance(output, list):
        return False
    kinds = [inner(item, "type") for item in output]
    return inner(value, "object") == "response" or any(isinstance(k, str) and k in _KINDS for k in kinds)


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """The output is judged; what the input repeats is context."""
    record = object_of(record)
    response = next((found for found in _places(record, "response") if "output" in found), None)
    request = next((found for found in _places(record, "request") if "input" in found), {})
    if response is None:
        if reason := error_of(record):
            raise Unreadable("the server answered with an error: {}", reason)
        yield PassedOver("a request without a reply in words")
        return
    if not isinstance(response["output"], list):
        raise Unreadable('"output" is not a list')
    system = request.get("instructions") or response.get("instructions")
    history = [*_system(system), *_items(request.get("input"))]
    origin = Origin(
        id_of(record.get("id"), record.get("custom_id"), response.get("id")),
        tags_of(record.get("tags")),
        {**rest_of(response, *_READ), **rest_of(record, *_READ)},
    )
    yield from exchange(origin, history, _items(response["output"]))


_READ = ("id", "tags", "input", "output", "instructions", "request", "response", "body", "custom_id")


def _places(record: dict[str, Json], key: str) -> list[dict[str, Json]]:
    """Where a request or a response may stand: in a pair, in a batch, or as the record itself."""
    found = (inner(record, key, "body"), record.get(key), record.get("body"), record)
    return [place for place in found if isinstance(place, dict)]


def _system(value: Json) -> list[Message]:
    if isinstance(value, list):
        return _items(value)
    return [Message("system", value)] if isinstance(value, str) and value else []


def _items(value: Json) -> list[Message]:
    if value is None:
        return []
    if isinstance(value, str):
        return [Message("user", value)] if value else []
    if not isinstance(value, list):
        raise Unreadable("the input is {}, not a text or a list of items", value)
    return [message for message in map(_item, value) if message is not None]


def _item(item: Json) -> Message | None:
    """Messages and what tools gave back; calls and reasoning are no words to anyone."""
    if isinstance(item, dict) and item.get("type", "message") != "message":
        text = text_of([item]) if item.get("type") == "function_call_output" else ""
        return Message("tool", text) if text else None
    return message_of(item)
