"""Parquet (extra): rows with a column of messages or conversations, or with columns as a table has them."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from harness.child_lines import ChildFailed, child_lines
from harness.conversation import Conversation
from harness.errors import SynthesisError
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers import anthropic_messages, openai_chat, sharegpt, table
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"archive"})
CERTAINTY = 2
MAGIC = b"PAR1"
_OTHERS = (anthropic_messages, openai_chat, sharegpt)
_READER = "from harness.importers._parquet_rows import write_rows; write_rows(sys.argv[1])"


def unpack(path: Path) -> Iterator[bytes | str]:
    """Every row as JSON, as it comes."""
    if find_spec("duckdb") is None:
        fix = "pip install 'synthesis-harness[parquet]'"
        raise SynthesisError("reading Parquet needs the package duckdb", where=str(path), fix=fix)
    if set(str(path)) & set("*?["):
        fix = "rename it: these signs mean several files to what reads Parquet"
        raise SynthesisError("the name of the file has *, ? or [ in it", where=str(path), fix=fix)
    try:
        yield from child_lines(_READER, [str(path.resolve())])
    except ChildFailed as error:
        raise SynthesisError(f"cannot be read: {error}", where=str(path), fix="check the file") from error


def recognise(record: Json) -> str | None:
    """What another importer would say of the row."""
    found = next((why for other in (*_OTHERS, table) if (why := other.recognise(_present(record)))), None)
    return None if found is None else f"Parquet; {found}"


def belongs(before: Json, record: Json, options: ImportOptions) -> bool:
    """As in a table."""
    return _other(record) is None and table.belongs(before, record, options)


def read(record: Json, options: ImportOptions) -> Iterator[Conversation | PassedOver | Unreadable]:
    """As the importer reads it that knows such a row; else as rows of a table."""
    other = _other(record[0])
    if other is None:
        yield from table.read(record, options)
    else:
        yield from other(_present(record[0]), options)


def _other(row: Json) -> Callable[[Json, ImportOptions], Iterator[Conversation | PassedOver]] | None:
    return next((other.read for other in _OTHERS if other.recognise(_present(row))), None)


def _present(row: Json) -> Json:
    """Columns are there in every row; those that say nothing would not be there elsewhere."""
    return (
        row if not isinstance(row, dict) else {key: value for key, value in row.items() if value is not None}
    )
