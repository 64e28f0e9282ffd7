"""LangSmith: exported runs, and examples of its data sets."""

from collections.abc import Iterator

from harness.conversation import Conversation
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers._fields import id_of, inner, object_of, rest_of, tags_of
from harness.importers._loose import alternatives, answered, asked
from harness.importers._replies import Origin, exchange
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"lines", "document"})
CERTAINTY = 7


def recognise(record: Json) -> str | None:
    """A run says of what type it is; an example has both sides as objects."""
    if not isinstance(record, dict) or not isinstance(record.get("inputs"), dict):
        return None
    if isinstance(record.get("run_type"), str):
        return 'rows have "run_type", "inputs" and "outputs"'
    return 'rows have "inputs" and "outputs"' if isinstance(record.get("outputs"), dict) else None


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
    """The root of each trace: what went in and what came out. Its children are steps on the way."""
    record = object_of(record)
    if record.get("parent_run_id"):
        yield PassedOver("a child of a run")
        return
    outputs = record.get("outputs")
    if not outputs:
        failed = isinstance(record.get("error"), str)
        yield PassedOver("a run that ended in an error" if failed else "a run without outputs")
        return
    if "inputs" not in record:
        raise Unreadable('"inputs" is missing')
    history = asked(record["inputs"])
    metadata = inner(record, "extra", "metadata")
    origin = Origin(
        id_of(record.get("id")),
        tags_of(record.get("tags")),
        {
            **({"metadata": metadata} if isinstance(metadata, dict) else {}),
            **rest_of(
                record, "id", "tags", "inputs", "outputs", "serialized", "events", "child_runs", "extra"
            ),
        },
    )
    for place, output in enumerate(alternatives(outputs), 1):
        yield from exchange(origin.choice(place), history, answered(output, history))
