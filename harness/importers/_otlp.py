"""Spans and log records of OpenTelemetry, with their attributes as plain JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from harness.importer import Unreadable
from harness.importers._fields import inner
from harness.transcript import Json

PACKED = "gen_ai.event.content"
"""The attribute that some put all that an event says into."""
_DEEPEST = 20
_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")


@dataclass(frozen=True)
class Span:
    """One span. `events` are its own and those that were logged apart: a name and what it says."""

    trace: str
    id: str
    name: str
    attributes: Mapping[str, Json]
    events: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    resource: Mapping[str, Json] = field(default_factory=dict)


def spans(record: dict[str, Json]) -> Iterator[Span]:
    """Those of an OTLP document, or the one that the record is."""
    if "resourceSpans" in record or "resourceLogs" in record:
        yield from _document(record)
    else:
        yield _span(record, {})


def _document(record: dict[str, Json]) -> Iterator[Span]:
    logged: dict[tuple[str, str], list[tuple[str, dict[str, Json]]]] = {}
    for entry, _ in _inside(record, "resourceLogs", "scopeLogs", "logRecords"):
        logged.setdefault((_id(entry, "traceId"), _id(entry, "spanId")), []).append(_log(entry))
    for entry, resource in _inside(record, "resourceSpans", "scopeSpans", "spans"):
        span = _span(entry, resource)
        span.events.extend(logged.pop((span.trace, span.id), []))
        yield span
    for (trace, name), events in logged.items():
        yield Span(trace, name, "", {}, events)


def _inside(
    record: dict[str, Json], outer: str, middle: str, last: str
) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """The entries of all scopes of all resources, each with the resource's attributes."""
    for resource in _objects(record, outer):
        attributes = _attributes(inner(resource, "resource", "attributes"))
        for scope in _objects(resource, middle):
            for entry in _objects(scope, last):
                yield entry, attributes


def _objects(record: dict[str, Json], key: str) -> list[dict[str, Json]]:
    found = record.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise Unreadable(f'"{key}" is not a list of objects')
    return found


def _span(entry: dict[str, Json], resource: dict[str, Json]) -> Span:
    """OTLP has its ids beside the rest, the SDK's own JSON has them under `context`."""
    context = entry.get("context")
    ids = context if isinstance(context, dict) else entry
    events = entry.get("events")
    name = entry.get("name")
    return Span(
        _id(ids, "traceId", "trace_id"),
        _id(ids, "spanId", "span_id"),
        name if isinstance(name, str) else "",
        _attributes(entry.get("attributes")),
        [_event(event) for event in events if isinstance(event, dict)] if isinstance(events, list) else [],
        resource or _attributes(inner(entry, "resource", "attributes")),
    )


def _event(event: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    name = event.get("name")
    return name if isinstance(name, str) else "", _attributes(event.get("attributes"))


def _log(entry: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """A log record is an event where it has a name; what it says is its body, or its words are."""
    attributes = _attributes(entry.get("attributes"))
    name = entry.get("eventName") or attributes.get("event.name")
    body = _value(entry.get("body"))
    said = {PACKED: body} if isinstance(body, str) else body if isinstance(body, dict) else {}
    return name if isinstance(name, str) else "", {**attributes, **said}


def _id(entry: dict[str, Json], *keys: str) -> str:
    found = next((entry[key] for key in keys if isinstance(entry.get(key), str)), "")
    return found.removeprefix("0x")


def _attributes(found: Json) -> dict[str, Json]:
    """Of OTLP's list of keys and values, or of an object."""
    if isinstance(found, dict):
        return found
    items = found if isinstance(found, list) else []
    return {
        item["key"]: _value(item.get("value"))
        for item in items
        if isinstance(item, dict) and isinstance(item.get("key"), str)
    }


def _value(value: Json, depth: int = 0) -> Json:
    """What an `AnyValue` holds."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return value
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and number.lstrip("-").isdecimal() else number
    if "arrayValue" in value:
        items = inner(value, "arrayValue", "values")
        return [_value(item, depth + 1) for item in items] if isinstance(items, list) else []
    if "kvlistValue" in value:
        items = inner(value, "kvlistValue", "values")
        pairs = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        return {str(item.get("key")): _value(item.get("value"), depth + 1) for item in pairs}
    key = next((key for key in _SCALARS if key in value), None)
    return value if key is None else value[key]


def parsed(value: Json, sign: str) -> Json:
    """An attribute that may be JSON as a text: objects that have `sign`; anything else is a text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            found = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
        items = found if isinstance(found, list) else [found]
        if items and all(isinstance(item, dict) and sign in item for item in items):
            return found
    return value


def nested(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """`a.b` as b under a, so that a dotted path finds it; a name that is in another's way stays whole."""
    found: dict[str, Json] = {}
    for name, value in sorted(attributes.items()):
        *above, last = name.split(".")
        place = found
        for part in above:
            inside = place.setdefault(part, {})
            if not isinstance(inside, dict):
                place, last = found, name
                break
            place = inside
        place[last] = value
    return found
