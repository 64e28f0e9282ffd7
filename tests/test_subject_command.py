"""Programs as subjects: how they are started, what they see, and how they can fail."""

import asyncio
import json
import os
import stat
import time
from hashlib import sha256
from pathlib import Path

import pytest
from command_trials import (
    ECHO,
    bot,
    command,
    own_temporary_folder,  # noqa: F401 - sees to every test here
    private_folders,
    talk,
)
from subject_trials import evaluate, run, scenario, write_scenarios

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios


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
        "SYNTHESIS_SYSTEM_FILE": seen["SYNTHESIS_SYSTEM_FILE"],
        "SYNTHESIS_TURN": "1",
        "SYNTHESIS_MESSAGES": seen["SYNTHESIS_MESSAGES"],
    }
    assert seen["LC_PAPER"] == "ours"
    ours = outcome.workspace(seed=7).resolve()
    for name in ("HOME", "TMPDIR", "SYNTHESIS_MESSAGES", "SYNTHESIS_SYSTEM_FILE"):
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


@pytest.mark.parametrize(
    ("system", "fits"),
    [
        ("é" * 50_000, True),
        ("é" * 50_000 + "x", False),
        ("x" * 3_000_000, False),
        ("a\0b", False),
        ("", True),
    ],
    ids=["100,000 bytes", "one more", "3 MB", "a zero byte", "empty"],
)
def test_a_system_prompt_is_always_in_a_file_and_in_the_environment_where_it_fits(
    tmp_path: Path, system: str, fits: bool
) -> None:
    code = """
        from hashlib import sha256
        content = open(os.environ["SYNTHESIS_SYSTEM_FILE"], "rb").read()
        given = os.environ.get("SYNTHESIS_SYSTEM")
        print(sha256(content).hexdigest(), given is not None, given in (None, content.decode()))
    """
    subject = command(tmp_path / "scenarios", code, env={"PYTHONUTF8": "1"})
    file = write_scenarios(tmp_path / "scenarios", scenario(subject, system=system))
    said = run(file, tmp_path / "run").said()
    assert said == [f"{sha256(system.encode()).hexdigest()} {fits} True"]


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
