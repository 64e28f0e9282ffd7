"""Case files: one labelled exchange a line. Everything wrong with a file is reported together."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from harness import plugins
from harness.errors import Problems, SynthesisError
from harness.problems import from_validation, shown
from harness.records import Case


def load_cases(path: str | Path, schema: str | Path | None = None) -> list[Case]:
    """Read a whole case file, `-` for standard input; with `schema`, each row must satisfy that as well."""
    source, where = _read(path)
    reader = _Reader(where, _row_schema(schema))
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


def _row_schema(path: str | Path | None) -> Any:
    """A validator for a schema of the user's own; ours is the `Case` record itself."""
    if path is None:
        return None
    from jsonschema import Draft202012Validator, SchemaError

    try:
        schema = json.loads(Path(path).read_bytes())
        Draft202012Validator.check_schema(schema)
    except OSError as error:
        raise SynthesisError(
            f"cannot be read: {error.strerror}", where=str(path), fix="check the path"
        ) from error
    except (ValueError, RecursionError) as error:
        raise SynthesisError(f"not JSON: {error}", where=str(path), fix="mend the file") from error
    except SchemaError as error:
        fix = "mend the schema (JSON Schema, draft 2020-12)"
        raise SynthesisError(f"not a JSON Schema: {error.message}", where=str(path), fix=fix) from error
    return Draft202012Validator(schema)


class _Reader:
    """Turns lines into cases and collects what is wrong with the others."""

    def __init__(self, where: str, row_schema: Any) -> None:
        self.problems: list[SynthesisError] = []
        self._where = where
        self._row_schema = row_schema
        self._seen: dict[str, int] = {}
        self._known = frozenset(plugins.names("checkers"))

    def cases(self, source: bytes) -> Iterator[Case]:
        for number, line in enumerate(source.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if line.strip():
                case = self._case(line, f"{self._where}:{number}")
                if case is not None:
                    yield case

    def _case(self, line: bytes, spot: str) -> Case | None:
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            self._add(f"not a JSON object: {_syntax(line, error)}", spot, "mend the line, or remove it")
            return None
        if isinstance(row, dict) and isinstance(row.get("id"), str):
            spot = f"{spot}: {shown(row['id'])}"
        try:
            case = Case.model_validate(row)
        except ValidationError as error:
            self.problems.extend(from_validation(error, Case, spot))
            return None
        return case if self._allowed(case, row, spot) else None

    def _allowed(self, case: Case, row: Any, spot: str) -> bool:
        before = len(self.problems)
        first = self._seen.setdefault(case.id, int(spot[len(self._where) + 1 :].split(":")[0]))
        if not spot.startswith(f"{self._where}:{first}:"):
            self._add(f'the id "{case.id}" was used in line {first}', spot, "give each case its own id")
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
        if self._row_schema is not None:
            for error in self._row_schema.iter_errors(row):
                place = "".join(f"/{part}" for part in error.absolute_path)
                self._add(shown(error.message), f"{spot}:{place}", "satisfy the schema given with --schema")
        return len(self.problems) == before

    @staticmethod
    def _named_checks(case: Case) -> Iterator[tuple[str, str]]:
        for index, name in enumerate(case.checks):
            yield f"/checks/{index}", name
        for name in case.expected:
            yield f"/expected/{shown(name)}", name

    def _add(self, what: str, where: str, fix: str) -> None:
        self.problems.append(SynthesisError(what, where=where, fix=fix))


def _syntax(line: bytes, error: orjson.JSONDecodeError) -> str:
    """orjson's reason, and for text that is not UTF-8 the byte that is not."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return f"not UTF-8 at byte {bad.start + 1} of the line (0x{line[bad.start]:02x})"
    return f"{error.msg} at column {error.colno}"
