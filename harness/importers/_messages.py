"""Messages as chat APIs have them: a role, and content that is a text or a list of parts."""

from collections.abc import Sequence

from harness.conversation import Message, Role
from harness.importer import Unreadable
from harness.transcript import Json

ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
_TEXT = frozenset({"text", "input_text", "output_text", "refusal", "summary_text", "json"})
_TOOL = frozenset({"tool_result", "function_call_output", "tool_call_response"})

_WORDLESS = frozenset({"tool_calls", "function_call", "refusal", "audio", "parts"})
"""A message that has one of these may well be without content; any other was written down in another way."""


def role_of(value: Json) -> Role:
    """Whose words these are."""
    role = ROLES.get(value) if type(value) is str else None
    if role is None:
        raise Unreadable("a message has no role") if value is None else Unreadable("unknown role {}", value)
    return role


def text_of(content: Json) -> str:
    """The words of a message's content; pictures, sounds, calls and reasoning have none."""
    if type(content) is str:
        return content
    if content is None:
        return ""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise Unreadable("the content of a message is {}, not a text or a list of parts", content)
    return "\n\n".join(filter(None, map(_part, content)))


def _part(part: Json) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise Unreadable("a part of a message is {}, not an object", part)
    kind = part.get("type", "text")
    if kind in _TOOL if isinstance(kind, str) else False:
        found = next((part[key] for key in ("content", "output", "response", "result") if key in part), None)
        return found if isinstance(found, str) else _inner(found)
    if not isinstance(kind, str) or kind not in _TEXT:
        return ""
    text = part.get("text", part.get("refusal", part.get("content")))
    if isinstance(text, dict):
        text = text.get("value")
    if text is None and kind != "text":
        return ""
    if not isinstance(text, str):
        raise Unreadable("the text of a part is {}, not a text", text)
    return text


def _inner(found: Json) -> str:
    """The texts in what a tool gave back; one level only, so that nothing can be nested without end."""
    parts = found if isinstance(found, list) else [found]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def message_of(item: Json, *, context: bool = False) -> Message | None:
    """One message; None where it has no words, as one that only calls a tool."""
    if not isinstance(item, dict):
        raise Unreadable("a message is {}, not an object", item)
    role = role_of(item.get("role"))
    if "content" not in item and _WORDLESS.isdisjoint(item):
        raise Unreadable('a message has no "content"')
    content = item.get("content")
    if role == "user" and type(content) is list and _only_results(content):
        role = "tool"
    text = content if type(content) is str else text_of(content)
    if not text and role == "assistant" and isinstance(item.get("refusal"), str):
        text = item["refusal"]
    if not text:
        return None
    if role != "assistant":
        return Message(role, text)
    return Message(role, text, context or item.get("weight") == 0)


def _only_results(content: list[Json]) -> bool:
    """A tool's answer in the person's place, as some APIs want it."""
    kinds = [part.get("type") for part in content if isinstance(part, dict)]
    return bool(kinds) and all(isinstance(kind, str) and kind in _TOOL for kind in kinds)


def messages_of(items: Json, *, context: bool = False) -> list[Message]:
    """All messages of a list; with `context`, the assistant's are earlier talk."""
    if type(items) is not list:
        raise Unreadable('"messages" is not a list')
    found = []
    for place, item in enumerate(items, 1):
        if type(item) is dict and "role" in item and "content" not in item and _WORDLESS.isdisjoint(item):
            raise Unreadable(f'message {place} has no "content"')
        message = _plain(item, context) or message_of(item, context=context)
        if message is not None:
            found.append(message)
    return found


def _plain(item: Json, context: bool) -> Message | None:
    """The short way for nearly all there are; None for whatever needs a closer look."""
    if type(item) is not dict:
        return None
    role, text = item.get("role"), item.get("content")
    if type(text) is not str or not text:
        return None
    if role == "user":
        return Message("user", text)
    if role == "assistant" and "weight" not in item:
        return Message("assistant", text, context)
    return None


def is_messages(value: Json) -> bool:
    """Whether this is a list of messages with roles."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in value)
    )


def to_judge(messages: Sequence[Message]) -> bool:
    """Whether there is a reply in it that is no repetition."""
    return any(message.role == "assistant" and not message.context for message in messages)
