"""`synthesis eval --resume` through its entry point: nothing of the earlier run is lost by oversight."""

import json
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_server import Behaviour, FaultyServer, Request, Step, ok, status
from scenario_files import command, environment, report_of, scenario, synthesis, trials, write

from harness import evaluate, score
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
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(score, "score_trial", broken)
    assert main(["eval", "a.json", "--out", "two", "-q"]) == 1
    assert "memory ran out" in capsys.readouterr().err
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


# Judges of trials that are kept


class Judge:
    """Takes its time, and counts how many it is asked by at once."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.active = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Behaviour:
        return self._play

    def _play(self, request: Request) -> Iterator[Step]:
        with self._lock:
            self.active += 1
            self.most = max(self.most, self.active)
        yield self.seconds
        with self._lock:
            self.active -= 1
        yield from ok("1")(request)


def judged_run(folder: Path, base_url: str, seeds: int) -> None:
    """A run of which every trial is finished and nobody has been asked yet what it is worth."""
    model = {"model": "openai:judge", "base_url": base_url, "request_timeout": 100}
    rubric = [{"judge": "Score it.", "judge_model": model}]
    write(folder / "j.json", scenario("a", seeds=seeds, rubric=rubric))
    assert synthesis("eval", "j.json", "--out", "judged", cwd=folder).returncode == 0
    shutil.rmtree(folder / "judged" / "judgments")


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_kept_trials_are_judged_as_many_at_once_as_jobs(tmp_path: Path, jobs: int) -> None:
    judge = Judge(0)
    with FaultyServer(judge) as server:
        judged_run(tmp_path, server.base_url, seeds=6)
        judge.seconds, judge.most = 0.7, 0
        before = len(server.requests)
        result = synthesis("eval", "j.json", "--resume", "judged", "--jobs", jobs, cwd=tmp_path)
        assert len(server.requests) - before == 6
    assert result.returncode == 0, result.stderr
    assert "6 trials scored again from their transcripts" in result.stderr
    assert judge.most == jobs
    assert [trial["score"] for _, _, trial in trials(report_of(tmp_path / "judged"))] == [1] * 6


@pytest.mark.parametrize("interrupts", [1, 2])
def test_judging_what_was_kept_stops_when_interrupted_and_there_is_a_report(
    tmp_path: Path, interrupts: int
) -> None:
    judge = Judge(0)
    with FaultyServer(judge) as server:
        judged_run(tmp_path, server.base_url, seeds=9)
        judge.seconds = 2 if interrupts == 1 else 60
        before = len(server.requests)
        process = subprocess.Popen(
            command("eval", "j.json", "--resume", "judged", "--jobs", 1),
            cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_until(lambda: len(server.requests) > before)
        for _ in range(interrupts):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        stdout, stderr = process.communicate(timeout=50)
        assert len(server.requests) - before == 1
    assert process.returncode == 1, stdout
    assert "Traceback" not in stderr
    summary = report_of(tmp_path / "judged")["summary"]
    assert (summary["stopped"], summary["scored"]) == ("interrupted", 2 - interrupts)
    assert summary["not_run"] == 7 + interrupts


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
