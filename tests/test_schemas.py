"""The files in `schemas/` are what the records generate, and the case schema agrees with the loader."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import load_cases, schema
from harness.errors import SynthesisError
from harness.resources import bundled

ROW: dict[str, object] = {"id": "A-1", "user": "u", "assistant": "a", "checks": ["agency_language"]}


@pytest.mark.parametrize("name", schema.names())
def test_a_schema_file_is_current(name: str) -> None:
    """To renew one: `synthesis schema NAME > schemas/NAME.schema.json`."""
    assert (bundled("schemas") / f"{name}.schema.json").read_text("utf-8") == schema.text(name)


def test_there_is_a_file_for_every_schema_and_no_other() -> None:
    files = sorted(file.name for file in bundled("schemas").iterdir())
    assert files == [f"{name}.schema.json" for name in schema.names()]


@pytest.mark.parametrize("name", schema.names())
def test_a_schema_is_a_schema(name: str) -> None:
    loaded = json.loads(schema.text(name))
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(loaded)


def accepted_by_schema(row: object) -> bool:
    return bool(jsonschema.Draft202012Validator(json.loads(schema.text("eval_case"))).is_valid(row))


def accepted_by_loader(row: object, path: Path) -> bool:
    path.write_text(json.dumps(row), "utf-8")
    try:
        load_cases(path)
    except SynthesisError:
        return False
    return True


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"expected": {"agency_language": False}},
        {"expected": {"topic_pivot": None}},
        {"expected": {}},
        {"tags": ["x"], "notes": ""},
    ],
)
def test_what_the_loader_takes_the_schema_takes(change: dict[str, object], tmp_path: Path) -> None:
    row = {**ROW, **change}
    assert accepted_by_loader(row, tmp_path / "row.jsonl")
    assert accepted_by_schema(row)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "a-1"},
        {"id": "A1"},
        {"id": "A-1x"},
        {"id": 1},
        {"user": ""},
        {"user": None},
        {"assistant": ""},
        {"assistant": ["a"]},
        {"checks": []},
        {"checks": "agency_language"},
        {"checks": ["agency_language", "agency_language"]},
        {"checks": [1]},
        {"expected": []},
        {"expected": None},
        {"expected": {"agency_language": "true"}},
        {"expected": {"agency_language": 1}},
        {"expected": {"agency_language": None}},
        {"expected": {"unverifiable_reassurance": None}},
        {"tags": "x"},
        {"tags": [1]},
        {"notes": None},
        {"extra": 1},
    ],
)
def test_what_the_loader_refuses_the_schema_refuses(change: dict[str, object], tmp_path: Path) -> None:
    row = {**ROW, **change}
    assert not accepted_by_loader(row, tmp_path / "row.jsonl")
    assert not accepted_by_schema(row)


@pytest.mark.parametrize("missing", ROW)
def test_the_four_keys_are_required_by_both(missing: str, tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != missing}
    assert not accepted_by_loader(row, tmp_path / "row.jsonl")
    assert not accepted_by_schema(row)


@pytest.mark.parametrize("row", [None, [], "text", 3])
def test_only_objects_are_rows(row: object, tmp_path: Path) -> None:
    assert not accepted_by_loader(row, tmp_path / "row.jsonl")
    assert not accepted_by_schema(row)


def test_names_of_checks_are_strings_so_that_other_packages_can_add_theirs() -> None:
    assert accepted_by_schema({**ROW, "checks": ["from_elsewhere"], "expected": {"from_elsewhere": None}})


def test_the_report_schema_is_closed_but_for_checkers_from_elsewhere() -> None:
    whole = json.loads(schema.text("eval_report"))
    records = [part for part in objects_in(whole) if "properties" in part and "title" in part]
    opened = [part["title"] for part in records if part.get("additionalProperties") is not False]
    assert opened == ["CheckResult"]
    checks = whole["properties"]["results"]["items"]["properties"]["checks"]
    assert set(checks["properties"]) == {"agency_language", "topic_pivot", "unverifiable_reassurance"}


def objects_in(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from objects_in(part)
