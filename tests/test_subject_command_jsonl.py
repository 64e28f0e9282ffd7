"""Programs that speak line by line."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_trials import (
    ECHO,
    all_ended,
    command,
    jsonl,
    own_temporary_folder,  # noqa: F401 - sees to every test here
    pids,
)
from subject_trials import run, scenario, write_scenarios

from harness.process import Launch, Program


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
        "input(); print('{\"type\": \"rep', end='', flush=True)",
        {},
        'exit code 0 before the reply, after half a line: "{"type": "rep"',
    ),
    "half a line, then hangs": (
        "input(); print('{\"type\": \"rep', end='', flush=True); time.sleep(60)",
        {"timeout": 0.7},
        "no answer after 0.7 s",
    ),
    "closes its output and stays": (
        "os.close(1); time.sleep(60)",
        {},
        "the output was closed before the reply",
    ),
    "too much": (
        "input(); print(json.dumps({'type': 'assistant', 'text': 'x' * 200})); time.sleep(60)",
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


def test_words_after_the_last_reply_are_an_error_too(tmp_path: Path) -> None:
    code = """
        input()
        print('{"type": "reply", "text": "one"}', 'and bye', sep=chr(10), flush=True)
        time.sleep(60)
    """
    outcome = jsonl(tmp_path, code)
    assert outcome.error() == ("command", 'a line after the reply: "and bye\\n"')
    assert outcome.said() == ["one"]


def test_words_that_have_arrived_but_were_not_read_yet_are_noticed(tmp_path: Path) -> None:
    async def talk() -> bytes:
        script = (
            "import time; print('one', flush=True); time.sleep(0.2); print('two', flush=True); time.sleep(60)"
        )
        launch = Launch([sys.executable, "-c", script], tmp_path, {}, 100)
        program = await Program.start(launch)
        try:
            await program.until(lambda: program.take_line() == b"one")
            time.sleep(0.5)  # not asyncio's: the loop must not read while the second line arrives
            await program.catch_up()
            return bytes(program.output)
        finally:
            await program.end()

    assert asyncio.run(talk()) == b"two\n"


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
