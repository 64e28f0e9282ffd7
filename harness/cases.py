"""Case files: one labelled exchange a line. Everything wrong with a file is reported together."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import orjson
from pydantic import ValidationError

from harness import plugins
from harness.aside import putting_aside
from harness.console import plain
from harness.errors import Problems, SynthesisError
from harness.problems import from_validation, shown
from harness.records import Case, is_negative

READABLE = 160
MOST_PROBLEMS = 1000
"""That are told of one file."""
BLOCK = 1 << 16
"""Bytes of standard input that are read at once."""
BOM = b"\xef\xbb\xbf"
MAY_NOT_APPLY = "topic_pivot"
"""The check that a label of null is for."""
_Said = Annotated[str, msgspec.Meta(min_length=1)]


class CaseRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `Case` as a line of a file: read many times quicker. What is wrong with a line, `Case` says."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Z]+-[0-9]+\Z")]
    user: _Said
    assistant: _Said
    checks: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    expected: dict[str, bool | None] = {}
    tags: tuple[str, ...] = ()
    notes: str = ""

    @property
    def negative(self) -> bool:
        """Whether the case is a negative example: one that is meant to fail."""
        return is_negative(self.tags)


def load_cases(path: str | Path, schema: str | Path | None = None) -> list[Case]:
    """Read a whole case file, `-` for standard input; with `schema`, each row must satisfy that as well."""
    where = named(path)
    reader = CaseReader(where, row_schema(schema))
    with open_cases(path) as file:
        cases = [Case(**msgspec.structs.asdict(row)) for row in reader.rows(file.read())]
        if reader.problems or len(set(reader.ids)) < len(reader.ids):
            raise Problems(all_problems(file, where, schema))
    if not cases:
        raise SynthesisError("there are no cases in it", where=where, fix="write one JSON object a line")
    return cases


def named(path: str | Path) -> str:
    """What messages call the file."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_cases(path: str | Path) -> Iterator[BinaryIO]:
    """The file, which can be read twice: standard input is put aside in a file of its own."""
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == "-" else Path(path).open("rb") as file:
            if file.seekable():
                yield file
                return
            with _put_aside(file) as aside:
                yield aside
    except FileNotFoundError as error:
        fix = "check the path, or leave it out to use the bundled cases"
        raise SynthesisError("no such file", where=str(path), fix=fix) from error
    except IsADirectoryError as error:
        raise SynthesisError(
            "this is a directory", where=str(path), fix="name a .jsonl file in it"
        ) from error
    except OSError as error:
        fix = "check what is piped in" if str(path) == "-" else "check the path and its permissions"
        raise SynthesisError(f"cannot be read: {error.strerror}", where=named(path), fix=fix) from error


@contextmanager
def _put_aside(stream: BinaryIO) -> Iterator[BinaryIO]:
    """All of it; what goes wrong with the stream is not told of the file."""
    with putting_aside():
        aside = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    try:
        while block := stream.read(BLOCK):
            with putting_aside():
                aside.write(block)
        with putting_aside():
            aside.seek(0)
        yield aside
    finally:
        with suppress(OSError):  # what cannot be written has been told
            aside.close()


def all_problems(file: BinaryIO, where: str, schema: str | Path | None) -> list[SynthesisError]:
    """What is wrong with a file, in the order of its lines, ids that were used before among it.

    Everything, unless that is more than anybody reads: a file of another kind has something in every line.
    """
    file.seek(0)
    reader = CaseReader(where, row_schema(schema))
    seen: dict[str, int] = {}
    for number, line in enumerate(file, 1):
        before = len(reader.problems)
        reader.ids.clear()
        for _ in reader.rows(line, number):
            """Read for what is wrong with it."""
        reader.problems[before:before] = [
            _used_before(identity, seen[identity], f"{where}:{number}: {shown(identity)}")
            for identity in reader.ids
            if seen.setdefault(identity, number) != number
        ]
        if len(reader.problems) >= MOST_PROBLEMS:
            what = f"{len(reader.problems)} problems up to here; what follows was not looked at"
            fix = "mend these first, or see whether it is a case file at all"
            return [*reader.problems, SynthesisError(what, where=f"{where}:{number}", fix=fix)]
    return reader.problems


def _used_before(identity: str, line: int, spot: str) -> SynthesisError:
    what = f'the id "{shown(identity)}" was used in line {line}'
    return SynthesisError(what, where=f"{spot}:/id", fix="give each case its own id")


def row_schema(path: str | Path | None) -> "_RowSchema | None":
    """A schema of the user's own; what was read already is not worked out again."""
    if path is None:
        return None
    try:
        return _read_schema(str(path), Path(path).read_bytes())
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise SynthesisError(what, where=str(path), fix="check the path") from error


@lru_cache(maxsize=4)
def _read_schema(path: str, content: bytes) -> "_RowSchema":
    return _RowSchema(path, content)


class _RowSchema:
    """A JSON Schema of the user's own that rows must satisfy beside ours, which is the `Case` record."""

    def __init__(self, path: str, content: bytes) -> None:
        from jsonschema import Draft202012Validator, SchemaError
        from referencing import Registry

        self._where = path
        try:
            schema = json.loads(content)
            Draft202012Validator.check_schema(schema)
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"not JSON: {error}", "mend the file") from error
        except SchemaError as error:
            fix = "mend the schema (JSON Schema, draft 2020-12)"
            raise self._wrong(f"not a JSON Schema: {shown(error.message)}", fix) from error
        # The empty registry matters: the default one would fetch a "$ref" from the network.
        self._validator = Draft202012Validator(schema, registry=Registry())

    def problems(self, row: Any) -> list[tuple[str, str]]:
        """What is wrong with a row, each as a JSON pointer and a message."""
        from referencing.exceptions import Unresolvable

        try:
            return [
                ("".join(f"/{shown(part)}" for part in error.absolute_path), _broken_rule(error))
                for error in self._validator.iter_errors(row)
            ]
        except (Unresolvable, RecursionError, re.error) as error:
            raise self._wrong(f"cannot be applied: {shown(str(error))}", "mend the schema") from error

    def _wrong(self, what: str, fix: str) -> SynthesisError:
        return SynthesisError(what, where=self._where, fix=fix)


_decode = msgspec.json.Decoder(CaseRow).decode


class CaseReader:
    """Turns lines into cases and collects what is wrong with the others; `ids` are those of both."""

    def __init__(self, where: str, row_schema: _RowSchema | None) -> None:
        self.problems: list[SynthesisError] = []
        self.ids: list[str] = []
        self._where = where
        self._row_schema = row_schema
        self._known = frozenset(plugins.names("checkers"))
        self._right_checks: set[tuple[str, ...]] = set()

    def rows(self, content: bytes, first_line: int = 1) -> Iterator[CaseRow]:
        """The cases in whole lines of a file; blank ones are nothing."""
        if first_line == 1:
            content = content.removeprefix(BOM)
        for number, line in enumerate(content.split(b"\n"), first_line):
            if line and not line.isspace():
                row = self._right(line) or self._explained(line, number)
                if row is not None:
                    yield row

    def _right(self, line: bytes) -> CaseRow | None:
        """The case in a line that is plainly right; what is wrong with another is told by `_case`."""
        if self._row_schema is not None:
            return None
        try:
            row = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        if row.checks not in self._right_checks:
            if not self._known.issuperset(row.checks) or len(set(row.checks)) < len(row.checks):
                return None
            self._right_checks.add(row.checks)
        if row.expected and not self._labels_fit(row):
            return None
        self.ids.append(row.id)
        return row

    def _labels_fit(self, row: CaseRow) -> bool:
        return all(
            name in self._known and (label is not None or name == MAY_NOT_APPLY)
            for name, label in row.expected.items()
        )

    def _explained(self, line: bytes, number: int) -> CaseRow | None:
        case = self._case(line, number)
        return (
            None
            if case is None
            else CaseRow(**{name: getattr(case, name) for name in CaseRow.__struct_fields__})
        )

    def _case(self, line: bytes, number: int) -> Case | None:
        spot = f"{self._where}:{number}"
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            self._add(f"not a JSON object: {_syntax(line, error)}", spot, "mend the line, or remove it")
            return None
        if not isinstance(row, dict):
            self._add(f"not a JSON object: {shown(row)}", spot, 'write the case as {"id": …, "user": …}')
            return None
        before = len(self.problems)
        if isinstance(row.get("id"), str):
            spot = f"{spot}: {shown(row['id'])}"
            self.ids.append(row["id"])
        try:
            case = Case.model_validate(row)
        except ValidationError as error:
            self.problems.extend(from_validation(error, Case, spot))
            return None
        self._check_names(case, spot)
        if self._row_schema is not None:
            for pointer, message in self._row_schema.problems(row):
                place = f"{spot}:{pointer}" if pointer else spot
                self._add(message, place, "satisfy the schema given with --schema")
        return case if len(self.problems) == before else None

    def _check_names(self, case: Case, spot: str) -> None:
        for pointer, name in self._named_checks(case):
            if name not in self._known:
                self._add(
                    f'unknown check "{shown(name)}"',
                    f"{spot}:{pointer}",
                    f"use {', '.join(sorted(self._known))}",
                )
        for name, label in case.expected.items():
            if label is None and name in self._known and name != MAY_NOT_APPLY:
                fix = f"use true or false; null is for {MAY_NOT_APPLY} alone"
                self._add("a label of null", f"{spot}:/expected/{name}", fix)

    @staticmethod
    def _named_checks(case: Case) -> Iterator[tuple[str, str]]:
        for index, name in enumerate(case.checks):
            yield f"/checks/{index}", name
        for name in case.expected:
            yield f"/expected/{shown(name)}", name

    def _add(self, what: str, where: str, fix: str) -> None:
        self.problems.append(SynthesisError(what, where=where, fix=fix))


def _broken_rule(error: Any) -> str:
    """jsonschema's own message begins with the value; where that is long, the rule comes out better."""
    if len(error.message) <= READABLE:
        return plain(error.message)
    rule = f"{shown(error.validator)}: {shown(error.validator_value)}"
    return f"{shown(error.instance)} breaks the rule {rule}"


def _syntax(line: bytes, error: orjson.JSONDecodeError) -> str:
    """orjson's reason, and for text that is not UTF-8 the byte that is not."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return f"not UTF-8 at byte {bad.start + 1} of the line (0x{line[bad.start]:02x})"
    return f"{error.msg} at column {error.colno}"
