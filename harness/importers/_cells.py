"""What stands in one cell of a table: a text that somebody said, or messages packed into it as JSON."""

from collections.abc import Iterator, Mapping, Sequence

import orjson

from harness.conversation import Conversation, Message, Role
from harness.importer import ImportOptions, PassedOver, Unreadable
from harness.importers import anthropic_messages, openai_chat, sharegpt
from harness.importers._loose import answered, asked
from harness.transcript import Json

_KEPT = ("messages", "conversations")
_SIGNS = frozenset({"role", "content", "messages", "choices", "generations", "text", "lc"})
_OTHERS = (anthropic_messages, openai_chat, sharegpt)


def text_in(row: Mapping[str, Json], column: str) -> str:
    """The text of a cell; none where it is empty."""
    value = row.get(column)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise Unreadable('"{}" is {}, not a text', column, value)


def said(text: str, role: Role, column: str, history: Sequence[Message] = ()) -> list[Message]:
    """The messages in a cell. JSON without a sign of messages may be what somebody said."""
    inside = _packed(text)
    if inside is None:
        if text.lstrip()[:2] in ("{'", "[{") and "'role'" in text:
            raise Unreadable('"{}" has messages that are not JSON', column)
        return [Message(role, text)] if text else []
    try:
        found = asked(inside) if role == "user" else answered(inside, history)
    except Unreadable as error:
        if not _signed(inside):
            return [Message(role, text)]
        raise Unreadable('"{}" is JSON: {}', column, error) from error
    if not found and _signed(inside):
        raise Unreadable('"{}" is JSON without words', column)
    return found or [Message(role, text)]


def _signed(inside: Json) -> bool:
    """Whether it is about messages."""
    objects = inside if isinstance(inside, list) else [inside]
    return any(isinstance(each, dict) and not _SIGNS.isdisjoint(each) for each in objects)


def _packed(text: str) -> Json:
    """What a text is as JSON, where that is an object or a list of them; `[1, 2]` is somebody's words."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    while isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    objects = found if isinstance(found, list) else [found]
    return found if any(isinstance(each, dict) for each in objects) else None


def kept_column(row: Mapping[str, Json]) -> str | None:
    """The column of a whole conversation as JSON; where nothing is known of its cells, its name will do."""
    for name in _KEPT:
        value = row.get(name)
        if isinstance(value, str) and value.lstrip()[:1] in ("", "["):
            return name
    return None


def kept_talk(
    row: Mapping[str, Json], column: str, options: ImportOptions
) -> Iterator[Conversation | PassedOver]:
    """As the importer reads it that knows a JSON line with such a list; empty cells would not be there."""
    inside = _packed(text_in(row, column))
    if not isinstance(inside, list):
        raise Unreadable('"{}" is not a list of messages in JSON', column)
    record = {key: value for key, value in row.items() if value not in (None, "")} | {column: inside}
    for other in _OTHERS:
        if other.recognise(record):
            yield from other.read(record, options)
            return
    raise Unreadable('"{}" is not a list of messages with roles', column)
