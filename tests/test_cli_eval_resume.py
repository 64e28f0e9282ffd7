"""`synthesis eval --resume` through its entry point: nothing of the earlier run is lost by oversight."""

import json
import shlex
from pathlib import Path

import pytest
from faulty_server import Behaviour, FaultyServer, Request, ok, status
from scenario_files import report_of, scenario, synthesis, trials, write

from harness import evaluate
from harness.cli import main
from harness.evaluation_request import EvaluationRequest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run of two scenarios, one of which ended in an error."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.json", scenario("good", seeds=2))
    write(tmp_path / "b.json", scenario("short", prompt=["one", "two"]))
    assert main(["eval", "a.json", "b.json", "--out", "run", "-q"]) == 1
    return tmp_path


def mend(folder: Path) -> None:
    write(folder / "b.json", scenario("short"))


def names(folder: Path) -> list[tuple[str, int]]:
    return [(name, seed) for name, seed, _ in trials(report_of(folder / "run"))]


def refused(folder: Path, *arguments: str) -> str:
    """A call that must leave the run as it was."""
    before = {path: path.read_bytes() for path in (folder / "run").rglob("*") if path.is_file()}
    result = synthesis("eval", *arguments, cwd=folder)
    assert result.returncode == 1, result.stdout
    assert {path: path.read_bytes() for path in (folder / "run").rglob("*") if path.is_file()} == before
    assert "Traceback" not in result.stderr
    return result.stderr


def test_without_a_path_the_scenarios_of_the_run_are_found(folder: Path) -> None:
    mend(folder)
    result = synthesis("eval", "--resume", "run", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "bundled" not in result.stderr
    assert names(folder) == [("good", 1), ("good", 2), ("short", 1)]
    assert "2 trials scored again from their transcripts" in result.stderr


def test_they_are_found_from_another_folder_too(folder: Path) -> None:
    mend(folder)
    (folder / "inner").mkdir()
    result = synthesis("eval", "--resume", "../run", cwd=folder / "inner")
    assert result.returncode == 0, result.stderr
    assert names(folder) == [("good", 1), ("good", 2), ("short", 1)]


def test_scenarios_the_run_never_had_are_not_added_without_being_asked_for(folder: Path) -> None:
    write(folder / "b.json", scenario("short"), scenario("added"))
    assert main(["eval", "--resume", "run", "-q"]) == 0
    assert names(folder) == [("good", 1), ("good", 2), ("short", 1)]
    assert main(["eval", "a.json", "b.json", "--resume", "run", "-q"]) == 0
    assert ("added", 1) in names(folder)


def test_without_a_report_the_paths_are_asked_for(folder: Path) -> None:
    (folder / "run" / "report.json").unlink()
    assert (
        "run: no report says which scenarios this run has\n"
        "  fix: give the scenarios of the run: synthesis eval PATH… --resume run"
    ) in refused(folder, "--resume", "run")


def test_a_report_does_not_make_code_run(folder: Path) -> None:
    code = f"open('ran', 'w').close()\nscenarios = [{scenario('good', seeds=2)!r}]"
    (folder / "c.py").write_text(code)
    report = report_of(folder / "run")
    report["scenarios"][0]["file"] = "c.py"
    (folder / "run" / "report.json").write_text(json.dumps(report))
    err = refused(folder, "--resume", "run")
    assert "c.py is code, which a report cannot ask to run\n  fix: give the scenarios of the run" in err
    assert not (folder / "ran").exists()
    assert main(["eval", "c.py", "b.json", "--resume", "run", "-q"]) == 1
    assert (folder / "ran").exists()


def test_a_file_that_is_gone_is_named(folder: Path) -> None:
    (folder / "b.json").unlink()
    assert "b.json is not there" in refused(folder, "--resume", "run")


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        (["a.json"], "short"),
        (["b.json"], "good"),
        (["a.json", "b.json", "--scenario", "s*"], "good"),
        (["a.json", "b.json", "--seeds", "1"], "good"),
        (["a.json", "b.json", "--seeds", "2,3"], "good, short"),
        (["--seeds", "1"], "good"),
    ],
)
def test_a_plan_that_leaves_trials_out_is_refused(folder: Path, arguments: list[str], left_out: str) -> None:
    err = refused(folder, *arguments, "--resume", "run")
    assert f"run: the run has trials that this call leaves out: {left_out}\n  fix: give the same paths" in err


def test_trials_that_were_never_run_count_as_well(folder: Path) -> None:
    write(folder / "b.json", scenario("short", prompt=["one", "two"], seeds=3))
    assert main(["eval", "b.json", "--out", "two", "--jobs", "1", "--fail-fast", "-q"]) == 1
    assert report_of(folder / "two")["summary"]["not_run"] == 2
    write(folder / "b.json", scenario("short"))
    assert "leaves out: short" in refused(folder, "b.json", "--resume", "two")


def test_what_to_type_next_goes_on_with_the_run(folder: Path) -> None:
    write(folder / "more stuff.json", scenario("short", prompt=["one", "two"]), scenario("other"))
    result = synthesis(
        "eval", "more stuff.json", "--scenario", "s*", "--seeds", "2,3", "--out", "my run", cwd=folder
    )
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("next: ")]
    program, *arguments = shlex.split(line.removeprefix("next: "), comments=True)
    assert program == "synthesis"
    write(folder / "more stuff.json", scenario("short"), scenario("other"))
    again = synthesis(*arguments, cwd=folder)
    assert again.returncode == 0, again.stderr
    assert [(name, seed) for name, seed, _ in trials(report_of(folder / "my run"))] == [
        ("short", 2), ("short", 3),
    ]  # fmt: skip


def test_every_option_that_was_typed_is_typed_again() -> None:
    request = EvaluationRequest(
        paths=("a.json",), seeds="2", scenarios=("x*", "y"), tags=("t",), min_mean="0.5", max_errors="1",
        jobs="3", timeout="9", keep_workspaces="never", recursive=True, data_only=True, fail_fast=True,
    )  # fmt: skip
    assert request.again(Path("run")) == (
        "synthesis eval a.json --seeds 2 --scenario 'x*' --scenario y --tag t --min-mean 0.5 --max-errors 1 "
        "--jobs 3 --timeout 9 --keep-workspaces never --recursive --data-only --fail-fast --resume run"
    )


def test_a_resume_that_fails_before_any_trial_leaves_the_report(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> None:
        raise PermissionError("no")

    before = (folder / "run" / "report.json").read_bytes()
    monkeypatch.setattr(evaluate, "earlier", unreadable)
    with pytest.raises(PermissionError):
        main(["eval", "--resume", "run", "-q"])
    assert (folder / "run" / "report.json").read_bytes() == before


def test_a_run_that_breaks_after_its_trials_began_still_has_a_report(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(evaluate, "score_trial", broken)
    with pytest.raises(MemoryError):
        main(["eval", "a.json", "--out", "two", "-q"])
    assert report_of(folder / "two")["summary"]["not_run"] == 2


def test_interrupted_trials_are_called_unfinished(folder: Path) -> None:
    path = folder / "run" / "transcripts" / "short-1.jsonl"
    lines = path.read_text("utf-8").splitlines()
    end = {**json.loads(lines[-1]), "reason": "interrupted"}
    path.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n", "utf-8")
    result = synthesis("eval", "--resume", "run", cwd=folder)
    assert "1 trial run again: unfinished" in result.stderr
    assert "ended in an error" not in result.stderr


def test_a_wrong_model_on_the_way_loses_no_answer_that_was_paid_for(tmp_path: Path) -> None:
    def play(request: Request) -> Behaviour:
        return ok("a paid answer") if request.body["model"] == "right" else status(404)

    write(tmp_path / "s.json", {**scenario("talk", seeds=4, rubric=[{"contains": "paid"}]), "subject": None})

    def evaluate(model: str, *more: str) -> int:
        options = ("--model", f"openai:{model}", "--base-url", server.base_url, *more)
        return synthesis("eval", "s.json", *options, cwd=tmp_path).returncode

    with FaultyServer(play) as server:
        assert evaluate("right", "--out", "run") == 0
        before = {path.name: path.read_bytes() for path in (tmp_path / "run" / "transcripts").iterdir()}
        assert evaluate("wrong", "--resume", "run") == 1
        asked = len(server.requests)
        assert evaluate("right", "--resume", "run") == 0
        assert len(server.requests) == asked
    after = {path.name: path.read_bytes() for path in (tmp_path / "run" / "transcripts").iterdir()}
    assert after == before
