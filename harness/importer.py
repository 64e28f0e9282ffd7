"""What an importer is: it knows one way in which others write conversations down.

A module in `importers/` reads records; opening files, unpacking them and cutting them into records is the
work of `harness.source`. Its name is the public name (`--from NAME`). It has:

- `SHAPES`: the shapes of file it understands;
- `recognise(record)`: why a record looks like one of its own, in a few words, or None;
- `read(record, options)`: the conversations in a record. It raises `Unreadable` for one that cannot be read,
  and gives `PassedOver` for one that is well formed and holds no conversation of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from harness.conversation import Conversation
from harness.transcript import Json

Shape = Literal["lines", "document", "table", "archive"]
"""An object a line; one JSON value (of an array, each item is a record); rows with column names; a zip."""


@dataclass(frozen=True)
class ImportOptions:
    """What the user says about the input: `columns` maps user, assistant, id … to the names a table has."""

    columns: Mapping[str, str] = field(default_factory=dict)


class Unreadable(Exception):  # noqa: N818 - it says what the row is
    """A row that cannot be read, and why, for `rejects.jsonl`."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A record without a conversation of its own, say a child of a run that is read; counted by reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that could not be read: its file, its line, row or item counted from 1, and why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation and where it stood."""

    file: str
    line: int
    conversation: Conversation


class Importer(Protocol):
    """The shape of a module in `importers/`."""

    SHAPES: frozenset[Shape]

    def recognise(self, record: Json) -> str | None:
        """Why the record looks like this format, in words for a person; None where it does not."""

    def read(self, record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver]:
        """What is in it; raises `Unreadable`."""
