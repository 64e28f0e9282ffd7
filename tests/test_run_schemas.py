"""The JSON Schemas of scenarios, rubrics, transcripts and run reports: current, and worth having."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scenario_files import Definition, load, problems, scenario, synthesis, write

from harness import schema
from harness.cli import main
from harness.resources import bundled

NAMES = ("rubric", "run_report", "scenario", "transcript")
SCENARIO_FILES = sorted(bundled("scenarios").glob("*.json"))
RUBRIC_FILES = sorted(bundled("rubrics").glob("*.json"))


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema.text(name)))


def errors(name: str, value: Any) -> list[str]:
    return [error.message for error in validator(name).iter_errors(value)]


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_the_records_say_and_a_schema(name: str) -> None:
    file = bundled("schemas") / f"{name}.schema.json"
    assert file.read_text("utf-8") == schema.text(name), f"write it again: synthesis schema {name} > {file}"
    Draft202012Validator.check_schema(json.loads(schema.text(name)))


def test_the_command_prints_each(tmp_path: Path) -> None:
    assert set(NAMES) <= set(synthesis("schema", cwd=tmp_path).stdout.split())
    for name in NAMES:
        assert synthesis("schema", name, cwd=tmp_path).stdout == schema.text(name)


@pytest.mark.parametrize("file", SCENARIO_FILES, ids=lambda file: file.name)
def test_bundled_scenarios_are_valid(file: Path) -> None:
    assert errors("scenario", json.loads(file.read_bytes())) == []


@pytest.mark.parametrize("file", RUBRIC_FILES, ids=lambda file: file.name)
def test_bundled_rubrics_are_valid(file: Path) -> None:
    assert errors("rubric", json.loads(file.read_bytes())) == []


AGENT: Definition = {
    "turns": [
        {
            "code": "read('note.txt')",
            "medium": "code",
            "calls": [{"gate": "read_file", "arguments": {"path": "note.txt"}, "result": "alpha"}],
            "child": {"medium": "bash", "turns": [{"text": "x"}], "result": [1, None]},
        },
        {"text": "alpha"},
    ],
    "result": {"answer": "alpha"},
}

EVERY_CRITERION = [
    {"include": "care"},
    {"contains": "x", "ignore_case": True, "name": "n", "weight": 0.5},
    {"expected_result": {"any": ["json", None]}, "max_score": 2},
    {"matches": "^a"},
    {"terminated": False},
    {"gate_used": "read_file", "scope": "parent"},
    {"child_medium_used": "bash"},
    {"forbid_code_contains": "rm", "scope": "any"},
    {"agency_language": True},
    {"unverifiable_reassurance": False},
    {"topic_pivot": {"language": "en", "turns": 2, "combine": "mean", "expect": True}},
]


def test_every_key_there_is_validates_and_loads(tmp_path: Path) -> None:
    whole = scenario(
        "whole",
        description="d",
        prompt=["a", "b"],
        system={"file": "s.json"},
        fixtures={"a": "x", "b": {"base64": "eA=="}, "c": {"file": "s.json"}},
        seeds=[1, 2],
        tags=["t"],
        timeout=3,
        subject={"type": "scripted", "replies": {"1": ["a", AGENT], "2": ["b", "c"]}},
        rubric=EVERY_CRITERION[1:],
    )
    lists = scenario("lists", subject={"type": "scripted", "replies": [["a"], [AGENT]]}, seeds=5, system="s")
    program = scenario("program", subject={"type": "command", "command": ["cat"]})
    file = write(tmp_path / "s.json", whole, lists, program, **{"$schema": "x"})
    assert errors("scenario", json.loads(file.read_bytes())) == []
    assert len(load(file)) == 3
    assert errors("rubric", {"$schema": "x", "description": "d", "rubric": EVERY_CRITERION}) == []


MISTAKES: list[Definition] = [
    {"nmae": "x"},
    {"name": ""},
    {"name": None},
    {"prompt": []},
    {"prompt": [""]},
    {"prompt": 5},
    {"seeds": 0},
    {"seeds": "5"},
    {"seeds": True},
    {"seeds": [1, 1]},
    {"seeds": [-1]},
    {"timeout": 0},
    {"timeout": "5"},
    {"tags": "x"},
    {"fixtures": {"f": 5}},
    {"fixtures": {"f": {"fil": "x"}}},
    {"system": {"file": ""}},
    {"subject": "scripted"},
    {"subject": {}},
    {"subject": {"type": "scriptd", "replies": ["x"]}},
    {"subject": {"type": "scripted"}},
    {"subject": {"type": "scripted", "replies": []}},
    {"subject": {"type": "scripted", "replies": ["x"], "extra": 1}},
    {"subject": {"type": "scripted", "replies": [{"turns": []}]}},
    {"subject": {"type": "scripted", "replies": [{"turns": [{"txt": "x"}]}]}},
    {"subject": {"type": "function", "function": "os.system"}},
    {"subject": {"type": "command", "command": "cat"}},
    {"rubric": []},
    {"rubric": [{}]},
    {"rubric": ["contains"]},
    {"rubric": [{"contain": "x"}]},
    {"rubric": [{"contains": 5}]},
    {"rubric": [{"contains": "x", "terminated": True}]},
    {"rubric": [{"contains": "x", "weight": 1, "max_score": 1}]},
    {"rubric": [{"contains": "x", "weight": 0}]},
    {"rubric": [{"contains": "x", "weight": "2"}]},
    {"rubric": [{"contains": "x", "scope": "any"}]},
    {"rubric": [{"terminated": "yes"}]},
    {"rubric": [{"gate_used": "x", "scope": "all"}]},
    {"rubric": [{"child_medium_used": "telepathy"}]},
    {"rubric": [{"score": "os.system"}]},
    {"rubric": [{"topic_pivot": "yes"}]},
    {"rubric": [{"topic_pivot": None}]},
    {"rubric": [{"topic_pivot": {"turns": 0}}]},
    {"rubric": [{"topic_pivot": {"turnz": 1}}]},
    {"rubric": [{"topic_pivot": True, "agency_language": True}]},
    {"rubric": [{"include": "x", "weight": 1}]},
    {"rubric": [{"include": ""}]},
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=json.dumps)
def test_a_typical_mistake_is_none_of_the_schema_nor_of_the_loader(
    tmp_path: Path, mistake: Definition
) -> None:
    file = write(tmp_path / "s.json", scenario(**mistake))
    assert errors("scenario", json.loads(file.read_bytes()))
    assert problems(file)


@pytest.mark.parametrize("value", [[], {}, {"scenarios": {}}, {"scenarios": [], "scenario": []}])
def test_a_file_that_is_none(value: object) -> None:
    assert errors("scenario", value)


@pytest.mark.parametrize("value", [[], {}, {"rubric": []}, {"rubric": [{"contain": "x"}]}, {"rubrik": []}])
def test_a_rubric_that_is_none(value: object) -> None:
    assert errors("rubric", value)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every kind of thing in it."""
    folder = tmp_path_factory.mktemp("run")
    write(
        folder / "s.json",
        scenario("agent", subject={"type": "scripted", "replies": [AGENT]}, seeds=2, system="s"),
        scenario(
            "care", "You'll be fine.", rubric=[{"unverifiable_reassurance": True}, {"topic_pivot": True}]
        ),
        scenario("short", prompt=["one", "two"]),
    )
    assert main(["eval", str(folder / "s.json"), "--out", str(folder / "out"), "-q", "--min-mean", "1"]) == 1
    return folder / "out"


def test_recorded_transcripts_are_valid_and_show_most_events(run: Path) -> None:
    seen = set()
    for path in (run / "transcripts").iterdir():
        for line in path.read_bytes().splitlines():
            event = json.loads(line)
            assert errors("transcript", event) == []
            seen.add(event["type"])
    assert seen == {
        "start", "user", "assistant", "gate_call", "observation", "child_start", "child_end", "error", "end",
    }  # fmt: skip


EVENT = {"v": 1, "seq": 1, "type": "user", "turn": 1, "parent": None, "text": "hi"}


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"type": "usr"},
        {"extra": 1},
        {"text": None},
        {"turn": "1"},
        {"seq": -1},
        {"parent": "0"},
        {"text": ...},
    ],
    ids=str,
)
def test_an_event_that_is_none(change: Definition) -> None:
    assert errors("transcript", EVENT) == []
    changed = {key: value for key, value in {**EVENT, **change}.items() if value is not ...}
    assert errors("transcript", changed)


def test_a_run_report_is_valid_and_a_spoilt_one_is_not(run: Path) -> None:
    report = json.loads((run / "report.json").read_bytes())
    assert errors("run_report", report) == []
    for spoil in ({"kind": "check"}, {"extra": 1}, {"exit_code": "0"}, {"scenarios": None}):
        assert errors("run_report", {**report, **spoil})
    report["scenarios"][0]["trials"][0].pop("seed")
    assert errors("run_report", report)
