"""pass@k, pass^k and flaky scenarios: in the report of a real run and in what it prints."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator
from scenario_files import report_of, synthesis, write
from scored_runs import scored

from harness import schema


def test_they_are_in_the_report_and_beside_mean_and_worst(tmp_path: Path) -> None:
    scenarios = scored("sometimes", [1, 0.5, 1, 1, 0]), scored("always", [1] * 5), scored("never", [0.75] * 5)
    write(tmp_path / "s.json", *scenarios)
    done = synthesis("eval", "s.json", "--out", "r", cwd=tmp_path)
    report = report_of(tmp_path / "r")
    Draft202012Validator(json.loads(schema.text("run_report"))).validate(report)
    found = {entry["name"]: entry for entry in report["scenarios"]}
    assert found["sometimes"]["pass_at_k"] == {"1": 0.6, "2": 0.9, "3": 1.0, "5": 1.0}
    assert found["sometimes"]["pass_all_k"] == {"1": 0.6, "2": 0.3, "3": 0.1, "5": 0.0}
    assert [(name, entry["passed"], entry["flaky"]) for name, entry in found.items()] == [
        ("sometimes", 3, True), ("always", 5, False), ("never", 0, False),
    ]  # fmt: skip
    assert report["summary"]["flaky"] == ["sometimes"]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["scenario", "trials", "mean", "worst", "stdev", "pass@3", "pass^3", "errors"] in lines
    assert ["sometimes", "5/5", "0.70", "0.00", "0.45", "1.00", "0.10", "0"] in lines
    assert "flaky, passing under some seeds only: sometimes\n" in done.stdout


def test_a_single_seed_says_nothing_about_k(tmp_path: Path) -> None:
    write(tmp_path / "s.json", scored("a", [1]), scored("b", [1, 0]))
    done = synthesis("eval", "s.json", cwd=tmp_path)
    assert "pass@" not in done.stdout
    assert "flaky, passing under some seeds only: b\n" in done.stdout
