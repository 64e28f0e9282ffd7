"""Parquet (extra): rows with a column of messages or conversations, or with columns as a table has them."""

import atexit
import gc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from harness.conversation import Conversation
from harness.errors import SynthesisError
from harness.importer import ImportOptions, PassedOver, Shape, Unreadable
from harness.importers import anthropic_messages, openai_chat, sharegpt, table
from harness.transcript import Json

SHAPES: frozenset[Shape] = frozenset({"archive"})
CERTAINTY = 2
MAGIC = b"PAR1"
_ROWS = 1000
_OTHERS = (anthropic_messages, openai_chat, sharegpt)
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "96MB",
    "autoinstall_known_extensions": False,
}


def unpack(path: Path) -> Iterator[bytes | str]:
    """Every row as JSON, some at a time."""
    try:
        import duckdb
    except ImportError as error:
        fix = "pip install 'synthesis-harness[parquet]'"
        raise SynthesisError("reading Parquet needs the package duckdb", where=str(path), fix=fix) from error
    if set(str(path)) & set("*?["):
        fix = "rename it: these signs mean several files to what reads Parquet"
        raise SynthesisError("the name of the file has *, ? or [ in it", where=str(path), fix=fix)
    _let_go_at_the_end()
    try:
        with duckdb.connect(config=_SETTINGS) as connection:
            rows = connection.execute("SELECT to_json(t) FROM read_parquet(?) t", [str(path.resolve())])
            while some := rows.fetchmany(_ROWS):
                yield from (str(row).encode() for (row,) in some)
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        raise SynthesisError(f"cannot be read: {said}", where=str(path), fix="check the file") from error


@cache
def _let_go_at_the_end() -> None:
    """Commands end without a last look for cycles; duckdb takes what is in them for lost, and says so."""
    atexit.register(gc.unfreeze)


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
