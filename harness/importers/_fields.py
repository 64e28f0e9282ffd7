"""What formats have in common beside their messages: ids, tags and the rest of a record."""

from harness.importer import Unreadable
from harness.transcript import Json


def tags_of(value: Json) -> tuple[str, ...]:
    """A list of texts; none where the format has no such thing at that place."""
    if not isinstance(value, list):
        return ()
    return tuple(tag for tag in value if isinstance(tag, str))


def id_of(*values: Json) -> str:
    """The first that is an id; empty where there is none, and the place in the file stands in for it."""
    for value in values:
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def object_of(record: Json) -> dict[str, Json]:
    """The record; raises `Unreadable` where it is none."""
    if not isinstance(record, dict):
        raise Unreadable("not a JSON object")
    return record


def rest_of(record: dict[str, Json], *read: str) -> dict[str, Json]:
    """What a record says beside what was read from it."""
    return {key: value for key, value in record.items() if key not in read}


def inner(record: Json, *path: str) -> Json:
    """What lies under these keys, one in the other; None where there is nothing."""
    for key in path:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def error_of(record: Json) -> str | None:
    """What a server said went wrong, where a log has that in place of an answer."""
    for path in (("error",), ("response", "error"), ("response", "body", "error"), ("result", "error")):
        found = inner(record, *path)
        for said in (found, inner(found, "message"), inner(found, "error", "message")):
            if isinstance(said, str) and said:
                return said
    return None
