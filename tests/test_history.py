"""`synthesis history`: runs in the order they were made, trends, and since when a scenario is lower."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scenario_files import synthesis, write
from scored_runs import make_run, scored

from harness import schema
from harness.renderers.history_summary import sparkline

HERE = Path()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()


def dated(name: str, minute: int, *scenarios: dict[str, Any]) -> None:
    """A run that was made in the given minute, whatever its name."""
    report = make_run(Path("runs") / name, *scenarios) / "report.json"
    content = json.loads(report.read_bytes())
    content["timing"]["started"] = f"2026-01-01T00:{minute:02d}:00+00:00"
    report.write_text(json.dumps(content))


def figures(*arguments: str) -> dict[str, Any]:
    done = synthesis("history", *arguments, "--json", cwd=HERE)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    Draft202012Validator(json.loads(schema.text("history"))).validate(found)
    return found


def through(**means: list[float]) -> None:
    """One run a place in the lists."""
    for place in range(len(next(iter(means.values())))):
        dated(f"r{place}", place, *(scored(name, [row[place]]) for name, row in means.items()))


def test_runs_stand_in_the_order_they_were_made() -> None:
    for name, minute, score in (("zebra", 1, 1.0), ("apple", 2, 0.5), ("mango", 0, 0.75)):
        dated(name, minute, scored("a", [score]))
    found = figures()
    assert [(run["run"], run["mean"]) for run in found["runs"]] == [
        ("mango", 0.75), ("zebra", 1), ("apple", 0.5),
    ]  # fmt: skip
    assert found["scenarios"][0]["means"] == [0.75, 1, 0.5]


@pytest.mark.parametrize(
    ("means", "since", "drop"),
    [
        ([1, 1, 0.5, 0.5], "r2", 0.5),
        ([1, 0.5, 1, 1], None, None),
        ([1, 0.5, 1, 0.25], "r3", 0.75),
        ([1, 0.75, 0.5, 0.25], "r1", 0.75),
        ([0.5, 1, 1, 0.75], "r3", 0.25),
        ([0.5, 0.75, 1, 1], None, None),
        ([1, 1, 1, 1], None, None),
    ],
)
def test_a_drop_is_one_that_lasts(means: list[float], since: str | None, drop: float | None) -> None:
    through(a=means)
    (trend,) = figures()["scenarios"]
    assert (trend["dropped_in"], trend["drop"]) == (since, drop)


def test_what_counts_as_a_drop_can_be_said() -> None:
    through(a=[1, 0.75])
    assert figures("--drop", "0.25")["scenarios"][0]["dropped_in"] == "r1"
    assert figures("--drop", "0.3")["scenarios"][0]["dropped_in"] is None


def test_a_scenario_that_comes_and_goes() -> None:
    dated("r0", 0, scored("a", [1]))
    dated("r1", 1, scored("b", [1]))
    dated("r2", 2, scored("a", [0.5]), scored("b", [1]))
    a, b = figures()["scenarios"]
    assert (a["means"], a["dropped_in"]) == ([1, None, 0.5], "r2")
    assert (b["means"], b["first"]) == ([None, 1, 1], 1)


def test_only_the_scenarios_asked_for() -> None:
    through(alpha=[1], beta=[1], alphabet=[1])
    assert [trend["name"] for trend in figures("--scenario", "alpha*")["scenarios"]] == ["alpha", "alphabet"]
    done = synthesis("history", "--scenario", "gamma", cwd=HERE)
    assert done.returncode == 1
    assert "runs: no scenario is left by --scenario" in done.stderr


def test_the_terminal_shows_bars_and_the_worst_first() -> None:
    through(fine=[1, 1, 1], fell=[1, 0.5, 0])
    done = synthesis("history", cwd=HERE)
    lines = [line.split() for line in done.stdout.splitlines()]
    fell, fine = (next(i for i, line in enumerate(lines) if line[:1] == [name]) for name in ("fell", "fine"))
    assert lines[fell] == ["fell", "█▅▁", "1.00", "0.00", "r1"]
    assert lines[fine] == ["fine", "███", "1.00", "1.00"]
    assert fell < fine
    assert "3 runs, 2 scenarios, 1 lower than they were" in done.stdout


def test_bars_go_from_nothing_to_all() -> None:
    assert sparkline([0, 0.13, 0.5, 0.999, 1, None]) == "▁▂▅██·"


def test_a_run_that_was_scored_otherwise_is_marked() -> None:
    dated("r0", 0, scored("a", [1]))
    dated("r1", 1, scored("a", [1], rubric=[{"contains": "<1>"}]))
    assert [run["scored_otherwise"] for run in figures()["runs"]] == [[], ["the rubric of a"]]
    out = synthesis("history", cwd=HERE).stdout
    assert "note: r1 was scored otherwise than the run before: the rubric of a" in out


def test_what_cannot_be_read_is_named_and_the_rest_is_shown() -> None:
    through(a=[1, 1])
    Path("runs/r0/report.json").write_text("{")
    Path("runs/notes").mkdir()
    found = figures()
    assert [run["run"] for run in found["runs"]] == ["r1"]
    assert "not a run report" in found["skipped"]["r0"]
    assert "not read: r0: not a run report" in synthesis("history", cwd=HERE).stdout
    Path("runs/r1/report.json").write_text("")
    done = synthesis("history", cwd=HERE)
    assert done.returncode == 1
    assert "runs: no run in this folder can be read" in done.stderr


def test_folders_without_runs() -> None:
    done = synthesis("history", cwd=HERE)
    assert done.returncode == 1
    assert "runs: there is no run in this folder" in done.stderr
    done = synthesis("history", "nowhere", cwd=HERE)
    assert done.returncode == 1
    assert "nowhere: there is no such folder" in done.stderr


def test_a_comparison_that_failed_counts_in_the_exit_code() -> None:
    make_run(Path("old"), scored("a", [1]))
    file = write(Path("new.json"), scored("a", [0.5]))
    for name, limit in (("held", "0.9"), ("failed", "0.1")):
        synthesis("eval", file, "--baseline", "old", "--max-drop", limit, "--out", f"runs/{name}", cwd=HERE)
    assert {run["run"]: run["exit_code"] for run in figures()["runs"]} == {"held": 0, "failed": 2}
    Path("runs/failed/report.json").write_bytes(Path("runs/held/report.json").read_bytes() + b"\n")
    assert {run["exit_code"] for run in figures()["runs"]} == {0}, "it was made of another report"
    Path("runs/failed/comparison.json").write_text("{")
    assert figures()["skipped"] == {"failed": "the comparison beside it is damaged"}


def test_runs_of_one_second_stand_in_the_order_they_were_made() -> None:
    for name in ("zebra", "mango", "apple"):
        make_run(Path("runs") / name, scored("a", [1]))
    runs = figures()["runs"]
    assert [run["run"] for run in runs] == ["zebra", "mango", "apple"]
    assert all(datetime.fromisoformat(run["started"]) and "." in run["started"] for run in runs)


def test_where_nothing_can_be_read_each_folder_is_named_with_its_reason() -> None:
    dated("r0", 0, scored("a", [1]))
    Path("runs/r0/report.json").write_bytes(b"")
    done = synthesis("history", cwd=HERE)
    assert done.returncode == 1
    assert "runs: no run in this folder can be read: r0: empty\n  fix: restore the reports" in done.stderr
