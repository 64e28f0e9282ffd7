"""What an importer is: it knows one way in which others write conversations down.

A module in `importers/` reads records; opening files, unpacking them and cutting them into records is the
work of `harness.source`. Its name is the public name (`--from NAME`). It has:

- `SHAPES`: the shapes of file it understands;
- `CERTAINTY`: how much it takes to be recognised, from 1 (two columns with usual names) to 9 (a signature);
  of the importers that recognise a file, the most certain reads it;
- `recognise(record)`: why a record looks like one of its own, in a few words, or None;
- `read(record, options)`: the conversations in a record. It raises `Unreadable` for one that cannot be read,
  and gives `PassedOver` for one that is well formed and holds no conversation of its own. Where one record
  holds many, it gives `Unreadable` for those it cannot read and goes on.

And where the format needs it:

- `belongs(before, record, options)`: whether a line goes on with the conversation of the line before it.
  `read` is then given the list of the records of one conversation. `recognise` sees single ones.
- `MAGIC` and `unpack(path)`: for the shape `archive`, the first bytes of such a file and its records.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from harness.conversation import Conversation
from harness.errors import SynthesisError
from harness.problems import shown
from harness.transcript import Json

Shape = Literal["lines", "document", "table", "archive"]
"""An object a line; one JSON value (of an array, each item is a record); rows with column names; a file that
the importer opens itself, say a zip."""
_DEEPEST = 60
"""Levels of a quoted value: an excerpt has hardly more signs."""


PARTS = ("user", "assistant", "system", "id", "tags", "conversation", "role", "content")
"""What columns of a table can be for."""


@dataclass(frozen=True)
class ImportOptions:
    """What the user says about the input: `columns` maps parts of a table to the names they have there."""

    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in self.columns:
            if part not in PARTS:
                fix = f"use one of: {', '.join(PARTS)}"
                raise SynthesisError(f'no column of a table is for "{shown(part)}"', fix=fix)


class Unreadable(Exception):  # noqa: N818 - it says what the row is
    """A row that cannot be read, and why, for `rejects.jsonl`.

    What the reason quotes of the row stands beside it, one value for each `{}`: where personal details are
    taken out, that has to happen before a value is cut short and its line breaks are written in two signs.
    """

    def __init__(self, why: str, *quoted: "Json | Unreadable") -> None:
        super().__init__(why, *quoted)
        self.why = why
        self.quoted = quoted

    def __str__(self) -> str:
        return self.said(str)

    def said(self, clean: Callable[[str], str]) -> str:
        """The reason, with the values it quotes as `clean` leaves them."""
        values = (
            each.said(clean) if isinstance(each, Unreadable) else shown(_cleaned(each, clean))
            for each in self.quoted
        )
        return clean(self.why.format(*values) if self.quoted else self.why)


def _cleaned(value: Json, clean: Callable[[str], str], depth: int = 0) -> Json:
    """Every text and number in it, names included; what lies deeper than is ever quoted is left out."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float):
        written = clean(str(value))
        return value if written == str(value) else written
    if isinstance(value, dict):
        return {clean(name): _cleaned(item, clean, depth + 1) for name, item in value.items()}
    return [_cleaned(item, clean, depth + 1) for item in value] if isinstance(value, list) else value


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
    quoting: Unreadable | None = field(default=None, repr=False, compare=False)
    """The reason with what it quotes apart, where it quotes anything."""

    @classmethod
    def of(cls, file: str, line: int, error: Unreadable) -> "Rejected":
        """What an importer said of the row."""
        return cls(file, line, str(error), error if error.quoted else None)

    def redacted(self, clean: Callable[[str], str]) -> str:
        """The reason as it may be shown."""
        return clean(self.reason) if self.quoting is None else self.quoting.said(clean)


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation and where it stood."""

    file: str
    line: int
    conversation: Conversation


class Importer(Protocol):
    """The shape of a module in `importers/`."""

    SHAPES: frozenset[Shape]
    CERTAINTY: int

    def recognise(self, record: Json) -> str | None:
        """Why the record looks like this format, in words for a person; None where it does not."""

    def read(self, record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver | Unreadable]:
        """What is in it; raises `Unreadable`."""


class Grouping(Protocol):
    """An importer whose conversations go over several lines or rows."""

    def belongs(self, before: Json, record: Json, options: ImportOptions) -> bool:
        """Whether the record goes on with the conversation of the one before it."""


class Archive(Protocol):
    """An importer that opens files of a kind itself."""

    MAGIC: bytes

    def unpack(self, path: Path) -> Iterator[bytes | str]:
        """The records as JSON, one after the other; a `str` is why one cannot be read.

        Raises `SynthesisError` where the file as a whole cannot be opened, OSError where it cannot be read.
        """
