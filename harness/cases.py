"""Case files: one labelled exchange a line. Everything wrong with a file is reported together."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from harness import plugins
from harness.console import plain
from harness.errors import Problems, SynthesisError
from harness.problems import from_validation, shown
from harness.records import Case

READABLE = 160


def load_cases(path: str | Path, schema: str | Path | None = None) -> list[Case]:
    """Read a whole case file, `-` for standard input; with `schema`, each row must satisfy that as well."""
    source, where = _read(path)
    reader = _Reader(where, None if schema is None else _RowSchema(schema))
    cases = list(reader.cases(source))
    if reader.problems:
        raise Problems(reader.problems)
    if not cases:
        raise SynthesisError("there are no cases in it", where=where, fix="write one JSON object a line")
    return cases


def _read(path: str | Path) -> tuple[bytes, str]:
    if str(path) == "-":
        return sys.stdin.buffer.read(), "standard input"
    file = Path(path)
    try:
        return file.read_bytes(), str(path)
    except FileNotFoundError as error:
        fix = "check the path, or leave it out to use the bundled cases"
        raise SynthesisError("no such file", where=str(path), fix=fix) from error
    except IsADirectoryError as error:
        raise SynthesisError(
            "this is a directory", where=str(path), fix="name a .jsonl file in it"
        ) from error
    except OSError as error:
        fix = "check the path and its permissions"
        raise SynthesisError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from error


class _RowSchema:
    """A JSON Schema of the user's own that rows must satisfy beside ours, which is the `Case` record."""

    def __init__(self, path: str | Path) -> None:
        from jsonschema import Draft202012Validator, SchemaError
        from referencing import Registry

        self._where = str(path)
        try:
            schema = json.loads(Path(path).read_bytes())
            Draft202012Validator.check_schema(schema)
        except OSError as error:
            raise self._wrong(f"cannot be read: {error.strerror}", "check the path") from error
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


class _Reader:
    """Turns lines into cases and collects what is wrong with the others."""

    def __init__(self, where: str, row_schema: _RowSchema | None) -> None:
        self.problems: list[SynthesisError] = []
        self._where = where
        self._row_schema = row_schema
        self._seen: dict[str, int] = {}
        self._known = frozenset(plugins.names("checkers"))

    def cases(self, source: bytes) -> Iterator[Case]:
        for number, line in enumerate(source.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if line.strip():
                case = self._case(line, number)
                if case is not None:
                    yield case

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
            self._check_id(row["id"], number, spot)
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

    def _check_id(self, identity: str, number: int, spot: str) -> None:
        """Ids of bad lines count too, so that mending those brings up nothing new."""
        first = self._seen.setdefault(identity, number)
        if first != number:
            self._add(
                f'the id "{shown(identity)}" was used in line {first}',
                f"{spot}:/id",
                "give each case its own id",
            )

    def _check_names(self, case: Case, spot: str) -> None:
        for pointer, name in self._named_checks(case):
            if name not in self._known:
                self._add(
                    f'unknown check "{shown(name)}"',
                    f"{spot}:{pointer}",
                    f"use {', '.join(sorted(self._known))}",
                )
        for name, label in case.expected.items():
            if label is None and name in self._known and name != "topic_pivot":
                fix = "use true or false; null is for topic_pivot alone"
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
