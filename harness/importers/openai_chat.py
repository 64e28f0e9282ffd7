"""OpenAI chat messages: stored talks, fine-tuning and preference files, batches, logged completions."""

from collections.abc import Iterator

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import error_of, id_of, inner, object_of, tags_of
from harness.importers._messages import is_messages, message_of, messages_of, to_judge
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 4
_READ = frozenset({"messages", "id", "tags", "choices", "request", "response", "body", "input", "custom_id"})
_LOGGED = frozenset({"choices", "request", "response", "body"})
"""A record with any of these is about a request; one without is a conversation that somebody kept."""
_OUTPUTS = ("preferred_output", "non_preferred_output")


def recognise(record: Json) -> str | None:
    """A list of messages with roles, or choices that have messages, where this API puts them."""
    if is_messages(record):
        return 'rows are lists of messages with "role" and "content"'
    if not isinstance(record, dict):
        return None
    if is_messages(record.get("messages")):
        return 'rows have "messages" with "role" and "content"'
    if is_messages(inner(record, "input", "messages")) and "preferred_output" in record:
        return 'rows have "input" and "preferred_output"'
    signs = {
        '"response" with "choices"': _has_choices(inner(record, "response", "body"))
        or _has_choices(record.get("response")),
        '"choices" with a "message"': _has_choices(record),
        '"body" with "messages"': is_messages(inner(record, "body", "messages")),
        '"request" with "messages"': is_messages(inner(record, "request", "messages"))
        or is_messages(inner(record, "request", "body", "messages")),
    }
    return next((f"rows have {sign}" for sign, there in signs.items() if there), None)


def _has_choices(value: Json) -> bool:
    choices = inner(value, "choices")
    return isinstance(choices, list) and any(inner(choice, "message") is not None for choice in choices)


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """Stored messages are all judged; where a request and its reply were logged, only the reply is."""
    record = {"messages": record} if type(record) is list else object_of(record)
    if "preferred_output" in record:
        yield from _preference(record)
        return
    if _LOGGED.isdisjoint(record) and record.get("error") is None:
        messages = messages_of(record.get("messages"))
        if not messages:
            raise Unreadable("no message with any words")
        yield _conversation(record, messages)
        return
    reply, request = _reply(record), _request(record)
    if reply is None:
        yield PassedOver("a request without a reply")
        return
    history = [] if request is None else messages_of(request.get("messages"), context=True)
    answers = _answers(reply)
    if not answers:
        yield PassedOver("a reply without words")
    for place, answer in enumerate(answers):
        yield _conversation(record, [*history, answer], place)


def _reply(record: dict[str, Json]) -> Json:
    """What the server said: in a batch's output, in a pair, or as the record itself."""
    response = record.get("response")
    for found in (inner(response, "body"), response, record):
        if isinstance(found, dict) and "choices" in found:
            return found
    if isinstance(response, str) or (isinstance(response, dict) and "content" in response):
        message = {"content": response} if isinstance(response, str) else response
        return {"choices": [{"message": message}]}
    if reason := error_of(record):
        raise Unreadable("the server answered with an error: {}", reason)
    return None


def _request(record: dict[str, Json]) -> dict[str, Json] | None:
    """What was asked; the messages may also stand beside the choices."""
    for found in (inner(record, "request", "body"), record.get("request"), record.get("body")):
        if isinstance(found, dict) and "messages" in found:
            return found
    return record if "messages" in record else None


def _answers(reply: dict[str, Json]) -> list[Message]:
    """The message of each choice."""
    choices = reply["choices"]
    if not isinstance(choices, list):
        raise Unreadable('"choices" is not a list')
    found = []
    for choice in choices:
        message = inner(choice, "message")
        if message is None:
            raise Unreadable('a choice has no "message"')
        answer = message_of({"role": "assistant", **object_of(message)})
        if answer is not None:
            found.append(answer)
    return found


def _preference(record: dict[str, Json]) -> Iterator[Conversation | PassedOver]:
    """What is preferred is what is taught; the other reply is there to be avoided."""
    history = messages_of(inner(record, "input", "messages"), context=True)
    messages = [*history, *messages_of(record["preferred_output"])]
    if not to_judge(messages):
        raise Unreadable('no reply in "preferred_output"')
    yield _conversation(record, messages)
    if record.get("non_preferred_output"):
        yield PassedOver("a reply that was not preferred")


def _conversation(record: dict[str, Json], messages: list[Message], choice: int = 0) -> Conversation:
    name = id_of(record.get("id"), record.get("custom_id"))
    fields = {key: value for key, value in record.items() if key not in _READ and key not in _OUTPUTS}
    if name and choice:
        name = f"{name}#{choice + 1}"
    return Conversation(name, tuple(messages), tags_of(record.get("tags")), fields)
