"""Tables with column names: an exchange a row, or a message a row; also rows of JSON with such keys."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from harness.conversation import Conversation, Message, Role
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._cells import kept_column, kept_talk, said, text_in
from harness.importers._fields import id_of, tags_of
from harness.importers._messages import role_of, to_judge
from harness.importers._replies import earlier
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"table", "lines", "document"})
CERTAINTY = 1
SYNONYMS = {
    "user": ("user", "prompt", "question", "instruction", "input", "query", "user_message", "human"),
    "assistant": (
        "assistant", "response", "answer", "output", "completion", "reply", "generation", "assistant_message",
        "bot", "chosen",
    ),
    "system": ("system", "system_prompt", "system_message"),
    "id": ("id", "row_id", "uuid", "key", "message_id"),
    "tags": ("tags", "labels"),
    "conversation": ("conversation_id", "session_id", "thread_id", "chat_id", "dialogue_id", "dialog_id"),
    "role": ("role", "speaker", "sender", "author"),
    "content": ("content", "text", "message", "utterance", "body"),
}  # fmt: skip
"""What columns are usually called, the likeliest first; case and spaces around do not count."""
_PAIR = ("user", "assistant")
_MORE = "more"
"""What an instruction is about stands beside it, where it is about anything; both are the person's words."""
_PARTS = ("conversation", "role", "content")


def recognise(record: Json) -> str | None:
    """Both halves of an exchange, or all that a message needs."""
    if not isinstance(record, dict) or _is_finding(record):
        return None
    columns = columns_of(record, {})
    for wanted in (_PARTS, _PAIR):
        if columns.keys() >= set(wanted) and all(_is_cell(record[columns[part]]) for part in wanted):
            return f"rows have the columns {', '.join(columns[part] for part in wanted)}"
    kept = kept_column(record)
    return None if kept is None else f"rows have the column {kept}"


def _is_finding(record: Mapping[str, Json]) -> bool:
    """What an audit of ours found, with the words that it is about."""
    return record.get("kind") in ("turn", "conversation") and isinstance(record.get("failed"), list | dict)


def _is_cell(value: Json) -> bool:
    return isinstance(value, str | int | None)


def columns_of(record: Mapping[str, Json], given: Mapping[str, str]) -> dict[str, str]:
    """Which column is what; what the user says comes first."""
    return _columns(tuple(record), tuple(given.items()))


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...], given: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """One that the user names for the person's words has all of them."""
    folded = {name.strip().lower().replace(" ", "_"): name for name in reversed(names)}
    found = {
        part: next((folded[usual] for usual in synonyms if usual in folded), None)
        for part, synonyms in SYNONYMS.items()
    }
    if found["user"] is not None and found["user"] == folded.get("instruction"):
        found[_MORE] = None if "user" in dict(given) else folded.get("input")
    return {part: column for part, column in {**found, **dict(given)}.items() if column is not None}


def belongs(before: Json, record: Json, options: ImportOptions) -> bool:
    """Neighbouring messages with one conversation's id."""
    if not isinstance(before, dict) or not isinstance(record, dict):
        return False
    columns = columns_of(record, options.columns)
    if not _one_a_row(columns):
        return False
    column = columns["conversation"]
    return record.get(column) is not None and before.get(column) == record.get(column)


def _one_a_row(columns: Mapping[str, str]) -> bool:
    return columns.keys() >= set(_PARTS)


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """All rows of one conversation; a row that has both sides is one by itself."""
    rows: list[Json] = record
    if not all(isinstance(row, dict) for row in rows):
        raise Unreadable("not a JSON object")
    columns = columns_of(rows[0], options.columns)
    kept = None if options.columns or _one_a_row(columns) else kept_column(rows[0])
    if kept is not None and (rows[0][kept] or "assistant" not in columns):
        yield from kept_talk(rows[0], kept, options)
        return
    missing = [column for column in columns.values() if column not in rows[0]]
    if missing:
        raise Unreadable('there is no column "{}"', missing[0])
    if _one_a_row(columns):
        yield _talk(rows, columns)
    elif "assistant" in columns:
        yield _exchange(rows[0], columns)
    else:
        raise Unreadable("no column for the assistant's words among {}", ", ".join(rows[0]))


def _talk(rows: list[dict[str, Json]], columns: Mapping[str, str]) -> Conversation:
    messages = []
    for row in rows:
        role = row.get(columns["role"])
        text = text_in(row, columns["content"])
        if text:
            whose = role_of(role.strip().lower() if isinstance(role, str) else role)
            messages.append(Message(whose, _words(text, whose, columns["content"])))
    if not messages:
        raise Unreadable("no message with any words")
    first = rows[0]
    kept = {column for part, column in columns.items() if part not in ("role", "content", "id")}
    fields = {key: value for key, value in first.items() if key in kept or _same(rows, key)}
    name = id_of(first[columns["conversation"]])
    return Conversation(name, tuple(messages), _tags(first, columns), fields)


def _words(text: str, role: Role, column: str) -> str:
    """What a tool gave back is its own affair, whatever it looks like."""
    if role in ("tool", "system"):
        return text
    return "\n\n".join(message.text for message in said(text, role, column))


def _same(rows: list[dict[str, Json]], key: str) -> bool:
    """Whether a column says the same in every row and so is about the whole."""
    return all(row.get(key) == rows[0][key] for row in rows)


def _exchange(row: dict[str, Json], columns: Mapping[str, str]) -> Conversation:
    texts = {part: text_in(row, columns[part]) for part in ("system", *_PAIR) if part in columns}
    if not texts["assistant"].strip():
        raise Unreadable('"{}" is empty', columns["assistant"])
    history = [Message("system", texts["system"])] if texts.get("system") else []
    if _MORE in columns and (more := text_in(row, columns[_MORE])).strip():
        texts["user"] = "\n\n".join(filter(None, (texts["user"], more)))
    if "user" in texts:
        history += said(texts["user"], "user", columns["user"])
    reply = said(texts["assistant"], "assistant", columns["assistant"], history)
    if not to_judge(reply):
        raise Unreadable('"{}" has no reply in it', columns["assistant"])
    messages = [*earlier(history), *reply]
    used = {columns[part] for part in ("system", *_PAIR, _MORE, "id", "tags") if part in columns}
    fields = {key: value for key, value in row.items() if key not in used}
    name = id_of(row[columns["id"]]) if "id" in columns else ""
    return Conversation(name, tuple(messages), _tags(row, columns), fields)


def _tags(row: Mapping[str, Json], columns: Mapping[str, str]) -> tuple[str, ...]:
    """A list, or texts with commas or semicolons between them."""
    value = row.get(columns["tags"]) if "tags" in columns else None
    if isinstance(value, str):
        value = [tag.strip() for tag in value.replace(";", ",").split(",") if tag.strip()]
    return tags_of(value)
