"""The ways an agent acts: calls in a conversation, Python, bash; and what holds its programs."""

import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from agents import agent, call, done, evaluated, of_type, outline, perform, python_file, results, script, turn
from sandboxes import at_every_level, marked, sandbox, wait_until
from scenario_files import command, environment, report_of, synthesis, write
from subject_trials import Outcome, scenario

from harness.medium import fenced, shown_to_model
from harness.sandbox import LEVELS, Level, contains, strongest, unavailable


def python(code: str, text: str = "") -> str:
    return f"{text}\n```python\n{code}\n```\n"


def bash(code: str, text: str = "") -> str:
    return f"{text}\n```bash\n{code}\n```\n"


def printed(outcome: Outcome) -> list[str]:
    """What each piece of code printed, or the end of what went wrong with it."""
    given = (result for _, result in results(outcome, "code"))
    return [result["error"].splitlines()[-1] if result["error"] else result["output"] for result in given]


# Code


def test_code_calls_gates_as_functions_and_what_it_prints_is_seen(tmp_path: Path) -> None:
    code = "text = read_file('note.txt')\nprint(text.upper())"
    subject = agent(
        python(code, "I look."), {"code": "done(text.split()[0])"}, medium="code", gates=["read_file"]
    )
    outcome = perform(tmp_path, subject)
    assert outline(outcome.events()) == [
        (None, "user", "hello"),
        (None, "assistant", "I look.", f"{code}\n"),
        (None, "sandbox", False),
        (None, "gate_call", "read_file", {"path": "note.txt"}),
        (None, "observation", "read_file", True, "alpha\nbeta\n"),
        (None, "observation", "code", True, {"output": "ALPHA\nBETA\n\n", "error": None}),
        (None, "assistant", "", "done(text.split()[0])"),
        (None, "gate_call", "done", {"result": "alpha"}),
        (None, "observation", "done", True, "alpha"),
        (None, "observation", "code", True, {"output": "", "error": None}),
        (None, "assistant", "alpha", None),
    ]
    assert {event["medium"] for event in of_type(outcome, "assistant")[:2]} == {"code"}


def test_variables_stay_from_turn_to_turn_and_from_message_to_message(tmp_path: Path) -> None:
    lines = ["n = 1", "n += 1\ndone(n)", "import json\nn += 1", "done([n, json.loads('[4]')])"]
    subject = agent(*({"code": line} for line in lines), medium="code")
    outcome = perform(tmp_path, subject, ["one", "two"])
    assert results(outcome, "done") == [(True, 2), (True, [3, [4]])]
    assert len(of_type(outcome, "sandbox")) == 1


def test_what_goes_wrong_in_code_is_seen_and_the_trial_goes_on(tmp_path: Path) -> None:
    lines = [
        "print('before'); 1 / 0",
        "one two",
        "read_file('none.txt')",
        "read_file()",
        "write_file('x', 'y')",
        "try:\n    read_file('/etc/passwd')\nexcept GateError as error:\n    print(error)",
        "raise SystemExit(3)",
        "done(1, 2)",
        "done({1, 2})",
        "done('still here')",
    ]
    subject = agent(
        *({"code": line} for line in lines), medium="code", gates=["read_file"], wards={"max_turns": 20}
    )
    outcome = perform(tmp_path, subject)
    assert [line.partition(":")[0] for line in printed(outcome)] == [
        "ZeroDivisionError", "SyntaxError", "GateError", "GateError", "NameError",
        'the path "/etc/passwd" is refused', "SystemExit", "TypeError", "TypeError", "",
    ]  # fmt: skip
    assert results(outcome, "code")[0][1]["output"] == "before\n"
    assert outcome.end()["result"] == "still here"


def test_nothing_runs_after_done(tmp_path: Path) -> None:
    code = "try:\n    done('first')\nexcept Exception:\n    pass\nopen('late.txt', 'w')\ndone('second')"
    outcome = perform(tmp_path, agent({"code": code}, medium="code"))
    assert outcome.end()["result"] == "first"
    assert not (outcome.workspace() / "late.txt").exists()


def test_words_without_code_are_answered_with_how_to_act(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent("I think.", {"code": "done(1)"}, medium="code"))
    assert [(event["text"], event["code"]) for event in of_type(outcome, "assistant")] == [
        ("I think.", None), ("", "done(1)"), ("1", None),
    ]  # fmt: skip
    assert outcome.end()["terminated"]


def test_output_that_is_cut_says_so(tmp_path: Path) -> None:
    lines = ({"code": "print('x' * 500)"}, {"code": "done(1)"})
    outcome = perform(tmp_path, agent(*lines, medium="code", limits={"output": 100}))
    assert results(outcome, "code")[0][1]["output"] == "x" * 100 + "\n(cut after 100 bytes)"


def test_code_that_takes_too_long_is_stopped_and_the_trial_goes_on(tmp_path: Path) -> None:
    lines = ({"code": "x = 1\nwhile True: pass"}, {"code": "done('x' in globals())"})
    outcome = perform(tmp_path, agent(*lines, medium="code", limits={"seconds": 0.5}))
    assert printed(outcome)[0] == "not finished after 0.5 s; the variables are lost"
    assert outcome.end()["result"] is False


@pytest.mark.parametrize("medium", ["code", "bash"])
def test_its_programs_are_not_in_our_process_and_see_none_of_our_environment(
    medium: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    code = {
        "code": "import os, sys\nprint(os.environ)\nprint('harness' in sys.modules)\ndone(os.getcwd())",
        "bash": 'env; test -n "$OPENAI_API_KEY" && echo True; done "$(pwd)"',
    }[medium]
    outcome = perform(tmp_path, agent({"code": code}, medium=medium))
    said = str(of_type(outcome, "observation"))
    assert "sk-very-secret" not in said
    assert "PYTHONHASHSEED" in said
    assert "True" not in said.replace("'ok': True", "")
    assert outcome.end()["terminated"]


# Bash


def test_commands_are_calls_of_run_and_gates_are_commands(tmp_path: Path) -> None:
    code = "read_file note.txt | head -1; list_dir; cat < note.txt | wc -l; exit 3"
    subject = agent(bash(code, "I look."), {"code": "done \"$(head -1 note.txt)\"; echo late > late.txt"},
                    medium="bash", gates=["read_file", "list_dir"])  # fmt: skip
    outcome = perform(tmp_path, subject)
    assert outline(outcome.events())[1:8] == [
        (None, "assistant", "I look.", f"{code}\n"),
        (None, "gate_call", "run", {"command": f"{code}\n"}),
        (None, "sandbox", False),
        (None, "gate_call", "read_file", {"path": "note.txt"}),
        (None, "observation", "read_file", True, "alpha\nbeta\n"),
        (None, "gate_call", "list_dir", {}),
        (None, "observation", "list_dir", True, ["note.txt"]),
    ]
    first, second = results(outcome, "run")
    assert first == (True, {"exit_code": 3, "output": 'alpha\n["note.txt"]\n2\n'})
    assert second == (True, {"exit_code": 0, "output": ""})
    assert len(of_type(outcome, "sandbox")) == 1
    assert outcome.end()["result"] == "alpha"
    assert not (outcome.workspace() / "late.txt").exists()


def test_a_gate_that_refuses_fails_as_a_command(tmp_path: Path) -> None:
    code = "read_file ../x || echo refused; write_file a.txt text"
    outcome = perform(tmp_path, agent({"code": code}, {"code": "done 1"}, medium="bash", gates=["read_file"]))
    ((_, result), _) = results(outcome, "run")
    assert "refused: it leads out of the workspace" in result["output"]
    assert result["output"].splitlines()[1] == "refused"
    assert "write_file: command not found" in result["output"]
    assert result["exit_code"] == 127


def test_a_child_can_be_cast_from_code_and_from_commands(tmp_path: Path) -> None:
    grandchild = script({"code": "done(read_file('note.txt').split())"})
    arguments = '{"prompt": "Read.", "medium": "code", "gates": ["read_file"], "wards": {"max_turns": 1}}'
    child = script(
        {"code": f"cast '{arguments}' > words.json; done \"$(cat words.json)\""}, children=[grandchild]
    )
    code = "words = cast('Ask.', medium='bash', gates=['read_file', 'cast', 'run'])\ndone(words)"
    subject = agent({"code": code}, medium="code", gates=["read_file", "cast", "run"], children=[child])
    outcome = perform(tmp_path, subject)
    assert outcome.end()["result"] == '["alpha", "beta"]'
    mediums = [event["medium"] for event in of_type(outcome, "child_start")]
    assert mediums == ["bash", "code"]
    parents = [event["parent"] for event in of_type(outcome, "sandbox")]
    assert parents == [None, *(event["seq"] for event in of_type(outcome, "child_start"))]


def test_run_is_not_a_command_of_itself(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent({"code": "run 'echo x'"}, {"code": "done 1"}, medium="bash"))
    assert results(outcome, "run")[0][1]["exit_code"] == 127


def test_done_inside_of_run_ends_a_conversation_too(tmp_path: Path) -> None:
    calls = turn(call("run", command="done from-inside; echo late"), call("run", command="echo later"))
    outcome = perform(tmp_path, agent(calls, "never", gates=["run"]))
    assert outcome.end()["result"] == "from-inside"
    assert results(outcome, "run") == [(True, {"exit_code": 0, "output": ""})]


def test_done_inside_of_run_ends_code_too(tmp_path: Path) -> None:
    code = "run('done inside')\nopen('late.txt', 'w')\ndone('outside')"
    outcome = perform(tmp_path, agent({"code": code}, medium="code", gates=["run"]))
    assert outcome.end()["result"] == "inside"
    assert not (outcome.workspace() / "late.txt").exists()


def test_the_time_that_gates_take_is_not_the_codes(tmp_path: Path) -> None:
    subject = agent({"code": "wait()\ndone('in time')"}, medium="code", limits={"seconds": 1.5})
    functions = "import time\ndef wait():\n    time.sleep(2)\n"
    file = python_file(tmp_path, functions, f"{subject} | {{'gates': [wait]}}")
    outcome = evaluated(file, tmp_path / "run")
    assert outcome.end()["result"] == "in time"


THIEF = """
cd "${PATH%%:*}/../.."
timeout 2 python3 box-1/box_gate.py "$PWD/box-1/gates" write_file '["path", "text"]' stolen.txt byChild
timeout 2 python3 - <<'END'
import json, os, pathlib, socket
secrets = [path.read_text() for path in pathlib.Path.cwd().glob("box-2/secret")]
assert secrets
os.chdir("box-1")
for secret in ({}, {"secret": ""}, {"secret": secrets[0]}):
    one = socket.socket(socket.AF_UNIX)
    one.connect("gates")
    asked = {"gate": "write_file", "arguments": {"path": "stolen.txt", "text": "byChild"}, **secret}
    one.sendall(json.dumps(asked).encode() + b"\\n")
    print("heard", one.recv(10))
END
"""


@at_every_level
def test_a_child_cannot_use_its_parents_gates(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With limits alone it could read the parent's secret, as it can read every file."""
    sandbox(level, tmp_path)
    monkeypatch.setattr("harness.subjects.agent.strongest", lambda: level)
    theft = THIEF if contains(level).reading else THIEF.replace("timeout 2 python3 box-1", ": box-1")
    child = script({"code": theft}, {"code": "done 1"})
    arguments = '{"prompt": "Steal.", "medium": "bash", "gates": ["run"]}'
    code = f"write_file own.txt mine; cast '{arguments}'; list_dir"
    subject = agent({"code": code}, {"code": "done 1"}, medium="bash",
                    gates=["write_file", "list_dir", "cast"], children=[child])  # fmt: skip
    outcome = perform(tmp_path / "trial", subject)
    assert [name for _, names in results(outcome, "list_dir") for name in names] == ["note.txt", "own.txt"]
    called = [event["arguments"] for event in of_type(outcome, "gate_call") if event["gate"] == "write_file"]
    assert called == [{"path": "own.txt", "text": "mine"}]
    (heard, *_) = [event for event in of_type(outcome, "observation") if event["parent"] is not None]
    reached = heard["result"]["output"].count("heard b''")
    assert reached == (0 if contains(level).sockets else 3)


# Conversation, in text


def gate(*blocks: str, text: str = "") -> str:
    return text + "".join(f"\n```gate\n{block}\n```" for block in blocks)


def test_calls_in_text_are_calls(tmp_path: Path) -> None:
    read = '{"gate": "read_file", "arguments": {"path": "note.txt"}}'
    said = gate(read, '{"gate": "list_dir"}', text="I look.\n```json\n{}\n```")
    subject = agent(said, gate('{"gate": "done", "arguments": {"result": 7}}'), tool_calls="text",
                    gates=["read_file", "list_dir"])  # fmt: skip
    outcome = perform(tmp_path, subject)
    assert outcome.said() == ["I look.\n```json\n{}\n```", "", "7"]
    assert [(event["gate"], event["arguments"]) for event in of_type(outcome, "gate_call")] == [
        ("read_file", {"path": "note.txt"}), ("list_dir", {}), ("done", {"result": 7}),
    ]  # fmt: skip
    assert outcome.end()["result"] == 7


def test_a_scripts_calls_are_calls_also_where_the_model_is_to_write_them(tmp_path: Path) -> None:
    subject = agent(turn(call("list_dir"), text="I look."), done(1), tool_calls="text", gates=["list_dir"])
    outcome = perform(tmp_path, subject)
    assert results(outcome, "list_dir") == [(True, ["note.txt"])]
    assert outcome.said() == ["I look.", "", "1"]


@pytest.mark.parametrize(
    "block",
    ["not JSON", '"read_file"', "[]", '{"name": "read_file"}', '{"gate": 5}', '{"gate": "nothing"}', ""],
)
def test_a_block_that_is_no_call_is_told_and_used_no_gate(block: str, tmp_path: Path) -> None:
    end = gate('{"gate": "done", "arguments": {"result": 1}}')
    outcome = perform(tmp_path, agent(gate(block), end, tool_calls="text", gates=["read_file"]))
    assert [event["gate"] for event in of_type(outcome, "observation")] == ["done"]
    assert outcome.end()["terminated"]


@pytest.mark.parametrize("arguments", ["null", "[]", '"x"', "5"])
def test_arguments_in_text_that_are_no_object_are_refused(arguments: str, tmp_path: Path) -> None:
    end = gate('{"gate": "done", "arguments": {"result": 1}}')
    block = f'{{"gate": "read_file", "arguments": {arguments}}}'
    outcome = perform(tmp_path, agent(gate(block), end, tool_calls="text", gates=["read_file"]))
    assert results(outcome, "read_file") == [(False, "read_file: the arguments are not a JSON object")]


@pytest.mark.parametrize(
    ("text", "words", "blocks"),
    [
        ("before\n```python\na = 1\n```\nafter", "before\nafter", ["a = 1\n"]),
        ("```py\na\n\n  b\n```", "", ["a\n\n  b\n"]),
        ("``` Python \na\n```  ", "", ["a\n"]),
        ("```python title=x\na\n```", "", ["a\n"]),
        ("```python\r\na\r\nb\r\n```\r\n", "", ["a\nb\n"]),
        ("```python\na\n```\n```python\nb\n```", "", ["a\n", "b\n"]),
        ("```json\n{}\n```\n```python\nb\n```", "```json\n{}\n```", ["b\n"]),
        ("```\na\n```", "```\na\n```", []),
        ("```text\n```python\na\n```", "```text\n```python\na\n```", []),
        ("```python\n```", "", [""]),
        ("```python\nnever closed", "```python\nnever closed", []),
        ("no ```python here```", "no ```python here```", []),
        ("```python\nx = '\u2028\x0c'\n```", "", ["x = '\u2028\x0c'\n"]),
        ("", "", []),
    ],
)
def test_blocks_are_taken_out_of_words(text: str, words: str, blocks: list[str]) -> None:
    assert fenced(text, ("python", "py")) == (words, blocks)


@pytest.mark.parametrize(("medium", "code"), [("code", "done('found')"), ("bash", "done found")])
def test_a_fence_that_names_no_language_is_run(medium: str, code: str, tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent(f"So:\n```\n{code}\n```", medium=medium))
    assert outcome.end()["result"] == "found"


def test_what_is_very_long_is_cut_for_the_model() -> None:
    assert shown_to_model("x" * 20_000) == "x" * 20_000
    assert shown_to_model("x" * 20_005) == "x" * 20_000 + "\n[cut: 5 more characters]"
    assert shown_to_model({"a": [1, None]}) == '{"a":[1,null]}'


# What holds the programs


@pytest.mark.parametrize(
    "subject",
    [
        agent({"code": "done(1)"}, medium="code"),
        agent({"code": "done 1"}, medium="bash"),
        agent(turn(call("run", command="true")), done(1), gates=["run"]),
        agent(
            turn(call("cast", prompt="Go.", medium="code")), done(1),
            gates=["cast"], children=[script({"code": "done(1)"})],
        ),
    ],
    ids=["code", "bash", "run", "child"],
)  # fmt: skip
def test_the_strongest_level_holds_them_and_is_in_transcript_and_report(
    subject: dict[str, Any], tmp_path: Path
) -> None:
    outcome = perform(tmp_path, subject)
    (event,) = of_type(outcome, "sandbox")
    assert (event["level"], event["network"]) == (strongest(), False)
    assert outcome.report.scenarios[0].trials[0].sandbox == strongest()
    assert outcome.report.summary.sandbox == strongest()


def test_an_agent_that_runs_no_program_has_no_level(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent(turn(call("list_dir")), done(1), gates=["list_dir", "cast", "run"]))
    assert of_type(outcome, "sandbox") == []
    assert outcome.report.scenarios[0].trials[0].sandbox is None
    assert outcome.report.summary.sandbox is None


def without_bubblewrap(folder: Path) -> dict[str, str]:
    """An environment in which the strongest level is not to be found."""
    (folder / "bin").mkdir(exist_ok=True)
    return {"PATH": str(folder / "bin")}


def test_a_level_that_is_required_and_not_reached_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "talks.json", scenario(agent({"code": "done(1)"}, medium="code")))
    reached = "landlock" if not unavailable("landlock") else "limits"
    asked = ("eval", file, "--require-sandbox")
    less = synthesis(*asked, "bubblewrap", "--out", "a", cwd=tmp_path, env=without_bubblewrap(tmp_path))
    assert less.returncode == 1
    assert f"--require-sandbox: this machine reaches {reached}, not bubblewrap" in less.stderr
    assert not (tmp_path / "a").exists()
    enough = synthesis(*asked, reached, "--out", "b", cwd=tmp_path, env=without_bubblewrap(tmp_path))
    assert enough.returncode == 0, enough.stderr
    assert report_of(tmp_path / "b")["summary"]["sandbox"] == reached
    unknown = synthesis(*asked, "none", cwd=tmp_path)
    assert (unknown.returncode, *(level in unknown.stderr for level in LEVELS)) == (1, True, True, True)


REACH = """
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), 5)
    print("reached")
except OSError:
    print("refused")
"""


@pytest.mark.parametrize("network", [False, True])
def test_there_is_no_network_unless_the_scenario_allows_it(network: bool, tmp_path: Path) -> None:
    if strongest() == "limits":
        pytest.skip("limits alone leave the network open")
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = REACH.format(port=server.getsockname()[1])
        words = f"python3 - <<'END'{reach}END"
        shell = f"print(run({words!r})['output'])\ndone(1)"
        subject = agent({"code": reach}, {"code": shell}, medium="code", gates=["run"], network=network)
        outcome = perform(tmp_path, subject)
    assert [line.strip() for line in printed(outcome)] == ["reached" if network else "refused"] * 2
    assert {event["network"] for event in of_type(outcome, "sandbox")} == {network}


def waiting(medium: str, mark: str) -> dict[str, Any]:
    """An agent whose program leaves others behind and then waits."""
    shell = f"(setsid sleep 300.{mark} &) ; touch started; sleep 300.{mark}"
    code = {"code": f"import subprocess\nsubprocess.run(['bash', '-c', {shell!r}])", "bash": shell}[medium]
    child = script({"code": code})
    cast = call("cast", prompt="Wait.", medium=medium)
    return agent(turn(cast), done(1), gates=["cast", "run"], children=[child])


@pytest.mark.parametrize(("medium", "ending"), [("code", "ward"), ("bash", "timeout")])
def test_no_program_is_left_when_time_is_up(medium: str, ending: str, tmp_path: Path) -> None:
    mark = f"{os.getpid()}{len(medium)}{len(ending)}"
    subject = waiting(medium, mark)
    if ending == "ward":
        subject["wards"] = {"max_seconds": 3}
    outcome = perform(tmp_path, subject, timeout=3 if ending == "timeout" else 60)
    assert outcome.end()["reason"] == ending
    assert (outcome.workspace() / "started").exists()
    assert marked(f"300.{mark}") == []


@pytest.mark.parametrize(
    ("medium", "signals"),
    [("code", [signal.SIGINT] * 2), ("bash", [signal.SIGINT] * 2), ("code", [signal.SIGTERM]),
     ("bash", [signal.SIGKILL])],
    ids=str,
)  # fmt: skip
def test_no_program_is_left_when_the_run_is_stopped(
    medium: str, signals: list[signal.Signals], tmp_path: Path
) -> None:
    mark = f"{os.getpid()}{len(medium)}9{int(signals[0])}"
    file = write(tmp_path / "talks.json", scenario(waiting(medium, mark)))
    words = command("eval", file, "--out", tmp_path / "run")
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        started = wait_until(lambda: len(marked(f"300.{mark}")) >= 2, within=30)
        for number in signals:
            run.send_signal(number)
            wait_until(lambda: run.poll() is not None, within=0.5)
        run.communicate(timeout=30)
    assert started
    assert wait_until(lambda: marked(f"300.{mark}") == [])
    last = (tmp_path / "run" / "transcripts" / "talk-1.jsonl").read_text().splitlines()[-1]
    assert ('"reason":"interrupted"' in last) is (signal.SIGKILL not in signals)
