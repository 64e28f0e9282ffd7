"""What tracing tools keep of a call: whatever went in and whatever came out, in the shapes seen most.

A text, a message, a list of messages, or an object that has one of these under a usual name. Messages may be
those of chat APIs or LangChain's, as it writes them down.
"""

from collections.abc import Sequence

import orjson

from harness.conversation import Message
from harness.importer import Unreadable
from harness.importers._fields import inner
from harness.importers._messages import message_of, text_of
from harness.transcript import Json

_LISTS = ("messages", "chat_history", "history")
_NAMES = {
    "user": ("input", "question", "query", "prompt", "user_input", "user", "text", "content", "message"),
    "assistant": (
        "output", "answer", "response", "result", "completion", "text", "content", "message", "reply",
    ),
}  # fmt: skip
"""Under which an object has the words of a side."""
_CHOICES = ("generations", "choices")
_LANGCHAIN = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "system": "system", "SystemMessage": "system", "developer": "system",
    "tool": "tool", "ToolMessage": "tool", "function": "tool", "FunctionMessage": "tool",
}  # fmt: skip


class _Several(Unreadable):
    """Of several it cannot be told which is meant: known well enough to be nobody's own words."""


def asked(value: Json) -> list[Message]:
    """What went in; a text without a role is the person's."""
    return _unpacked(value, "user")


def answered(value: Json, history: Sequence[Message]) -> list[Message]:
    """What came out; where it begins with all that went in, only what is new."""
    found = _unpacked(value, "assistant")
    if len(found) > len(history) and history and found[: len(history)] == list(history):
        return found[len(history) :]
    return found


def alternatives(value: Json) -> list[Json]:
    """What came out, once for each choice that the model gave."""
    key, choices = _choices(_parsed(value))
    return [{key: [choice]} for choice in choices] if len(choices) > 1 else [value]


def _choices(value: Json) -> tuple[str, list[Json]]:
    """What a model gave to choose from, as OpenAI and LangChain write it, and under which key.

    None where the reply stands beside it: then it is something else that is called so, as in a quiz.
    """
    if not isinstance(value, dict) or is_message(value) or _said_beside(value):
        return "", []
    for key in _CHOICES:
        found = _flat(value.get(key))
        if found and all(isinstance(each, dict) and ("message" in each or "text" in each) for each in found):
            return key, found
    return "", []


def _said_beside(value: dict[str, Json]) -> bool:
    """Whether a list of messages, or words under a usual name, are what came out."""
    kept = [value.get(key) for key in _LISTS if isinstance(value.get(key), list)]
    named = [value.get(name) for name in _NAMES["assistant"]]
    return any(kept) or any(isinstance(each, str | list | dict) and bool(each) for each in named)


def _unpacked(value: Json, role: str) -> list[Message]:
    """Exports may have the whole as JSON in a text; where that is nothing known, somebody wrote it."""
    try:
        return _words(_parsed(value), role)
    except Unreadable as error:
        if isinstance(error, _Several) or not isinstance(value, str):
            raise
        return _words(value, role)


def _parsed(value: Json) -> Json:
    """What a text is as JSON, where that is an object or a list."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _words(value: Json, role: str) -> list[Message]:
    """At most a few levels deep, so that nothing can be nested without end."""
    for _ in range(4):
        if value is None:
            return []
        if isinstance(value, str):
            return [message] if (message := message_of({"role": role, "content": value})) else []
        if isinstance(value, list):
            if len(value) == 1 and isinstance(value[0], list):
                value = value[0]
            else:
                return [message for message in (_message(item, role) for item in value) if message]
        elif isinstance(value, dict):
            if is_message(value):
                return [message] if (message := _message(value, role)) else []
            if any(isinstance(value.get(key), list) for key in _LISTS):
                return _listed(value, role)
            value = _under(value, role)
        else:
            break
    raise Unreadable("no words found in {}", value)


def _listed(value: dict[str, Json], role: str) -> list[Message]:
    """A list of messages, with the newest perhaps beside it."""
    found: list[Message] = []
    for key in _LISTS:
        items = value.get(key)
        if isinstance(items, list):
            items = items[0] if len(items) == 1 and isinstance(items[0], list) else items
            found += [message for message in (_message(item, role) for item in items) if message]
    beside = next((value[name] for name in _NAMES[role] if isinstance(value.get(name), str)), None)
    if beside and "messages" not in value:
        found += [message] if (message := message_of({"role": role, "content": beside})) else []
    return found


def _under(value: dict[str, Json], role: str) -> Json:
    """What lies under a usual name; of a reply in generations and choices, of a question in prompts.

    A question may have choices of its own, which nobody gave as a reply, and a reply may be about prompts.
    """
    key, choices = _choices(value) if role == "assistant" else ("", [])
    if choices:
        return _only(choices, key).get("message") or choices[0].get("text")
    if role == "user" and isinstance(value.get("prompts"), list) and value["prompts"]:
        return _only(value["prompts"], "prompts")
    name = next((name for name in _NAMES[role] if value.get(name) is not None), None)
    if name is not None:
        return value[name]
    if len(value) == 1:
        return next(iter(value.values()))
    raise Unreadable("no words found under {}", ", ".join(value))


def _only(items: list[Json], name: str) -> Json:
    """Of several nobody could say which one was answered, or given."""
    if len(items) > 1:
        raise _Several("{} {} in one", len(items), name)
    return items[0]


def _flat(items: Json) -> list[Json]:
    """What stands in a list, or in the lists in it: one list a prompt, one item a choice."""
    if not isinstance(items, list):
        return []
    return [each for item in items for each in (item if isinstance(item, list) else [item])]


def is_message(value: Json) -> bool:
    """Whether this is one message with somebody's role."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("role"), str) or _langchain(value) is not None


def _langchain(value: dict[str, Json]) -> tuple[str, Json] | None:
    """The role and content of a message that LangChain wrote down, in one of its three ways."""
    kind: Json = value.get("type")
    body: Json = value
    if value.get("lc") == 1 and isinstance(value.get("id"), list) and value["id"]:
        kind, body = value["id"][-1], value.get("kwargs")
    elif isinstance(value.get("data"), dict):
        body = value["data"]
    role = _LANGCHAIN.get(kind) if isinstance(kind, str) else None
    if role is None or not isinstance(body, dict) or "content" not in body:
        return None
    return role, body["content"]


def _message(item: Json, role: str) -> Message | None:
    if isinstance(item, str):
        return message_of({"role": role, "content": item})
    if isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return message_of({"role": item[0], "content": item[1]})
    if isinstance(item, dict) and not isinstance(item.get("role"), str):
        found = _langchain(item)
        if found is not None:
            return message_of({"role": found[0], "content": text_of(found[1])})
        if inner(item, "type") in ("text", "output_text"):
            return message_of({"role": role, "content": [item]})
    return message_of(item)
