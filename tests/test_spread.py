"""`synthesis eval --engine`: the same report from several processes, also when some of them are killed."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from dask_cluster import cluster
from engine_tasks import PATIENCE, alive, children, until
from scenario_files import command, environment, report_of, scenario, synthesis, trials, write

from harness.errors import SynthesisError
from harness.evaluation_request import EvaluationRequest
from harness.spread import Errand, do_share

MARKED = """
import os
import time
from pathlib import Path

HERE = Path(__file__).parent


def answer(message, context):
    with (HERE / "attempts").open("a") as attempts:
        attempts.write(f"{context.seed}\\n")
    if context.seed == 4 and not (HERE / "victim").exists():
        (HERE / "victim.part").write_text(str(os.getpid()))
        (HERE / "victim.part").rename(HERE / "victim")
        time.sleep(40)
    return f"hello {context.seed}"


SUBJECT = {"type": "function", "function": answer}
RUBRIC = [{"contains": "hello"}]
scenarios = [{"name": "marked", "prompt": "hi", "seeds": 12, "subject": SUBJECT, "rubric": RUBRIC}]
"""


def unclocked(run: Path) -> bytes:
    """The bytes of the report without those that tell the time."""
    return re.sub(rb'"timing":\{[^{}]*\}', b"", (run / "report.json").read_bytes())


def attempts(folder: Path) -> dict[int, int]:
    seeds = [int(line) for line in (folder / "attempts").read_text().splitlines()]
    return {seed: seeds.count(seed) for seed in seeds}


def start(*arguments: object, cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("eval", *arguments),
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_the_bundled_scenarios_give_the_same_bytes_from_every_engine(tmp_path: Path) -> None:
    for number, engine in enumerate(["local", "processes:1", "processes:3", "dask"]):
        found = synthesis(
            "eval", "--seeds", 2, "--out", f"r{number}", "--engine", engine, "-q", cwd=tmp_path, timeout=120
        )
        assert found.returncode == 0, found.stderr
    first = unclocked(tmp_path / "r0")
    assert b'"timing"' not in first
    assert [unclocked(tmp_path / f"r{number}") for number in (1, 2, 3)] == [first] * 3
    names = sorted(path.name for path in (tmp_path / "r0" / "transcripts").iterdir())
    for run in ("r1", "r2", "r3"):
        assert sorted(path.name for path in (tmp_path / run / "transcripts").iterdir()) == names
        assert sorted(path.name for path in (tmp_path / run).iterdir()) == [
            "report.json",
            "transcripts",
            "workspaces",
        ]


@pytest.mark.parametrize(
    "more", [(), ("--max-errors", 3), ("--keep-workspaces", "failed"), ("--min-mean", 0.9)]
)
def test_errors_timeouts_and_thresholds_are_as_they_are_here(
    more: tuple[object, ...], tmp_path: Path
) -> None:
    write(
        tmp_path / "s.json",
        scenario("good", seeds=3),
        scenario("bad", "no", seeds=3),
        scenario("short", "one", prompt=["hi", "there"], seeds=2),
        scenario("slow", timeout=0.2, subject={"type": "command", "command": ["sleep", "30"]}),
    )
    found = [
        synthesis("eval", "s.json", "--out", out, "--engine", engine, *more, cwd=tmp_path)
        for out, engine in (("here", "local"), ("there", "processes:2"))
    ]
    assert found[0].returncode == found[1].returncode
    assert unclocked(tmp_path / "here") == unclocked(tmp_path / "there")
    assert report_of(tmp_path / "there")["summary"]["errors"] == 3
    assert (
        found[1].stdout.replace("there", "here").replace(" --engine processes:2", " --engine local")
        == found[0].stdout
    )
    workspaces = [
        sorted(str(path.relative_to(tmp_path / run)) for path in (tmp_path / run).glob("workspaces/*/*"))
        for run in ("here", "there")
    ]
    assert workspaces[0] == workspaces[1]


def test_the_trial_of_a_killed_worker_is_run_again_and_counted_once(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(MARKED)
    options = ("marked.py", "--jobs", 2, "--engine", "processes:2", "--out", "there", "-q")
    with start(*options, cwd=tmp_path) as process:
        until((tmp_path / "victim").exists)
        os.kill(int((tmp_path / "victim").read_text()), signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert [seed for _, seed, _ in trials(report_of(tmp_path / "there"))] == list(range(1, 13))
    assert attempts(tmp_path) == {seed: 2 if seed == 4 else 1 for seed in range(1, 13)}
    assert "Traceback" not in err
    assert synthesis("eval", "marked.py", "--out", "here", "-q", cwd=tmp_path).returncode == 0
    assert unclocked(tmp_path / "here") == unclocked(tmp_path / "there")


def test_a_killed_command_leaves_nobody_and_can_be_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(MARKED)
    options = ("marked.py", "--jobs", 2, "--engine", "processes:2")
    with start(*options, "--out", "there", cwd=tmp_path) as process:
        until((tmp_path / "victim").exists)
        workers = children(process.pid)
        process.kill()
        process.communicate(timeout=PATIENCE)
        until(lambda: not any(map(alive, workers)))
    before = attempts(tmp_path)
    found = synthesis("eval", *options, "--resume", "there", "-q", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert [seed for _, seed, _ in trials(report_of(tmp_path / "there"))] == list(range(1, 13))
    assert attempts(tmp_path)[4] == before[4] + 1
    assert synthesis("eval", "marked.py", "--out", "here", "-q", cwd=tmp_path).returncode == 0
    assert unclocked(tmp_path / "here") == unclocked(tmp_path / "there")


def test_two_workers_of_a_cluster_share_the_trials(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text(MARKED)
    (tmp_path / "elsewhere").mkdir()
    with cluster(tmp_path / "elsewhere") as there:
        options = ("marked.py", "--jobs", 2, "--engine", f"dask:{there.address}", "--out", "there", "-q")
        with start(*options, cwd=tmp_path) as process:
            until((tmp_path / "victim").exists)
            os.kill(int((tmp_path / "victim").read_text()), signal.SIGKILL)
            _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert attempts(tmp_path) == {seed: 2 if seed == 4 else 1 for seed in range(1, 13)}
    assert synthesis("eval", "marked.py", "--out", "here", "-q", cwd=tmp_path).returncode == 0
    assert unclocked(tmp_path / "here") == unclocked(tmp_path / "there")


def test_fail_fast_stops_the_others(tmp_path: Path) -> None:
    slow = {"type": "command", "command": ["sh", "-c", "sleep 0.1; echo hello"]}
    write(
        tmp_path / "s.json",
        scenario("a", "one", prompt=["hi", "there"]),
        scenario("b", subject=slow, seeds=60),
    )
    found = synthesis("eval", "s.json", "--out", "r", "--engine", "processes:2", "--fail-fast", cwd=tmp_path)
    assert found.returncode == 1
    report = report_of(tmp_path / "r")
    assert report["summary"]["stopped"] == "fail-fast"
    assert report["summary"]["not_run"] > 20
    assert not (tmp_path / "r" / "stopping").exists()


@pytest.mark.parametrize("engine", ["processes:2", "dask"])
def test_the_first_ctrl_c_lets_what_runs_finish(engine: str, tmp_path: Path) -> None:
    wait = {
        "type": "command",
        "command": [
            "sh",
            "-c",
            "touch began; while [ ! -e ../../../../go ]; do sleep 0.05; done; echo hello",
        ],
    }
    write(tmp_path / "s.json", scenario("b", subject=wait, seeds=40))
    with start("s.json", "--out", "r", "--jobs", 4, "--engine", engine, cwd=tmp_path) as process:
        until(lambda: len(list((tmp_path / "r").glob("workspaces/*/*/began"))) == 4)
        os.killpg(process.pid, signal.SIGINT)
        until((tmp_path / "r" / "stopping").exists)
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    report = report_of(tmp_path / "r")
    assert (process.returncode, report["summary"]["stopped"]) == (1, "interrupted"), err
    assert sum(trial["status"] == "scored" for _, _, trial in trials(report)) == 4
    assert report["summary"]["not_run"] == 36
    assert "stopping: what runs is finished" in err
    assert "Traceback" not in err
    assert f"--engine {engine}" in out.replace("\\n", " ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_ends_now_with_its_programs_and_writes_the_report(number: int, tmp_path: Path) -> None:
    wait = {"type": "command", "command": ["sh", "-c", "echo $$ > began; exec sleep 40"]}
    write(tmp_path / "s.json", scenario("b", subject=wait, seeds=4))
    with start("s.json", "--out", "r", "--jobs", 2, "--engine", "processes:2", cwd=tmp_path) as process:
        until(lambda: len([p for p in (tmp_path / "r").glob("workspaces/*/*/began") if p.read_text()]) == 2)
        family = children(process.pid)
        assert len(family) >= 4
        process.send_signal(number)
        if number == signal.SIGINT:
            until((tmp_path / "r" / "stopping").exists)
            process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert report_of(tmp_path / "r")["summary"]["stopped"] == "interrupted"
    assert "Traceback" not in err
    until(lambda: not any(map(alive, family)))
    ends = [
        json.loads(path.read_text().splitlines()[-1]) for path in (tmp_path / "r" / "transcripts").iterdir()
    ]
    assert {end["reason"] for end in ends} == {"interrupted"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--engine", "dusk"), 'synthesis: --engine: unknown engine "dusk"'),
        (("--engine", "processes:0"), 'synthesis: --engine: "processes:0": not a number'),
        (
            ("--engine", "processes", "--max-tokens", 5),
            "--engine processes: --max-tokens can be kept by one process",
        ),
        (("--engine", "dask", "--max-cost", 5), "--engine dask: --max-cost can be kept by one process only"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    options: tuple[object, ...], problem: str, tmp_path: Path
) -> None:
    write(tmp_path / "s.json", scenario())
    found = synthesis("eval", "s.json", "--out", "r", *options, cwd=tmp_path)
    assert found.returncode == 1
    assert problem in found.stderr
    assert "  fix: " in found.stderr
    assert not (tmp_path / "r").exists()


def test_the_project_file_may_name_the_engine(tmp_path: Path) -> None:
    write(tmp_path / "s.json", scenario())
    (tmp_path / "synthesis.toml").write_text('[eval]\nengine = "dusk"\n')
    assert 'unknown engine "dusk"' in synthesis("eval", "s.json", "--out", "r", cwd=tmp_path).stderr
    found = synthesis("eval", "s.json", "--out", "r", "--engine", "local", cwd=tmp_path)
    assert found.returncode == 0


def test_files_that_change_under_way_are_told(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import os\n"
        "scenarios = [{'name': 'a', 'prompt': str(os.getpid()), 'rubric': [{'contains': 'x'}],"
        " 'subject': {'type': 'scripted', 'replies': ['x']}}]\n"
    )
    found = synthesis("eval", "s.py", "--out", "r", "--engine", "processes:1", cwd=tmp_path)
    assert found.returncode == 1
    assert (
        "a worker finds other scenarios, words or settings than there were when the run began" in found.stderr
    )
    assert "--resume" in found.stderr


def test_a_worker_that_sees_other_files_says_so(tmp_path: Path) -> None:
    missing = Errand(EvaluationRequest(), str(tmp_path / "no"), str(tmp_path / "r"), 1, "")
    with pytest.raises(SynthesisError, match="a worker does not find this folder"):
        do_share(missing, (("a", 1),))
