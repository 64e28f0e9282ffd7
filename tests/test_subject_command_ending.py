"""Programs as subjects are real processes, and are really ended, with all they started."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from command_trials import (
    all_ended,
    bot,
    children,
    collected,
    command,
    own_temporary_folder,  # noqa: F401 - sees to every test here
    pids,
    private_folders,
    talk,
)
from subject_trials import run, scenario, write_scenarios

from harness.load import load_scenarios
from harness.plan import Trial
from harness.process import Launch, Program
from harness.run import RunOptions, run_trials
from harness.run_directory import claim_new
from harness.transcript import Transcript
from harness.workers import Stop

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="counts through /proc, as Linux has it"
)


def test_a_flood_is_stopped_early(tmp_path: Path) -> None:
    code = """
        open("pids", "w").write(str(os.getpid()))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            sys.stdout.write("flood " * 10000)
    """
    for protocol in ("text", "jsonl"):
        (tmp_path / protocol).mkdir()
        started = time.monotonic()
        outcome = talk(tmp_path / protocol, code, protocol=protocol)
        assert outcome.error() == ("command", "more than 1048576 bytes of output")
        assert time.monotonic() - started < 8
        assert all_ended(pids(outcome))
        assert all(map(collected, pids(outcome)))


FAMILY = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True)"
    child = subprocess.Popen([sys.executable, "-c", stubborn + "; time.sleep(60)"], stdout=subprocess.PIPE)
    child.stdout.readline()
    open("pids", "w").write(f"{os.getpid()} {child.pid}")
"""


@pytest.mark.parametrize("protocol", ["text", "jsonl"])
def test_children_that_ignore_being_asked_are_killed(tmp_path: Path, protocol: str) -> None:
    started = time.monotonic()
    outcome = talk(tmp_path, FAMILY + "    time.sleep(60)", protocol=protocol, timeout=2)
    assert outcome.error()[0] == "timeout"
    assert len(pids(outcome)) == 2
    assert all_ended(pids(outcome))
    assert collected(pids(outcome)[0])
    assert time.monotonic() - started < 10


def test_a_program_that_listens_may_tidy_up(tmp_path: Path) -> None:
    code = """
        def leave(*_):
            time.sleep(0.2)
            open("tidied", "w").close()
            sys.exit()
        signal.signal(signal.SIGTERM, leave)
        time.sleep(60)
    """
    outcome = talk(tmp_path, code, timeout=1)
    assert outcome.error()[0] == "timeout"
    assert (outcome.workspace() / "tidied").exists()


def test_children_may_tidy_up_even_where_the_program_is_gone_already(tmp_path: Path) -> None:
    code = """
        tidying = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit())"
        tidying += "\\ntry: print(flush=True); time.sleep(60)"
        tidying += "\\nfinally: time.sleep(0.05); open('tidied', 'w').close()"
        child = subprocess.Popen([sys.executable, "-c", tidying], stdout=subprocess.PIPE)
        child.stdout.readline()
        print("said")
    """
    outcome = talk(tmp_path, code)
    assert outcome.said() == ["said"]
    assert (outcome.workspace() / "tidied").exists()


def test_only_the_end_of_stderr_is_kept_and_what_has_ended_is_not_signalled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys; sys.stderr.write('x' * 9_000_000 + 'last')"
    launch = Launch([sys.executable, "-c", code], tmp_path, os.environ, 100)

    async def end_twice() -> Program:
        program = await Program.start(launch)
        await program.until(lambda: program.exit_code is not None)
        await program.end()
        monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("another's number by now"))
        await program.end()
        return program

    errors = asyncio.run(end_twice()).errors
    assert errors.endswith("xlast")
    assert len(errors) == 4096


def test_what_a_program_leaves_running_is_ended_and_its_answer_stands(tmp_path: Path) -> None:
    """The child holds the pipe open: waiting for the end of the output alone would never end."""
    code = """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open("pids", "w").write(str(child.pid))
        print("gone already")
    """
    started = time.monotonic()
    outcome = talk(tmp_path, code)
    assert outcome.said() == ["gone already"]
    assert all_ended(pids(outcome))
    assert time.monotonic() - started < 5


def test_a_child_that_left_the_group_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    code = """
        rest = [sys.executable, "-c", "import time; time.sleep(30)"]
        child = subprocess.Popen(rest, start_new_session=True)
        open("pids", "w").write(str(child.pid))
        print("said")
    """
    started = time.monotonic()
    outcome = talk(tmp_path, code)
    try:
        assert outcome.said() == ["said"]
        assert time.monotonic() - started < 5
    finally:
        os.kill(pids(outcome)[0], signal.SIGKILL)


def test_the_limit_of_the_trial_ends_it_too(tmp_path: Path) -> None:
    subject = command(tmp_path / "scenarios", FAMILY + "    time.sleep(60)")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, timeout=2))
    outcome = run(file, tmp_path / "run")
    assert outcome.error() == ("timeout", "not finished after 2 s")
    assert all_ended(pids(outcome))
    assert private_folders() == set()


class _Listener:
    def started(self, trial: Trial) -> None: ...
    async def finished(self, trial: Trial, transcript: Transcript) -> None: ...


@pytest.mark.parametrize("again", [False, True], ids=["stopped", "stopped and stopped again"])
def test_stopping_the_run_ends_the_programs(tmp_path: Path, again: bool) -> None:
    subject = command(tmp_path / "scenarios", FAMILY + "    time.sleep(60)")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, seeds=3))
    place, stop = claim_new(tmp_path / "run"), Stop()
    trials = [Trial(load_scenarios([file])[0], seed) for seed in (1, 2, 3)]
    written = [place.workspace(trial) / "pids" for trial in trials]

    async def stop_midway() -> None:
        running = asyncio.create_task(run_trials(trials, RunOptions(place), _Listener(), stop))
        while not all(path.exists() and len(path.read_text().split()) == 2 for path in written):
            await asyncio.sleep(0.05)
        stop.ask("interrupted")
        stop.ask("interrupted")
        await asyncio.sleep(0.2)
        if again:
            stop.ask("interrupted")
        await running

    asyncio.run(stop_midway())
    found = [int(word) for path in written for word in path.read_text().split()]
    assert len(found) == 6
    assert all_ended(found)
    assert all(collected(pid) for pid in found[::2])
    assert private_folders() == set()
    for trial in trials:
        assert json.loads(place.transcript(trial).read_text().splitlines()[-1])["reason"] == "interrupted"


def test_a_program_that_was_being_started_when_we_were_stopped_is_ended(tmp_path: Path) -> None:
    """Cancelled at every step of its start in turn, from before the process to after the first word."""
    subject = command(tmp_path / "scenarios", "open(f'pid-{os.getpid()}', 'w'); time.sleep(60)")
    (loaded,) = load_scenarios([write_scenarios(tmp_path / "scenarios", scenario(subject))])
    place = claim_new(tmp_path / "run")
    started: list[int] = []
    start = Program.start

    async def noted(launch: Launch) -> Program:
        program = await start(launch)
        started.append(program._transport.get_pid())
        return program

    async def cancel_after(steps: int) -> None:
        seed = Trial(loaded, steps)
        task = asyncio.create_task(run_trials([seed], RunOptions(place, jobs=1), _Listener(), stop := Stop()))
        for _ in range(steps):
            await asyncio.sleep(0)
        stop.ask("interrupted")
        stop.ask("interrupted")
        await task

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "start", noted)
        for steps in range(1, 20):
            asyncio.run(cancel_after(steps))
    assert len(started) > 5
    assert all_ended(started)
    assert all(map(collected, started))
    assert private_folders() == set()


@needs_proc
def test_no_file_is_left_open_and_no_process_uncollected(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    codes = {
        "fine": "print('x')",
        "fails": "sys.exit(1)",
        "floods": "[print('x' * 10000) for _ in range(1000)]",
        "hangs": "time.sleep(60)",
        "deaf": "os.close(0); time.sleep(60)",
        "escapes": "subprocess.Popen(['sleep', '8'], start_new_session=True); sys.exit(1)",
    }
    scenarios = []
    for protocol in ("text", "jsonl"):
        for name, code in codes.items():
            program = bot(folder, code, f"{name}.py")
            subject: dict[str, object] = {"type": "command", "command": program, "protocol": protocol}
            if code.endswith("sleep(60)"):
                subject["timeout"] = 1
            for size in (1, 300_000):
                one = scenario(subject, "x" * size, seeds=2)
                scenarios.append({**one, "name": f"{name}-{protocol}-{size}"})
    scenarios.append({**scenario({"type": "command", "command": ["./nowhere"]}), "name": "nowhere"})
    file = write_scenarios(folder, *scenarios)

    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    run(file, tmp_path / "warm", jobs=20)
    before, family = open_files(), children()
    outcome = run(file, tmp_path / "run", jobs=20)
    assert open_files() == before
    assert outcome.report.summary.errors == 2 * 2 * (5 + 6) + 1
    assert children() == family


def test_fifty_at_once(tmp_path: Path) -> None:
    code = """
        open("here", "w").write(os.environ["SYNTHESIS_SEED"])
        runs = os.path.dirname(os.getcwd())
        while len([seed for seed in os.listdir(runs) if os.path.exists(f"{runs}/{seed}/here")]) < 50:
            time.sleep(0.05)
        print(sys.stdin.read(), os.environ["SYNTHESIS_SEED"])
    """
    subject = command(tmp_path / "scenarios", code)
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, seeds=50))
    outcome = run(file, tmp_path / "run", jobs=50)
    assert [outcome.said(seed=seed) for seed in range(1, 51)] == [[f"hello {seed}"] for seed in range(1, 51)]
