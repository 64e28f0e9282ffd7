"""Whole runs: what is repeated and what is not, what a killed run leaves, the same bytes twice."""

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from scenario_files import (
    Definition,
    command,
    environment,
    load,
    report_of,
    scenario,
    synthesis,
    tree,
    trials,
    write,
)

from harness.conclude import read_report
from harness.decide import RunOutcome, Thresholds
from harness.evaluate import Display, Evaluation, EvaluationOptions
from harness.plan import plan_trials
from harness.recorded_run import Why
from harness.run import RunOptions
from harness.run_directory import claim_default, claim_new, claim_resumed
from harness.transcript import read_transcript
from harness.workers import Stop


class Reasons(Display):
    def __init__(self) -> None:
        self.why: dict[Why, int] = {}

    def resumed(self, why: dict[Why, int]) -> None:
        self.why = why


def evaluate(file: Path, out: Path, *, jobs: int = 8, **options: Any) -> RunOutcome:
    place = claim_resumed(out) if options.get("resume") else claim_new(out)
    evaluation = Evaluation(
        plan_trials(load(file)), EvaluationOptions(RunOptions(place, jobs=jobs), **options)
    )
    asyncio.run(evaluation.run())
    return evaluation.finish()


def resume(file: Path, out: Path) -> dict[Why, int]:
    """Go on with a run, and say why each trial was run or kept."""
    reasons = Reasons()
    evaluation = Evaluation(
        plan_trials(load(file)),
        EvaluationOptions(RunOptions(claim_resumed(out)), resume=True),
        reasons,
    )
    asyncio.run(evaluation.run())
    evaluation.finish()
    return reasons.why


def scores(out: Path) -> dict[tuple[str, int], float | None]:
    return {(name, seed): trial["score"] for name, seed, trial in trials(report_of(out))}


# Resume


def test_a_finished_run_is_kept_byte_for_byte(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", scenario(seeds=3))
    evaluate(file, tmp_path / "out")
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "out").rglob("*.jsonl")
    }
    assert len(before) == 3
    assert resume(file, tmp_path / "out") == {"kept": 3}
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before}


def test_each_trial_is_kept_or_run_again_for_its_own_reason(tmp_path: Path) -> None:
    same, edited = scenario("same"), scenario("edited")
    broken = scenario("broken", prompt=["more", "messages", "than replies"])
    file = write(tmp_path / "s.json", same, edited, broken, scenario("cut"), scenario("spoilt"))
    out = tmp_path / "out"
    evaluate(file, out)
    cut = out / "transcripts" / "cut-1.jsonl"
    cut.write_bytes(cut.read_bytes()[:-5])
    (out / "transcripts" / "spoilt-1.jsonl").write_bytes(b"not a transcript\n")
    write(
        file,
        same,
        {**edited, "prompt": "something else"},
        broken,
        scenario("cut"),
        scenario("spoilt"),
        scenario("new"),
    )
    assert resume(file, out) == {"kept": 1, "changed": 1, "failed": 1, "unfinished": 2, "new": 1}
    assert scores(out) == {
        ("same", 1): 1, ("edited", 1): 1, ("broken", 1): None,
        ("cut", 1): 1, ("spoilt", 1): 1, ("new", 1): 1,
    }  # fmt: skip
    assert read_transcript(cut).finished


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": ["other"]},
        {"system": "Be kind."},
        {"fixtures": {"note.txt": "x"}},
        {"subject": {"type": "scripted", "replies": ["hello, friend"]}},
    ],
)
def test_what_shapes_the_transcript_runs_the_trial_again(tmp_path: Path, change: Definition) -> None:
    file = write(tmp_path / "s.json", scenario())
    evaluate(file, tmp_path / "out")
    write(file, scenario(**change))
    assert resume(file, tmp_path / "out") == {"changed": 1}


@pytest.mark.parametrize(
    "change",
    [{"rubric": [{"contains": "goodbye"}]}, {"tags": ["x"]}, {"description": "x"}, {"timeout": 3}],
)
def test_what_does_not_shape_it_only_scores_it_again(tmp_path: Path, change: Definition) -> None:
    file = write(tmp_path / "s.json", scenario())
    evaluate(file, tmp_path / "out")
    write(file, scenario(**change))
    assert resume(file, tmp_path / "out") == {"kept": 1}
    assert scores(tmp_path / "out") == {("talk", 1): 0 if "rubric" in change else 1}


def test_a_seed_more_runs_that_seed_only(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", scenario(seeds=2))
    evaluate(file, tmp_path / "out")
    write(file, scenario(seeds=4))
    assert resume(file, tmp_path / "out") == {"kept": 2, "new": 2}


def test_a_maker_that_fails_now_is_run_and_recorded_as_an_error(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    code = (
        "def choose(scenario, seed):\n    {line}\n    return {{'type': 'scripted', 'replies': ['hello']}}\n"
        "scenarios = [dict(name='talk', prompt='hi', subject=choose, rubric=[dict(contains='hello')])]\n"
    )
    file.write_text(code.format(line="pass"))
    evaluate(file, tmp_path / "out")
    file.write_text(code.format(line="raise ValueError('gone')"))
    assert resume(file, tmp_path / "out") == {"changed": 1}
    ((_, _, trial),) = trials(report_of(tmp_path / "out"))
    assert (trial["status"], trial["error"]) == ("error", "ValueError: gone")


@pytest.mark.parametrize("link", ["transcripts", "workspaces", "workspaces/talk", "transcripts/talk-1.jsonl"])
def test_a_run_with_links_in_it_is_not_gone_on_with(tmp_path: Path, link: str) -> None:
    file = write(tmp_path / "s.json", scenario())
    evaluate(file, tmp_path / "out")
    path, outside = tmp_path / "out" / link, tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    before = tree(outside) or outside.read_bytes()
    result = synthesis("eval", file, "--resume", tmp_path / "out", cwd=tmp_path)
    assert result.returncode == 1
    assert f"{path}: a link lies where the run writes" in result.stderr
    assert (tree(outside) or outside.read_bytes()) == before


# Stopping


@pytest.mark.parametrize(
    ("asked", "dropped"),
    [
        (["interrupted"], False),
        (["interrupted", "fail-fast"], False),
        (["fail-fast", "fail-fast", "interrupted"], False),
        (["interrupted", "interrupted"], True),
        (["fail-fast", "interrupted", "interrupted"], True),
    ],
)
def test_only_a_second_interrupt_drops_what_runs(
    asked: list[Literal["interrupted", "fail-fast"]], dropped: bool
) -> None:
    async def run() -> None:
        stop = Stop(tasks={asyncio.create_task(asyncio.sleep(0))})
        for reason in asked:
            stop.ask(reason)
        (outcome,) = await asyncio.gather(*stop.tasks, return_exceptions=True)
        assert isinstance(outcome, asyncio.CancelledError) is dropped
        assert stop.reason == asked[0]

    asyncio.run(run())


# A killed process

SLOW = """
import time

def answer(prompt, context):
    if prompt == "second" and context.seed > 2 and not {patient}:
        time.sleep(60)
    return f"hello {{context.seed}}"

scenarios = [{{"name": "slow", "prompt": ["first", "second"], "seeds": 5,
    "subject": {{"type": "function", "function": answer}}, "rubric": [{{"contains": "hello"}}]}}]
"""


def wait_for(condition: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def test_a_killed_run_leaves_readable_transcripts_and_resume_finishes_it(tmp_path: Path) -> None:
    file, out = tmp_path / "s.py", tmp_path / "out"
    file.write_text(SLOW.format(patient=False))
    process = subprocess.Popen(
        command("eval", file, "--out", out, "--jobs", 2),
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
    )
    stuck = [out / "transcripts" / f"slow-{seed}.jsonl" for seed in (3, 4)]
    wait_for(lambda: all(path.exists() and path.read_bytes().count(b"\n") == 4 for path in stuck))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (out / "report.json").exists()
    left = {path.stem: read_transcript(path) for path in sorted((out / "transcripts").iterdir())}
    assert {name: found.finished for name, found in left.items()} == {
        "slow-1": True, "slow-2": True, "slow-3": False, "slow-4": False,
    }  # fmt: skip
    assert [event["type"] for event in left["slow-3"].events] == ["start", "user", "assistant", "user"]
    kept = (out / "transcripts" / "slow-1.jsonl").stat().st_mtime_ns

    result = synthesis("eval", file, "--resume", out, "--timeout", "0.3", cwd=tmp_path)
    assert result.returncode == 1
    assert "2 trials scored again from their transcripts" in result.stderr
    assert "2 trials run again: unfinished" in result.stderr
    assert "1 trial run for the first time" in result.stderr
    assert "slow-3: timeout: not finished after 0.3 s" in result.stderr

    file.write_text(SLOW.format(patient=True))
    result = synthesis("eval", file, "--resume", out, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "3 trials run again: ended in an error" in result.stderr
    assert "2 trials run again: the scenario or its subject changed" in result.stderr
    assert report_of(out)["summary"]["complete"] is True
    assert (out / "transcripts" / "slow-1.jsonl").stat().st_mtime_ns > kept


# Same input, same bytes


def test_two_runs_under_two_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    write(
        tmp_path / "s.json",
        *(
            scenario(
                name,
                "You'll be fine.",
                "hello",
                seeds=3,
                tags=["x", "y"],
                fixtures={"b": "1", "a": "2"},
                rubric=[
                    {"contains": "hello"},
                    {"unverifiable_reassurance": True},
                    {"agency_language": {"combine": "mean"}},
                    {"topic_pivot": True, "weight": 2},
                ],
            )
            for name in ("b", "a", "c")
        ),
        scenario("failing", prompt=["too", "many"]),
    )
    reports, transcripts = [], []
    for number, jobs in ((0, 1), (4711, 7)):
        out = tmp_path / f"out{number}"
        synthesis(
            "eval", "s.json", "--out", out, "--jobs", jobs, "--min-mean", "1", cwd=tmp_path,
            env={"PYTHONHASHSEED": str(number)},
        )  # fmt: skip
        head, timing = (out / "report.json").read_bytes().rsplit(b'"timing":', 1)
        assert set(json.loads(timing.rstrip()[:-1])) == {
            "started", "seconds", "trials_seconds", "model_seconds", "turns_latency_ms",
        }  # fmt: skip
        reports.append(head)
        transcripts.append({path.name: path.read_bytes() for path in sorted((out / "transcripts").iterdir())})
    assert reports[0] == reports[1]
    assert transcripts[0] == transcripts[1]
    assert len(transcripts[0]) == 10


def test_two_runs_in_one_second_get_two_directories(tmp_path: Path) -> None:
    places = [claim_default(tmp_path / "runs", "20260101-000000").path.name for _ in range(3)]
    assert places == ["20260101-000000", "20260101-000000-2", "20260101-000000-3"]


# The report


def test_a_report_is_its_record(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.json",
        scenario("good", seeds=2),
        scenario("bad", "no"),
        scenario("off", prompt=["a", "b"]),
    )
    outcome = evaluate(file, tmp_path / "out", thresholds=Thresholds(min_mean=0.9, max_errors=1))
    report = read_report(outcome.report)
    assert json.loads(report.model_dump_json(by_alias=True)) == report_of(tmp_path / "out")
    assert report.summary == outcome.summary
    assert report.exit_code == outcome.decision.exit == 2
    assert report.thresholds == outcome.decision.thresholds
    good, bad, off = report.scenarios
    assert (good.mean, good.worst, good.stdev, good.scored, good.errors) == (1, 1, 0, 2, 0)
    assert (bad.mean, bad.scored, bad.rubric) == (0, 1, ({"contains": "hello"},))
    assert (off.mean, off.errors) == (None, 1)
    for entry in report.scenarios:
        for trial in entry.trials:
            transcript = read_transcript(tmp_path / "out" / trial.transcript)
            assert (transcript.start["scenario"], transcript.seed) == (entry.name, trial.seed)
            assert transcript.start["fingerprint"] == trial.fingerprint


def test_a_report_says_what_produced_its_numbers(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", scenario(rubric=[{"topic_pivot": True}, {"contains": "hello"}]))
    report = read_report(evaluate(file, tmp_path / "out").report)
    assert set(report.stamp.lexicons) == {"topic_pivot/en"}
    assert len(report.stamp.lexicons["topic_pivot/en"].sha256) == 64
    assert report.stamp.similarity == "bag-of-words"
    (entry,) = report.scenarios
    assert entry.subject["type"] == "scripted"
    assert len(entry.subject["sha256"]) == 64


def test_many_trials_at_once_are_kept_apart(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.json",
        *(
            scenario(
                f"s{number}",
                fixtures={"mine": str(number)},
                seeds=3,
                subject={"type": "scripted", "replies": [[f"{number}/{seed}"] for seed in (1, 2, 3)]},
            )
            for number in range(40)
        ),
    )
    evaluate(file, tmp_path / "out", jobs=50)
    for number in range(40):
        for seed in (1, 2, 3):
            transcript = read_transcript(tmp_path / "out" / "transcripts" / f"s{number}-{seed}.jsonl")
            assert transcript.result == f"{number}/{seed}"
            assert (tmp_path / "out" / "workspaces" / f"s{number}" / str(seed) / "mine").read_text() == str(
                number
            )


CRASHES = """
from harness.subject import Reply, Subject

class Session:
    async def reply(self, message):
        raise ValueError("lone \\ud800")

    async def close(self):
        pass

class Broken(Subject):
    def open(self, context):
        return Session()

class Nameless(Broken):
    def identity(self):
        return {"type": object()}

def crash(how):
    def answer(prompt, context):
        if how == "raise":
            raise ValueError("lone \\ud800 and \\x1b[31m")
        if how == "exit":
            raise SystemExit(0)
        if how == "surrogate":
            return "lone \\ud800"
        if how == "object":
            return object()
        if how == "remove":
            context.workspace.rmdir()
        return "hello"
    return {"type": "function", "function": answer}

def maker(scenario, seed):
    raise SystemExit(0)

def entry(name, subject):
    return {"name": name, "prompt": "hi", "subject": subject, "rubric": [{"contains": "hello"}]}

scenarios = [entry(how, crash(how)) for how in ("raise", "exit", "surrogate", "object", "remove", "fine")]
scenarios.append(entry("maker", maker))
scenarios.append(entry("session", lambda scenario, seed: Broken()))
scenarios.append(entry("nameless", lambda scenario, seed: Nameless()))
"""


def test_one_trial_s_crash_never_touches_another(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(CRASHES)
    evaluate(tmp_path / "s.py", tmp_path / "out", keep_workspaces="never")
    found = {name: trial for name, _, trial in trials(report_of(tmp_path / "out"))}
    assert {name for name, trial in found.items() if trial["score"] == 1} == {"fine", "remove"}
    assert {name for name, trial in found.items() if trial["status"] == "error"} == {
        "raise", "exit", "surrogate", "object", "maker", "session", "nameless",
    }  # fmt: skip
    assert found["raise"]["error"].startswith("ValueError: ")
    assert found["maker"]["error"] == "SystemExit: 0"
    assert found["session"]["error"] == "ValueError: lone \\ud800"
    assert found["nameless"]["error"].startswith("TypeError: ")
    for path in (tmp_path / "out" / "transcripts").iterdir():
        transcript = read_transcript(path)
        assert transcript.end is not None
