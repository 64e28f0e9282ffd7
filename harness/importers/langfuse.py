"""Langfuse: exported traces, and exported observations, of which the generations are read."""

from collections.abc import Iterator

from harness.conversation import Conversation
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import id_of, object_of, rest_of, tags_of
from harness.importers._loose import alternatives, answered, asked
from harness.importers._replies import Origin, exchange
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 7
_SIGNS = (
    "traceId", "trace_id", "observations", "sessionId", "session_id", "projectId", "project_id", "htmlPath",
)  # fmt: skip
_READ = ("id", "tags", "input", "output", "observations", "scores")


def recognise(record: Json) -> str | None:
    """Input and output, and an id that only traces and observations have; or a page of these."""
    if not isinstance(record, dict):
        return None
    data = record.get("data")
    if isinstance(data, list) and data and "meta" in record:
        found = recognise(data[0]) if isinstance(data[0], dict) and "meta" not in data[0] else None
        return None if found is None else "pages of Langfuse's API"
    sign = next((sign for sign in _SIGNS if sign in record), None)
    if sign is None or "input" not in record or "output" not in record or "id" not in record:
        return None
    return f'rows have "input", "output" and "{sign}"'


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver | Unreadable]:
    """Each trace or generation; of a page, each item."""
    record = object_of(record)
    items = record["data"] if isinstance(record.get("data"), list) and "meta" in record else [record]
    for item in items:
        try:
            yield from list(_one(object_of(item)))
        except Unreadable as error:
            if len(items) == 1:
                raise
            yield error


def _one(record: dict[str, Json]) -> Iterator[Conversation | PassedOver]:
    if "traceId" not in record and "trace_id" not in record:
        yield from _trace(record)
    elif record.get("type") == "GENERATION":
        yield from _said(record)
    else:
        yield PassedOver("an observation that is no generation")


def _trace(record: dict[str, Json]) -> Iterator[Conversation | PassedOver]:
    """What the trace itself says went in and out; where it says nothing, what its generations say."""
    if record.get("output") is not None:
        yield from _said(record)
        return
    observations = record.get("observations")
    inside = observations if isinstance(observations, list) else []
    generations = [each for each in inside if isinstance(each, dict) and each.get("type") == "GENERATION"]
    for generation in generations:
        yield from _said(generation)
    if not generations:
        yield PassedOver("a trace without an output")


def _said(record: dict[str, Json]) -> Iterator[Conversation | PassedOver]:
    history = asked(record.get("input"))
    origin = Origin(id_of(record.get("id")), tags_of(record.get("tags")), rest_of(record, *_READ))
    for place, output in enumerate(alternatives(record.get("output")), 1):
        yield from exchange(origin.choice(place), history, answered(output, history))
