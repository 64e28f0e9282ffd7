"""Find out what a file is: its shape from its first bytes, its importer from its first records."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import orjson

from harness import plugins
from harness.console import one_line
from harness.cut import BOM, Numbered
from harness.errors import SynthesisError
from harness.importer import Importer, ImportOptions, Shape
from harness.problems import shown
from harness.rows import DELIMITERS, columns_of
from harness.transcript import Json

FOLDER = "importers"
LOOKED_AT = 20
"""Records; a broken one at the beginning must not hide what the others are."""
_SHOWN = 3
_EXCERPT = 4096


@dataclass(frozen=True)
class Form:
    """How a file is cut into records; `delimiter` only for a table."""

    shape: Shape
    delimiter: str = ""


def importer(name: str) -> Importer:
    """The importer of this name; an unknown one lists the known."""
    if name not in plugins.names(FOLDER):
        known = ", ".join(("auto", *plugins.names(FOLDER)))
        raise SynthesisError(f'unknown format "{shown(name)}"', where="--from", fix=f"use one of: {known}")
    module = plugins.module(FOLDER, name)
    missing = [part for part in ("SHAPES", "CERTAINTY", "recognise", "read") if not hasattr(module, part)]
    if missing:
        fix = "give it all that harness.importer asks for, or uninstall the package"
        raise SynthesisError(f"the importer {name} has no {missing[0]}", where=module.__name__, fix=fix)
    return cast("Importer", module)


def form_of(head: bytes, options: ImportOptions, *, table: bool) -> Form | None:
    """The form of a text that begins like this; with `table`, any first line will do for column names."""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        return Form("lines" if _mostly_lines(text) else "document")
    first = text.partition(b"\n")[0].rstrip(b"\r")
    delimiter = max(DELIMITERS, key=lambda each: _fitness(columns_of(first, each), options))
    columns = columns_of(first, delimiter)
    if (table and columns) or _fitness(columns, options)[0]:
        return Form("table", delimiter)
    return Form("lines") if any(_is_record(line) for line in text.split(b"\n")) else None


def _mostly_lines(text: bytes) -> bool:
    """Whether lines are records of their own; the last may be cut off and does not count."""
    lines = [line for line in text.split(b"\n") if line.strip()]
    if len(lines) < 2:
        return False
    if _is_record(lines[0]):
        return True
    complete = lines[:-1] if len(lines) > 2 else lines
    return 2 * sum(map(_is_record, complete)) >= len(complete)


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict | list)
    except orjson.JSONDecodeError:
        return False


def _fitness(columns: Sequence[str], options: ImportOptions) -> tuple[bool, int]:
    """Whether the names are those of a table of conversations, and how many there are."""
    return _recognised("table", dict.fromkeys(columns, ""), options) is not None, len(columns)


def _recognised(name: str, record: Json, options: ImportOptions) -> str | None:
    """Why an importer takes a record for its own; columns that the user names need no usual name."""
    named = options.columns.values()
    if name == "table" and named and isinstance(record, dict) and record.keys() >= set(named):
        return f"rows have the columns {', '.join(named)}"
    return importer(name).recognise(record)


def choose(
    records: Iterable[Numbered], shape: Shape, options: ImportOptions, names: Sequence[str] | None = None
) -> tuple[str, str] | None:
    """The importer of most of the first records and why; of several such, the most certain.

    One that knows less than half of them may still have them all: the others cannot be read by anyone.
    """
    seen = list(_parsed(islice(records, LOOKED_AT)))
    votes: dict[str, list[str]] = {}
    for name in plugins.names(FOLDER) if names is None else names:
        if shape in importer(name).SHAPES:
            whys = (_recognised(name, record, options) for record in seen)
            votes[name] = [why for why in whys if why is not None]

    def rank(name: str) -> tuple[bool, int, int]:
        count, certainty = len(votes[name]), importer(name).CERTAINTY
        most = 2 * count >= len(seen)
        return (True, certainty, count) if most else (False, count, certainty)

    best = max(votes, key=rank, default=None)
    return (best, f"{best}: {votes[best][0]}") if best is not None and votes[best] else None


def _parsed(records: Iterable[Numbered]) -> Iterator[Json]:
    for _, raw in records:
        if isinstance(raw, bytes):
            try:
                yield orjson.loads(raw)
            except orjson.JSONDecodeError:
                continue


def refusal(path: str, head: bytes, options: ImportOptions, *, quoting: bool = True) -> SynthesisError:
    """A file that is none of these, with what was seen on its first lines, which may be data too."""
    known = ", ".join(plugins.names(FOLDER))
    fix = f"say what it is with --from NAME, one of: {known}"
    if not head.strip():
        return SynthesisError("it is empty", where=path, fix="remove it, or name other files")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return SynthesisError("it is UTF-16", where=path, fix="save it as UTF-8")
    seen = (
        f"; it begins:{_seen(head)}" if quoting else "; what it begins with is not shown, as --redact wants"
    )
    columns = _header(head)
    missing = [f'"{shown(name)}"' for name in options.columns.values() if name not in columns]
    if columns and missing:
        among = f" among {shown(', '.join(columns))}" if quoting else ""
        what = f"there is no column {', '.join(missing)}{among}"
        return SynthesisError(what, where=path, fix="name columns that are there with --columns")
    if columns:
        fix = f"if it is a table, name its columns with --columns user=…,assistant=…; else {fix}"
    elif not _is_utf8(head):
        fix = f"save it as UTF-8, or {fix}"
        return SynthesisError(f"not UTF-8, and no known format{seen}", where=path, fix=fix)
    return SynthesisError(f"no known format{seen}", where=path, fix=fix)


def _header(head: bytes) -> list[str]:
    """The names on a first line that may well be the header of a table: several, and as many on the next."""
    lines = [line.rstrip(b"\r") for line in head.removeprefix(BOM).lstrip().split(b"\n")[:2]]
    if lines[0][:1] in (b"{", b"["):
        return []
    rows = max(
        ([columns_of(line, each) for line in lines] for each in DELIMITERS), key=lambda row: len(row[0])
    )
    return rows[0] if len(rows[0]) > 1 and all(rows[0]) and len(rows[0]) == len(rows[-1]) else []


def _is_utf8(head: bytes) -> bool:
    """The last sign may be cut off."""
    try:
        getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _seen(head: bytes) -> str:
    text = head[:_EXCERPT].decode("utf-8", "backslashreplace")
    lines = [line for line in text.split("\n") if line.strip()]
    return "".join(f"\n    {number}: {one_line(line, 100)}" for number, line in enumerate(lines[:_SHOWN], 1))
