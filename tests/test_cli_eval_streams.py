"""Output nobody can take, and signals: neither loses a run or its exit code."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scenario_files import command, environment, report_of, scenario, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell and its signals")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "s.json", *(scenario(f"scenario-{number:03}") for number in range(40)))
    write(tmp_path / "error.json", *(scenario(f"e{number}", prompt=["1", "2"]) for number in range(20)))
    return tmp_path


def shell(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """A line of bash in which `synthesis` is ours; the exit code is that of synthesis."""
    run = " ".join(command())
    return subprocess.run(
        ["bash", "-c", f'synthesis() {{ {run} "$@"; }}; {line}; exit ${{PIPESTATUS[0]}}'],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "end", ["2>&1 | head -1", "2>/dev/full", "2>&-", ">&-", ">/dev/full", ">&- 2>&-", "| true"]
)
@pytest.mark.parametrize(("more", "code"), [("", 0), ("--min-mean 1", 2), ("--json --min-mean 1", 2)])
def test_the_exit_code_is_the_run_s_whatever_becomes_of_the_output(
    folder: Path, end: str, more: str, code: int
) -> None:
    write(folder / "half.json", scenario("half", "no"), scenario("h", prompt=["1", "2"]), scenario("g"))
    result = shell(f"synthesis eval half.json --seeds 9 --max-errors 9 --out run {more} {end}", folder)
    assert result.returncode == code, result.stderr
    assert report_of(folder / "run")["summary"]["scored"] == 18
    assert "Traceback" not in result.stderr + result.stdout


@pytest.mark.parametrize(
    "line", ["eval s.json --list", "eval error.json --out e", "init p", "schema eval_case"]
)
@pytest.mark.parametrize("end", ["| head -1", "2>&1 | true", ">/dev/full", ">&-"])
def test_no_command_minds(folder: Path, line: str, end: str) -> None:
    result = shell(f"synthesis {line} {end}", folder)
    assert result.returncode == (1 if "error" in line else 0), result.stderr
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr


def test_a_full_disk_is_mentioned(folder: Path) -> None:
    result = shell("synthesis eval s.json --list >/dev/full", folder)
    assert "synthesis: standard output cannot be written: No space left on device" in result.stderr


BLOCKING = """
import time

async def answer(prompt, context):
    if WHERE == "subject":
        time.sleep(60)
    return "hello"

def judge(run):
    if WHERE == "score":
        time.sleep(60)
    return True

scenarios = [{"name": "slow", "prompt": "hi", "seeds": 3,
    "subject": {"type": "function", "function": answer}, "rubric": [{"score": judge}]}]
"""


def start(folder: Path, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("eval", *arguments), cwd=folder, env=environment(), text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(path: Path, lines: int) -> None:
    end = time.monotonic() + 20
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


@pytest.mark.parametrize(("where", "lines"), [("subject", 2), ("score", 4)])
def test_ctrl_c_twice_stops_code_that_holds_the_thread(folder: Path, where: str, lines: int) -> None:
    (folder / "b.py").write_text(f"WHERE = {where!r}\n{BLOCKING}")
    process = start(folder, "b.py", "--out", "run")
    wait_for(folder / "run" / "transcripts" / "slow-1.jsonl", lines)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "Traceback" not in err
    assert "INCOMPLETE: 3 were not run (interrupted)" in out
    assert report_of(folder / "run")["summary"]["stopped"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_that_ends_ends_the_programs_and_leaves_a_report(
    folder: Path, number: signal.Signals
) -> None:
    child = "import os, sys, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    program = {"type": "command", "command": [sys.executable, "-c", child]}
    write(folder / "c.json", scenario("slow", subject=program))
    process = start(folder, "c.json", "--out", "run")
    pid = folder / "run" / "workspaces" / "slow" / "1" / "pid"
    end = time.monotonic() + 20
    while not (pid.exists() and pid.read_text()):
        assert time.monotonic() < end, "the program never started"
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 1, err
    assert "1 was not run (interrupted)" in out
    assert not Path(f"/proc/{pid.read_text()}/cmdline").exists()
    assert report_of(folder / "run")["summary"]["complete"] is False


def test_nohup_stays_nohup(folder: Path) -> None:
    code = "import time\n\ndef answer(prompt, context):\n    time.sleep(1.5)\n    return 'hello'\n"
    subject = "{'type': 'function', 'function': answer}"
    (folder / "n.py").write_text(
        f"{code}\nscenarios = [{{'name': 'slow', 'prompt': 'hi', 'subject': {subject},"
        " 'rubric': [{'contains': 'hello'}]}]\n"
    )
    process = subprocess.Popen(
        ["nohup", *command("eval", "n.py", "--out", "run")], cwd=folder, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(folder / "run" / "transcripts" / "slow-1.jsonl", 2)
    process.send_signal(signal.SIGHUP)
    assert process.wait(20) == 0


def test_ctrl_c_while_the_last_trials_run_loses_nothing(folder: Path) -> None:
    code = "import time\n\ndef answer(prompt, context):\n    time.sleep(1.5)\n    return 'hello'\n"
    subject = "{'type': 'function', 'function': answer}"
    (folder / "n.py").write_text(
        f"{code}\nscenarios = [{{'name': 'slow', 'prompt': 'hi', 'subject': {subject},"
        " 'rubric': [{'contains': 'hello'}]}]\n"
    )
    process = start(folder, "n.py", "--out", "run")
    wait_for(folder / "run" / "transcripts" / "slow-1.jsonl", 2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "interrupted, but every trial had finished" in out
    assert "INCOMPLETE" not in out
