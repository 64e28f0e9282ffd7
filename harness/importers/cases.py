"""Case files of `synthesis check`: one exchange a line, with an id, checks and labels."""

from collections.abc import Iterator

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import tags_of
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 4
_READ = frozenset({"id", "user", "assistant", "tags"})


def recognise(record: Json) -> str | None:
    """Both sides of an exchange, and its id, under these very names."""
    if not isinstance(record, dict):
        return None
    texts = all(isinstance(record.get(key), str) for key in ("id", "user", "assistant"))
    return 'rows have "id", "user" and "assistant"' if texts else None


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """One turn a row; labels and notes are fields."""
    if not isinstance(record, dict):
        raise Unreadable("not a JSON object")
    user, assistant, name = record.get("user"), record.get("assistant"), record.get("id", "")
    if type(user) is not str or type(assistant) is not str:
        missing = "assistant" if type(user) is str else "user"
        raise Unreadable(f'"{missing}" is not a text')
    if type(name) is not str:
        raise Unreadable('"id" is not a text')
    if not assistant.strip():
        raise Unreadable('"assistant" is empty')
    messages = (Message("user", user), Message("assistant", assistant))
    fields = {key: value for key, value in record.items() if key not in _READ}
    yield Conversation(name, messages, tags_of(record.get("tags")), fields)
