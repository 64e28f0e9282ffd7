"""ShareGPT: `conversations` of `from` and `value`, as many data sets have them."""

from collections.abc import Iterator

from harness.conversation import Conversation, Message, Role
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import id_of, object_of, rest_of, tags_of
from harness.importers._replies import Origin, conversation
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 5
ROLES: dict[str, Role] = {
    "human": "user", "user": "user",
    "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant", "model": "assistant",
    "bing": "assistant", "bard": "assistant", "ai": "assistant", "bot": "assistant",
    "system": "system",
    "tool": "tool", "observation": "tool", "function": "tool", "function_response": "tool",
    "function_call": "tool",
}  # fmt: skip


def recognise(record: Json) -> str | None:
    """The two keys of every message."""
    talk = _talk(record) if isinstance(record, dict) else None
    if isinstance(talk, list) and talk and all(isinstance(each, dict) and "from" in each for each in talk):
        return 'rows have "conversations" with "from" and "value"'
    return None


def _talk(record: dict[str, Json]) -> Json:
    return record.get("conversations", record.get("conversation"))


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """All of it; of a pair to choose from, what was chosen."""
    record = object_of(record)
    talk = _talk(record)
    if not isinstance(talk, list):
        raise Unreadable('"conversations" is not a list')
    if isinstance(record.get("chosen"), dict):
        talk = [*talk, record["chosen"]]
    messages = [message for message in map(_message, talk) if message is not None]
    system = record.get("system")
    if isinstance(system, str) and system:
        messages.insert(0, Message("system", system))
    if not messages:
        raise Unreadable("no message with any words")
    read_keys = ("id", "tags", "conversations", "conversation", "system", "chosen", "rejected")
    yield conversation(
        Origin(id_of(record.get("id")), tags_of(record.get("tags")), rest_of(record, *read_keys)), messages
    )
    if isinstance(record.get("rejected"), dict):
        yield PassedOver("a reply that was not preferred")


def _message(item: Json) -> Message | None:
    if not isinstance(item, dict):
        raise Unreadable("a message is {}, not an object", item)
    speaker, text = item.get("from"), item.get("value")
    role = ROLES.get(speaker) if isinstance(speaker, str) else None
    if role is None:
        raise Unreadable('unknown "from" {}', speaker)
    if text is not None and not isinstance(text, str):
        raise Unreadable('"value" is {}, not a text', text)
    if not text:
        return None
    return Message(role, text, context=role == "assistant" and item.get("weight") == 0)
