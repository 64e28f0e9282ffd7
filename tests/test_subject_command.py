"""Programs as subjects: real processes, really ended."""

import asyncio
import json
import os
import signal
import stat
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from subject_trials import Outcome, evaluate, run, scenario, write_scenarios

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios
from harness.plan import Trial
from harness.process import Launch, Program
from harness.run import RunOptions, Stop, run_trials
from harness.run_directory import claim_new
from harness.transcript import Transcript

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="counts through /proc, as Linux has it"
)


def bot(folder: Path, code: str, name: str = "bot.py") -> list[str]:
    """A program beside the scenario file, in Python."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("import json, os, signal, subprocess, sys, time\n" + textwrap.dedent(code))
    return [sys.executable, f"./{name}"]


def command(folder: Path, code: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": bot(folder, code), **more}


def talk(folder: Path, code: str, prompt: str | list[str] = "hello", **more: object) -> Outcome:
    """One trial of a scenario whose program is this code."""
    subject = command(folder / "scenarios", code, **more)
    return run(write_scenarios(folder / "scenarios", scenario(subject, prompt)), folder / "run")


def jsonl(folder: Path, code: str, prompt: str | list[str] = "hello", **more: object) -> Outcome:
    return talk(folder, code, prompt, protocol="jsonl", **more)


def running(pid: int) -> bool:
    """Whether a process still does anything; an orphan that nobody has collected yet does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return (
            not status.parent.parent.joinpath("self").exists()
            or status.read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except (ProcessLookupError, FileNotFoundError):
        return False


def all_ended(pids: Sequence[int], within: float = 2) -> bool:
    deadline = time.monotonic() + within
    while any(map(running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(running, pids))


def pids(outcome: Outcome, name: str = "pids") -> list[int]:
    return [int(word) for word in (outcome.workspace() / name).read_text().split()]


def collected(pid: int) -> bool:
    """Whether a child of ours is gone for good, not even a zombie of it left."""
    try:
        return os.waitpid(pid, os.WNOHANG) is None
    except ChildProcessError:
        return True


def private_folders() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("synthesis-*")}


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is left behind can be seen although other tests run beside this one."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


# text


def test_the_prompt_is_on_stdin_and_the_answer_on_stdout(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "print(sys.stdin.read().upper())", "grüße\nan alle\n")
    assert outcome.said() == ["GRÜSSE\nAN ALLE\n"]
    end = outcome.end()
    assert (end["reason"], end["terminated"], end["result"]) == ("completed", True, "GRÜSSE\nAN ALLE\n")


@pytest.mark.parametrize(
    ("written", "text"),
    [(b"a\n", "a"), (b"a", "a"), (b"a\n\n", "a\n"), (b"a\r\n", "a"), (b"a\r", "a\r"), (b" \n", " ")],
)
def test_one_newline_at_the_end_is_not_part_of_the_answer(tmp_path: Path, written: bytes, text: str) -> None:
    assert talk(tmp_path, f"sys.stdout.buffer.write({written!r})").said() == [text]


def test_stdin_can_be_opened_by_its_path(tmp_path: Path) -> None:
    assert talk(tmp_path, "print(open('/dev/stdin').read())").said() == ["hello"]


def test_a_program_need_not_read_its_stdin(tmp_path: Path) -> None:
    assert talk(tmp_path, "os.close(0); print('deaf')", "x" * 500_000).said() == ["deaf"]


def test_large_prompts_and_answers_do_not_wait_for_each_other(tmp_path: Path) -> None:
    code = "for line in sys.stdin: sys.stdout.write(line)"
    prompt = "\n".join(["y" * 99] * 9000) + "."
    assert talk(tmp_path, code, prompt).said() == [prompt]


def test_each_message_is_a_process_that_can_read_what_was_said_before(tmp_path: Path) -> None:
    code = """
        messages = json.load(open(os.environ["SYNTHESIS_MESSAGES"]))
        print(os.environ["SYNTHESIS_TURN"], os.getpid(), json.dumps(messages))
    """
    first, second = talk(tmp_path, code, ["one", "two"]).said()
    number, pid, history = first.split(" ", 2)
    assert (number, json.loads(history)) == ("1", [{"role": "user", "content": "one"}])
    number, other, history = second.split(" ", 2)
    assert number == "2"
    assert other != pid
    assert json.loads(history) == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "two"},
    ]


def test_the_environment_is_an_allow_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "SYNTHESIS_MODEL", "PYTHONPATH", "HANDED_ON", "LC_PAPER", "TZ"):
        monkeypatch.setenv(name, "ours")
    subject = command(
        tmp_path / "scenarios",
        "print(json.dumps(dict(os.environ)))",
        env={"GIVEN": "yes", "SYNTHESIS_SEED": "999"},
        pass_env=["HANDED_ON", "NOT_SET_ANYWHERE"],
    )
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, seeds=[7], system="Be kind."))
    outcome = run(file, tmp_path / "run")
    seen: dict[str, str] = json.loads(outcome.said(seed=7)[0])
    seen.pop("__CF_USER_TEXT_ENCODING", None)
    assert {name: seen[name] for name in seen if not name.startswith(("LC_", "LANG"))} == {
        "PATH": os.environ["PATH"],
        "TZ": "ours",
        "HOME": seen["HOME"],
        "TMPDIR": seen["TMPDIR"],
        "GIVEN": "yes",
        "HANDED_ON": "ours",
        "SYNTHESIS_SCENARIO": "talk",
        "SYNTHESIS_SEED": "7",
        "SYNTHESIS_SYSTEM": "Be kind.",
        "SYNTHESIS_TURN": "1",
        "SYNTHESIS_MESSAGES": seen["SYNTHESIS_MESSAGES"],
    }
    assert seen["LC_PAPER"] == "ours"
    ours = outcome.workspace(seed=7).resolve()
    for name in ("HOME", "TMPDIR", "SYNTHESIS_MESSAGES"):
        assert not Path(seen[name]).is_relative_to(ours)
        assert Path(seen[name]) != Path(os.environ.get(name, "/"))


def test_home_is_fresh_for_a_trial_kept_between_its_turns_and_then_gone(tmp_path: Path) -> None:
    code = """
        home, tmp = os.environ["HOME"], os.environ["TMPDIR"]
        open(home + "/visits", "a").write("x")
        open(tmp + "/scratch", "a").write("x")
        print(home, tmp, open(home + "/visits").read())
    """
    subject = command(tmp_path / "scenarios", code)
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, ["one", "two"], seeds=2))
    outcome = run(file, tmp_path / "run")
    said = [line.split() for seed in (1, 2) for line in outcome.said(seed=seed)]
    assert [visits for _, _, visits in said] == ["x", "xx", "x", "xx"]
    assert said[0][0] != said[2][0]
    assert not any(Path(place).exists() for home, tmp, _ in said for place in (home, tmp))
    assert private_folders() == set()


def test_a_home_can_be_given_or_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    code = "print(os.environ['HOME'])"
    for place, more in (("/somewhere", {"pass_env": ["HOME"]}), ("/given", {"env": {"HOME": "/given"}})):
        folder = tmp_path / place.strip("/")
        folder.mkdir()
        assert talk(folder, code, "hello", **more).said() == [place]


def test_it_runs_in_the_workspace_and_never_through_a_shell(tmp_path: Path) -> None:
    code = "print(json.dumps([sys.argv[1:], os.listdir(), os.getcwd(), os.getpgrp() == os.getpid()]))"
    arguments = ["$HOME", "a b", "*; echo", "`id`"]
    subject = {"type": "command", "command": [*bot(tmp_path / "scenarios", code), *arguments]}
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, fixtures={"note.txt": "x"}))
    outcome = run(file, tmp_path / "run")
    given, listing, folder, leads = json.loads(outcome.said()[0])
    assert (given, listing, leads) == (arguments, ["note.txt"], True)
    assert Path(folder) == outcome.workspace().resolve()


def test_where_a_dotted_item_is_looked_for(tmp_path: Path) -> None:
    """Beside the scenario file if it is there, else in the workspace."""
    folder = tmp_path / "scenarios"
    code = "print(open(sys.argv[1]).read(), open(sys.argv[2]).read(), sys.argv[3], sep='|')"
    subject = {
        "type": "command",
        "command": [*bot(folder, code), "./beside.txt", "./inside.txt", "./neither"],
    }
    (folder / "beside.txt").write_text("beside")
    fixtures = {"inside.txt": "inside", "beside.txt": "hidden"}
    outcome = run(write_scenarios(folder, scenario(subject, fixtures=fixtures)), tmp_path / "run")
    assert outcome.said() == ["beside|inside|./neither"]


def test_the_program_itself_can_lie_beside_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    script = folder / "bot.sh"
    script.write_text('#!/bin/sh\nread line; echo "heard $line"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    write_scenarios(folder, scenario({"type": "command", "command": ["./bot.sh"]}))
    monkeypatch.chdir(tmp_path)
    assert run(Path("scenarios/talks.json"), Path("run")).said() == ["heard hello"]


def test_a_changed_program_runs_again_and_a_changed_limit_does_not(tmp_path: Path) -> None:
    folder, calls = tmp_path / "scenarios", tmp_path / "calls"
    code = f"open({str(calls)!r}, 'a').write('x'); print('said')"
    file = write_scenarios(folder, scenario(command(folder, code, timeout=20)))
    run(file, tmp_path / "run")
    write_scenarios(folder, scenario(command(folder, code, timeout=25, max_output=99)))
    run(file, tmp_path / "run", resume=True)
    assert calls.read_text() == "x"
    command(folder, code + " # changed")
    run(file, tmp_path / "run", resume=True)
    assert calls.read_text() == "xx"
    write_scenarios(folder, scenario(command(folder, code + " # changed", env={"A": "1"})))
    run(file, tmp_path / "run", resume=True)
    assert calls.read_text() == "xxx"


def test_what_reports_keep_of_it_holds_no_values_and_no_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "sk-handed-on")
    outcome = talk(tmp_path, "print('x')", env={"TOKEN": "sk-given"}, pass_env=["API_KEY"])
    subject = outcome.events()[0]["subject"]
    assert subject["pass_env"] == ["API_KEY"]
    assert list(subject["env"]) == ["TOKEN"]
    everything = outcome.raw().decode() + outcome.place.report.read_text()
    assert "sk-" not in everything
    assert str(tmp_path / "scenarios" / "bot.py") not in everything


# failures


FAILURES: dict[str, tuple[str, dict[str, object], str]] = {
    "exit code": ("print('words'); sys.exit(3)", {}, "exit code 3"),
    "exit code with stderr": (
        "print('words'); [print(f'line {n}', file=sys.stderr) for n in range(99)]; sys.exit(1)",
        {},
        "exit code 1; stderr: line 94 | line 95 | line 96 | line 97 | line 98",
    ),
    "stderr is made printable": (
        r"sys.stderr.buffer.write(b'red \x1b[31m \xff\n'); sys.exit(1)",
        {},
        "exit code 1; stderr: red \ufffd[31m \ufffd",
    ),
    "stderr is cut": (
        "print('z' * 5000, file=sys.stderr); sys.exit(1)",
        {},
        f"exit code 1; stderr: {'z' * 300}",
    ),
    "signal": ("os.kill(os.getpid(), signal.SIGSEGV)", {}, "ended by signal SIGSEGV"),
    "no answer": ("pass", {}, "no answer: the output is empty"),
    "an empty line": ("print()", {}, "no answer: the output is empty"),
    "not UTF-8": (r"sys.stdout.buffer.write(b'caf\xe9')", {}, "the output is not UTF-8 (byte 3)"),
    "one byte too many": (
        "sys.stdout.write('x' * 101)",
        {"max_output": 100},
        "more than 100 bytes of output",
    ),
    "time": ("time.sleep(60)", {"timeout": 0.3}, "no answer after 0.3 s"),
    "time, with stderr": (
        "print('thinking', file=sys.stderr, flush=True); time.sleep(60)",
        {"timeout": 1},
        "no answer after 1 s; stderr: thinking",
    ),
    "half an answer, then nothing": (
        "print('half', end='', flush=True); time.sleep(60)",
        {"timeout": 0.5},
        "no answer after 0.5 s",
    ),
    "output closed, still running": (
        "print('whole', flush=True); os.close(1); time.sleep(60)",
        {"timeout": 0.5},
        "no answer after 0.5 s",
    ),
}


@pytest.mark.parametrize(("code", "more", "message"), FAILURES.values(), ids=FAILURES.keys())
def test_failures(tmp_path: Path, code: str, more: dict[str, object], message: str) -> None:
    started = time.monotonic()
    outcome = talk(tmp_path, code, "hello", **more)
    assert outcome.error() == ("timeout" if "timeout" in more else "command", message)
    assert outcome.said() == []
    assert outcome.end()["reason"] == ("timeout" if "timeout" in more else "error")
    assert time.monotonic() - started < 10
    assert private_folders() == set()


def test_output_as_large_as_allowed_is_fine(tmp_path: Path) -> None:
    assert talk(tmp_path, "sys.stdout.write('x' * 100)", max_output=100).said() == ["x" * 100]


@pytest.mark.parametrize("protocol", ["text", "jsonl"])
@pytest.mark.parametrize("program", ["no-such-program-anywhere", "./no-such-file", "."])
def test_a_program_that_cannot_be_started(tmp_path: Path, program: str, protocol: str) -> None:
    subject = {"type": "command", "command": [program], "protocol": protocol}
    outcome = run(write_scenarios(tmp_path / "scenarios", scenario(subject)), tmp_path / "run")
    kind, message = outcome.error()
    assert kind == "command"
    assert message.startswith(f'"{program}" could not be started: ')


def test_a_system_prompt_too_long_for_an_environment_is_an_error(tmp_path: Path) -> None:
    subject = command(tmp_path / "scenarios", "print('x')")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, system="x" * 3_000_000))
    assert "could not be started: Argument list too long" in run(file, tmp_path / "run").error()[1]


# ending


def test_a_flood_is_stopped_early_and_costs_no_memory(tmp_path: Path) -> None:
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
        tidying += "; print(flush=True)"
        tidying += "\\ntry: time.sleep(60)\\nfinally: time.sleep(0.3); open('tidied', 'w').close()"
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
    def finished(self, trial: Trial, transcript: Transcript) -> None: ...


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
    before = open_files()
    outcome = run(file, tmp_path / "run", jobs=20)
    assert open_files() == before
    assert outcome.report.summary.errors == 2 * 2 * (5 + 6) + 1
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


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


# jsonl

ECHO = """
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"type": "reply", "text": asked["text"].upper()}), flush=True)
"""


def test_one_process_answers_the_whole_conversation(tmp_path: Path) -> None:
    code = """
        for line in sys.stdin:
            print(json.dumps({"type": "reply", "text": f"{os.getpid()} {line}"}), flush=True)
        open("left", "w").write("by itself")
    """
    subject = command(tmp_path / "scenarios", code, protocol="jsonl")
    file = write_scenarios(
        tmp_path / "scenarios", scenario(subject, ["eins\nzwei", "drei"], seeds=[7], system="Be kind.")
    )
    outcome = run(file, tmp_path / "run")
    first, second = (said.split(" ", 1) for said in outcome.said(seed=7))
    assert first[0] == second[0]
    about = {"seed": 7, "scenario": "talk", "system": "Be kind."}
    assert json.loads(first[1]) == {"type": "user", "text": "eins\nzwei", "turn": 1, **about}
    assert json.loads(second[1]) == {"type": "user", "text": "drei", "turn": 2, **about}
    assert (outcome.workspace(seed=7) / "left").read_text() == "by itself"


def test_everything_it_did_is_recorded_in_order(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"type": "assistant", "text": "Let me look."},
        {"type": "gate_call", "gate": "read_file", "arguments": {"path": "note.txt"}},
        {"type": "observation", "gate": "read_file", "ok": True, "result": "alpha"},
        {"type": "assistant", "text": "", "code": "print(1)", "medium": "code"},
        {"type": "gate_call", "gate": "bare"},
        {"type": "observation", "gate": "bare", "ok": False},
        {"type": "reply", "text": "alpha", "result": {"line": 1}},
    ]
    outcome = jsonl(tmp_path, f"input(); [print(json.dumps(line), flush=True) for line in {lines!r}]")
    kept = [
        {key: value for key, value in event.items() if key not in ("v", "seq", "parent", "turn")}
        for event in outcome.events()[2:]
    ]
    said = {"type": "assistant", "code": None, "medium": "conversation"}
    assert kept == [
        {**said, "text": "Let me look."},
        lines[1],
        lines[2],
        lines[3],
        {**lines[4], "arguments": None},
        {**lines[5], "result": None},
        {**said, "text": "alpha"},
        {"type": "end", "reason": "completed", "terminated": True, "result": {"line": 1}},
    ]
    assert {event["turn"] for event in outcome.events()[1:]} == {1}


@pytest.mark.parametrize(
    ("more", "result"), [("", "done"), (', "result": null', None), (', "result": [1]', [1])]
)
def test_the_result_is_the_text_unless_it_is_given(tmp_path: Path, more: str, result: object) -> None:
    code = f"""input(); print('{{"type": "reply", "text": "done"{more}}}', flush=True)"""
    assert jsonl(tmp_path, code).end()["result"] == result


def test_a_reply_can_end_the_conversation(tmp_path: Path) -> None:
    code = (
        """input(); print('{"type": "reply", "text": "enough", "terminated": false}', flush=True); input()"""
    )
    outcome = jsonl(tmp_path, code, ["one", "two"])
    assert outcome.said() == ["enough"]
    assert (outcome.end()["reason"], outcome.end()["terminated"]) == ("ward", False)


BAD_LINES = {
    "not JSON": ("hello there", "not JSON: ", '"hello there"'),
    "empty": ("", "not JSON: ", '""'),
    "not an object": ("[1]", "", '"[1]"'),
    "unknown type": ('{"type": "shout", "text": "x"}', "Input tag 'shout' found", "shout"),
    "no type": ('{"text": "x"}', "Unable to extract tag", "text"),
    "unknown key": ('{"type": "reply", "text": "x", "txt": 1}', "reply: txt: Extra inputs", "txt"),
    "no text": ('{"type": "reply"}', "reply: text: Field required", "reply"),
    "text is a number": ('{"type": "reply", "text": 3}', "reply: text: Input should be a valid string", "3"),
    "ok is a word": (
        '{"type": "observation", "gate": "g", "ok": "yes"}',
        "observation: ok: Input should be",
        "yes",
    ),
    "unknown medium": ('{"type": "assistant", "text": "x", "medium": "mime"}', "assistant: medium: ", "mime"),
    "NaN": ('{"type": "reply", "text": "x", "result": NaN}', "not JSON: ", "NaN"),
    "half a surrogate": (r'{"type": "reply", "text": "\\ud800"}', "not JSON: ", "ud800"),
    "not to be printed": ("\\x1b[31m", "not JSON: ", r'"\x1b[31m"'),
    "not UTF-8": ("caf\\xe9", "not JSON: ", r'"caf\xe9"'),
    "very long": ("x" * 1000, "not JSON: ", f'"{"x" * 60}…"'),
}


@pytest.mark.parametrize(("line", "why", "quoted"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_any_other_line_is_an_error_that_quotes_it(tmp_path: Path, line: str, why: str, quoted: str) -> None:
    code = f"""
        input()
        print('{{"type": "assistant", "text": "before"}}', flush=True)
        sys.stdout.buffer.write(b'{line}\\n')
        print('{{"type": "reply", "text": "after"}}', flush=True)
        time.sleep(60)
    """
    outcome = jsonl(tmp_path, code)
    kind, message = outcome.error()
    assert kind == "command"
    assert message.startswith(f"not a line of the protocol ({why}")
    assert quoted in message
    assert message.isprintable()
    assert outcome.said() == ["before"]


JSONL_FAILURES: dict[str, tuple[str, dict[str, object], str]] = {
    "leaves at once": ("pass", {}, "exit code 0 before the reply"),
    "fails": (
        "print('oh no', file=sys.stderr); sys.exit(4)",
        {},
        "exit code 4 before the reply; stderr: oh no",
    ),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", {}, "ended by signal SIGKILL before the reply"),
    "half a line, then leaves": (
        "print('{\"type\": \"rep', end='', flush=True)",
        {},
        'exit code 0 before the reply, after half a line: "{"type": "rep"',
    ),
    "half a line, then hangs": (
        "print('{\"type\": \"rep', end='', flush=True); time.sleep(60)",
        {"timeout": 0.7},
        "no answer after 0.7 s",
    ),
    "closes its output and stays": (
        "os.close(1); time.sleep(60)",
        {},
        "the output was closed before the reply",
    ),
    "too much": (
        "print(json.dumps({'type': 'assistant', 'text': 'x' * 200})); time.sleep(60)",
        {"max_output": 200},
        "more than 200 bytes of output",
    ),
    "a child keeps the output open": (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])",
        {},
        "exit code 0 before the reply",
    ),
}


@pytest.mark.parametrize(("code", "more", "message"), JSONL_FAILURES.values(), ids=JSONL_FAILURES.keys())
def test_no_reply(tmp_path: Path, code: str, more: dict[str, object], message: str) -> None:
    started = time.monotonic()
    flushing = "sys.stdout.reconfigure(line_buffering=True)\n"
    outcome = jsonl(tmp_path, flushing + code, "hello", **more)
    assert outcome.error() == ("timeout" if "timeout" in more else "command", message)
    assert outcome.said() == []
    assert time.monotonic() - started < 10


def test_a_program_that_dies_between_two_messages(tmp_path: Path) -> None:
    code = """
        input()
        print('{"type": "reply", "text": "first and last"}', flush=True)
        sys.exit(9)
    """
    outcome = jsonl(tmp_path, code, ["one", "two"])
    assert outcome.error() == ("command", "exit code 9 before the reply")
    assert outcome.said() == ["first and last"]


def test_words_after_the_reply_are_not_an_answer_to_the_next_message(tmp_path: Path) -> None:
    code = """
        input()
        print('{"type": "reply", "text": "one"}\\\\n{"type": "reply", "text": "two, unasked"}', flush=True)
        time.sleep(60)
    """
    outcome = jsonl(tmp_path, code.replace("\\\\", "\\"), ["one", "two"])
    assert outcome.error()[1].startswith('a line after the reply: "{"type": "reply", "text": "two, unasked"}')
    assert outcome.said() == ["one"]


def test_the_cap_is_for_one_answer_not_for_the_conversation(tmp_path: Path) -> None:
    prompts = [str(number) * 50 for number in range(5)]
    assert jsonl(tmp_path, ECHO, prompts, max_output=100).said() == prompts


def test_a_program_that_does_not_notice_the_end_is_ended(tmp_path: Path) -> None:
    code = """
        open("pids", "w").write(str(os.getpid()))
        input()
        print('{"type": "reply", "text": "done"}', flush=True)
        time.sleep(60)
    """
    started = time.monotonic()
    outcome = jsonl(tmp_path, code)
    assert outcome.said() == ["done"]
    assert outcome.end()["reason"] == "completed"
    assert all_ended(pids(outcome))
    assert time.monotonic() - started < 6


def test_a_program_that_failed_is_not_left_time_to_go_on(tmp_path: Path) -> None:
    code = """
        input()
        print("not a line of the protocol", flush=True)
        sys.stdin.read()
        open("went-on", "w").close()
    """
    outcome = jsonl(tmp_path, code)
    assert outcome.error()[1].startswith("not a line of the protocol")
    assert not (outcome.workspace() / "went-on").exists()


def test_fifty_conversations_at_once(tmp_path: Path) -> None:
    subject = command(tmp_path / "scenarios", ECHO, protocol="jsonl")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, ["one", "two"], seeds=50))
    outcome = run(file, tmp_path / "run", jobs=50)
    assert [outcome.said(seed=seed) for seed in range(1, 51)] == [["ONE", "TWO"]] * 50


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    subject = command(tmp_path / "scenarios", ECHO, protocol="jsonl")
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, ["one", "two"]))
    assert run(file, tmp_path / "first").raw() == run(file, tmp_path / "second").raw()


# loading


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"command": []}, '"command"'),
        ({"command": "python3 bot.py"}, '"command"'),
        ({"command": [""]}, "empty"),
        ({"command": ["x"], "protocol": "xml"}, "protocol"),
        ({"command": ["x"], "timeout": 0}, "timeout"),
        ({"command": ["x"], "max_output": 0}, "max_output"),
        ({"command": ["x"], "env": {"A=B": "x"}}, "env"),
        ({"command": ["x"], "pass_env": ["A B"]}, "pass_env"),
        ({"command": ["x"], "shell": True}, 'unknown key "shell"'),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    tmp_path: Path, wrong: dict[str, object], said: str
) -> None:
    file = write_scenarios(tmp_path / "scenarios", scenario({"type": "command", **wrong}))
    with pytest.raises(SynthesisError) as caught:
        load_scenarios([file])
    assert said in str(caught.value)
    assert "/scenarios/0/subject" in str(caught.value)


def test_data_only_refuses_programs(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path / "scenarios", scenario(command(tmp_path / "scenarios", "print('x')")))
    with pytest.raises(SynthesisError, match="needs a run without --data-only"):
        load_scenarios([file], LoadOptions(data_only=True))


async def _quick(file: Path, out: Path) -> float:
    started = time.monotonic()
    await evaluate(file, out)
    return time.monotonic() - started


def test_a_program_that_ends_properly_costs_no_grace(tmp_path: Path) -> None:
    for protocol, code in (("text", "print('x')"), ("jsonl", ECHO)):
        folder = tmp_path / protocol
        subject = command(folder, code, protocol=protocol)
        file = write_scenarios(folder, scenario(subject))
        assert min(asyncio.run(_quick(file, folder / f"run-{number}")) for number in range(3)) < 0.9
