"""Logs of inspect-ai: `.eval` archives and `.json` files, a conversation a sample."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.conversation import Conversation, Message
from harness.errors import SynthesisError
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import id_of, inner, object_of, rest_of, tags_of
from harness.importers._messages import message_of, to_judge
from harness.importers._replies import Origin, conversation
from harness.importers._zip import members
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"archive", "document", "lines"})
CERTAINTY = 8
MAGIC = b"PK\x03\x04"
_HEADERS = ("header.json", "_journal/start.json")
"""What an archive says of the evaluation; the first is there once it has ended."""
_ATTACHED = "attachment://"
_KEPT = (
    "id",
    "epoch",
    "messages",
    "input",
    "output",
    "events",
    "events_data",
    "attachments",
    "store",
    "choices",
)


def unpack(path: Path) -> Iterator[bytes | str]:
    """Each sample of an archive, as a log with this one sample."""
    heads = (found for name in _HEADERS for found in members(path, name.__eq__) if isinstance(found, bytes))
    about = next(heads, b"null")
    found = False
    for content in members(path, lambda member: member.startswith("samples/") and member.endswith(".json")):
        found = True
        if isinstance(content, str):
            yield content
        else:
            yield b'{"header":' + about + b',"samples":[' + content + b"]}"
    if not found:
        fix = "name a log of inspect-ai, or unpack the archive and name what is in it"
        raise SynthesisError("a zip archive without samples/*.json", where=str(path), fix=fix)


def recognise(record: Json) -> str | None:
    """An evaluation and its samples."""
    samples = inner(record, "samples")
    if isinstance(samples, list) and (_about(record) is not None):
        return "a log of inspect-ai with samples"
    if _about(record) is not None and isinstance(inner(record, "eval", "task"), str):
        return "a log of inspect-ai"
    return None


def _about(record: Json) -> dict[str, Json] | None:
    """What the log says of the evaluation; an archive has it a level deeper."""
    for found in (inner(record, "eval"), inner(record, "header", "eval")):
        if isinstance(found, dict):
            return found
    return None


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver | Unreadable]:
    """Every sample; what was given to the model as its own earlier words is context."""
    samples = object_of(record).get("samples")
    if samples is None:
        raise Unreadable("a log without samples")
    if not isinstance(samples, list):
        raise Unreadable('"samples" is not a list')
    about = _about(record) or {}
    fields: dict[str, Json] = {
        key: about[key] for key in ("task", "model", "created", "run_id", "metadata") if key in about
    }
    tags = tags_of(about.get("tags"))
    for place, sample in enumerate(samples, 1):
        try:
            yield _sample(object_of(sample), fields, tags)
        except Unreadable as error:
            if len(samples) == 1:
                raise
            yield Unreadable("sample {}: {}", place, error)


def _sample(
    sample: dict[str, Json], fields: Mapping[str, Json], tags: tuple[str, ...]
) -> Conversation | PassedOver:
    items = sample.get("messages")
    if not isinstance(items, list):
        raise Unreadable('"messages" is not a list')
    attachments = sample.get("attachments")
    found = (_message(item, attachments if isinstance(attachments, dict) else {}) for item in items)
    messages = [message for message in found if message is not None]
    if not to_judge(messages):
        failed = sample.get("error") is not None
        return PassedOver("a sample that ended in an error" if failed else "a sample without a reply")
    name, epoch = id_of(sample.get("id")), sample.get("epoch")
    if name and isinstance(epoch, int) and epoch > 1:
        name = f"{name}#{epoch}"
    own = {"sample_id": sample.get("id"), "epoch": epoch, **rest_of(sample, *_KEPT)}
    return conversation(Origin(name, tags, {**fields, **own}), messages)


def _message(item: Json, attachments: Mapping[str, Json]) -> Message | None:
    message = message_of(item, context=inner(item, "source") == "input")
    if message is not None and message.text.startswith(_ATTACHED):
        text = attachments.get(message.text.removeprefix(_ATTACHED))
        if not isinstance(text, str):
            raise Unreadable("a message is an attachment that is not there")
        return Message(message.role, text, message.context)
    return message
