"""Transcripts of our own: the events of one trial, line by line, from its start to its end."""

from collections.abc import Iterator

from pydantic import ValidationError

from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.problems import first_mistake
from harness.transcript import EVENTS, Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 9


def recognise(record: Json) -> str | None:
    """Every event has these."""
    if isinstance(record, dict) and record.keys() >= {"v", "seq", "type", "turn", "parent"}:
        return 'events of a transcript, with "seq", "type" and "turn"'
    return None


def belongs(before: Json, record: Json, options: ImportOptions) -> bool:
    """A transcript goes on to its end, or to the next start."""
    return not (_is(before, "end") or _is(record, "start"))


def _is(event: Json, kind: str) -> bool:
    return isinstance(event, dict) and event.get("type") == kind


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """What the person and the subject said; what children said is between agents and is left out."""
    events: list[dict[str, Json]] = record
    for place, event in enumerate(events, 1):
        try:
            EVENTS.validate_python(event, strict=True)
        except ValidationError as error:
            spot, what = first_mistake(error)
            raise Unreadable(f"event {place} is not a transcript event: {spot}: {what}") from error
    start = events[0]
    if start["type"] != "start":
        raise Unreadable("not a transcript: it does not begin with a start event")
    messages = tuple(_messages(events))
    if not any(message.role == "assistant" for message in messages):
        yield PassedOver("a transcript without a reply")
        return
    fields = {key: start[key] for key in ("scenario", "seed", "fingerprint", "subject")}
    last = events[-1]
    ended = {key: last[key] for key in ("reason", "terminated")} if last["type"] == "end" else None
    yield Conversation(f"{start['scenario']}-{start['seed']}", messages, (), {**fields, "end": ended})


def _messages(events: list[dict[str, Json]]) -> Iterator[Message]:
    if events[0]["system"]:
        yield Message("system", events[0]["system"])
    for event in events:
        if event["parent"] is None and event["type"] in ("user", "assistant"):
            if event["text"]:
                yield Message(event["type"], event["text"])
        elif event["parent"] is None and event["type"] == "observation":
            yield Message("tool", observed(event["result"]))


def observed(result: Json) -> str:
    """What a gate gave back, as text."""
    import orjson

    return result if isinstance(result, str) else orjson.dumps(result).decode()
