"""Agents whose model is behind a server: what is sent in both dialects, and what comes of what it answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from agents import Definition, of_type, outline, perform, results
from faulty_server import Behaviour, FaultyServer, Request, ToolCall, hang, later, ok, status
from local_model import LocalModel
from scenario_files import report_of, synthesis, write
from subject_trials import scenario

from harness.gate import gate_schema, gate_type

PROVIDERS = ["openai", "anthropic"]
in_both_dialects = pytest.mark.parametrize("provider", PROVIDERS)
NUDGE = "Nothing was called. Go on, or call done with the result when the task is finished."
READ = ToolCall("read_file", {"path": "note.txt"}, "r1")


def done(result: Any, id_: str = "d1") -> ToolCall:
    return ToolCall("done", {"result": result}, id_)


def calls(*made: ToolCall, text: str | None = None) -> Behaviour:
    return ok(text, tool_calls=made)


def served(server: FaultyServer, provider: str = "openai", **more: Any) -> Definition:
    return {"type": "agent", "model": f"{provider}:m", "base_url": server.base_url, **more}


def sent(server: FaultyServer) -> list[list[dict[str, Any]]]:
    """The messages of each request, without the system prompt, each found to be a valid conversation."""
    for request in server.requests:
        (check_anthropic if request.anthropic else check_openai)(request.body["messages"])
    return [
        [message for message in request.body["messages"] if message["role"] != "system"]
        for request in server.requests
    ]


def check_openai(messages: list[dict[str, Any]]) -> None:
    """As servers hold them to it: one system prompt, every call answered at once, nothing empty."""
    assert [message["role"] for message in messages].count("system") == 1
    assert messages[0]["role"] == "system"
    waiting: list[str] = []
    before = "system"
    for message in messages[1:]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            assert message["role"] != before, "strict templates take no two messages of one side"
        assert message["content"] or "tool_calls" in message or message["role"] == "tool"
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
        before = message["role"]
    assert not waiting
    assert before in ("user", "tool")


def check_anthropic(messages: list[dict[str, Any]]) -> None:
    waiting: list[str] = []
    for number, message in enumerate(messages):
        assert message["role"] == ("user", "assistant")[number % 2]
        assert message["content"]
        answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert answered == waiting
        kinds = [block["type"] for block in message["content"]]
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result" if number % 2 == 0 else False)
        assert all(block["text"] for block in message["content"] if block["type"] == "text")
        uses = [block for block in message["content"] if block["type"] == "tool_use"]
        assert all(isinstance(block["input"], dict) for block in uses)
        waiting = [block["id"] for block in uses]
    assert not waiting
    assert messages[-1]["role"] == "user"


def use(call: ToolCall) -> dict[str, Any]:
    """A call as OpenAI's dialect tells it again."""
    function = {"name": call.name, "arguments": json.dumps(call.arguments, separators=(",", ":"))}
    return {"id": call.id, "type": "function", "function": function}


def tool(id_: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


# What is sent


def test_the_whole_conversation_in_openais_dialect(tmp_path: Path) -> None:
    script = [calls(READ, text="I look."), calls(done("alpha")), ok("Again?"), calls(done("beta", "d2"))]
    with FaultyServer(script) as server:
        outcome = perform(tmp_path, served(server, gates=["read_file"]), ["first?", "second?"])
    whole = [
        {"role": "user", "content": "first?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [use(READ)]},
        tool("r1", "alpha\nbeta\n"),
        {"role": "assistant", "content": "", "tool_calls": [use(done("alpha"))]},
        tool("d1", "alpha"),
        {"role": "user", "content": "second?"},
        {"role": "assistant", "content": "Again?"},
        {"role": "user", "content": NUDGE},
    ]  # fmt: skip
    assert sent(server) == [whole[:1], whole[:3], whole[:6], whole]
    assert [event["text"] for event in of_type(outcome, "assistant")] == [
        "I look.", "", "alpha", "Again?", "", "beta",
    ]  # fmt: skip
    assert outcome.end()["result"] == "beta"
    assert [event["turn"] for event in of_type(outcome, "attempt")] == [1, 1, 2, 2]


def test_the_whole_conversation_in_anthropics_dialect(tmp_path: Path) -> None:
    script = [calls(READ, text="I look."), calls(done("alpha")), ok("Again?"), calls(done("beta", "d2"))]
    with FaultyServer(script) as server:
        perform(tmp_path, served(server, "anthropic", gates=["read_file"]), ["first?", "second?"])
    last = sent(server)[-1]
    assert last[:5] == [
        {"role": "user", "content": [{"type": "text", "text": "first?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "r1", "name": "read_file", "input": {"path": "note.txt"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "r1", "content": "alpha\nbeta\n"}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "d1", "name": "done", "input": {"result": "alpha"}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "d1", "content": "alpha"},
                {"type": "text", "text": "second?"},
            ],
        },
    ]
    assert [len(messages) for messages in sent(server)] == [1, 3, 5, 7]


@in_both_dialects
def test_every_gate_is_offered_as_a_tool_and_who_it_is_comes_first(provider: str, tmp_path: Path) -> None:
    identity = {"system_prompt": "You look."}
    with FaultyServer([calls(done(1))]) as server:
        subject = served(server, provider, gates=["read_file", "cast"], identity=identity, temperature=0.5)
        perform(tmp_path, subject, system="Be kind.")
    body = server.requests[0].body
    offered = (
        {each["name"]: each["input_schema"] for each in body["tools"]}
        if provider == "anthropic"
        else {each["function"]["name"]: each["function"]["parameters"] for each in body["tools"]}
    )
    assert offered == {name: gate_schema(gate_type(name)) for name in ("read_file", "cast", "done")}
    system = body["system"] if provider == "anthropic" else body["messages"][0]["content"]
    assert system.startswith("You look.\n\nBe kind.\n\nYou work by calling tools.")
    assert body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tool_calls": "text"}, "```gate"),
        ({"medium": "code"}, "```python"),
        ({"medium": "bash"}, "```bash"),
    ],
    ids=str,
)
@in_both_dialects
def test_without_tool_calls_the_gates_are_told_in_words(
    more: Definition, told: str, provider: str, tmp_path: Path
) -> None:
    with FaultyServer([ok("hm")]) as server:
        subject = served(server, provider, gates=["search"], wards={"max_turns": 2}, **more)
        outcome = perform(tmp_path, subject)
    body = server.requests[0].body
    assert "tools" not in body
    system = body["system"] if provider == "anthropic" else body["messages"][0]["content"]
    assert told in system
    assert "- search(pattern, path): Search files" in system
    assert "- done(result): " in system
    assert "- run(" not in system
    assert outcome.end()["ward"] == "max_turns"
    assert len(sent(server)[1]) == 3


def test_gates_in_text_are_answered_in_one_message(tmp_path: Path) -> None:
    two = '```gate\n{"gate": "list_dir"}\n```\n```gate\nnot a call\n```'
    end = '```gate\n{"gate": "done", "arguments": {"result": 1}}\n```'
    with FaultyServer([ok(two), ok(end), ok(end)]) as server:
        perform(tmp_path, served(server, gates=["list_dir"], tool_calls="text"), ["one", "two"])
    assert sent(server)[2] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": two},
        {
            "role": "user",
            "content": 'list_dir gave:\n["note.txt"]\n\n'
            'That block gave:\nerror: there is no gate ""; there are: list_dir, done',
        },
        {"role": "assistant", "content": end},
        {"role": "user", "content": "done gave:\n1\n\ntwo"},
    ]  # fmt: skip


def test_what_code_printed_is_told_and_variables_stay_between_messages(tmp_path: Path) -> None:
    script = [ok("```python\nn = 41\nprint('n', n)\n1/0\n```"), ok("```python\ndone(n + 1)\n```"),
              ok("```python\ndone(n)\n```")]  # fmt: skip
    with FaultyServer(script) as server:
        outcome = perform(tmp_path, served(server, medium="code"), ["one", "two"])
    assert [result for _, result in results(outcome, "done")] == [42, 41]
    told = sent(server)[2]
    assert told[2]["content"].startswith("n 41\n\nTraceback")
    assert told[2]["content"].endswith("ZeroDivisionError: division by zero")
    assert told[4]["content"] == "(nothing was printed)\n\ntwo"


def test_what_commands_gave_is_told(tmp_path: Path) -> None:
    with FaultyServer([ok("```bash\ncat note.txt\n```"), ok("```bash\ndone yes\n```")]) as server:
        outcome = perform(tmp_path, served(server, medium="bash"))
    assert sent(server)[1][2]["content"] == '{"exit_code":0,"output":"alpha\\nbeta\\n"}'
    assert outcome.end()["result"] == "yes"


# What a model may do


@in_both_dialects
def test_every_call_of_a_turn_is_answered_with_its_id(provider: str, tmp_path: Path) -> None:
    made = [
        ToolCall("read_file", {"path": "note.txt"}, "a"),
        ToolCall("nothing", {"x": 1}, "b"),
        ToolCall("read_file", {"path": "../x"}, "c"),
        ToolCall("read_file", {}, "d"),
        ToolCall("done", {"result": 1}, "e"),
        ToolCall("read_file", {"path": "note.txt"}, "f"),
        ToolCall("done", {"result": 2}, "g"),
    ]
    with FaultyServer([calls(*made), calls(done(3))]) as server:
        outcome = perform(tmp_path, served(server, provider, gates=["read_file"]), ["one", "two"])
    told = [
        (block.get("tool_call_id") or block["tool_use_id"], block["content"])
        for message in sent(server)[1]
        for block in ([message] if message["role"] == "tool" else message["content"])
        if message["role"] == "tool" or (isinstance(block, dict) and block["type"] == "tool_result")
    ]
    assert told == [
        ("a", "alpha\nbeta\n"),
        ("b", 'error: there is no gate "nothing"; there are: read_file, done'),
        ("c", 'error: the path "../x" is refused: it leads out of the workspace'),
        ("d", "error: read_file: path: Field required"),
        ("e", "1"),
        ("f", "not called: done was called before it"),
        ("g", "not called: done was called before it"),
    ]
    assert [event["gate"] for event in of_type(outcome, "observation")] == ["read_file"] * 3 + ["done"] * 2


@pytest.mark.parametrize("arguments", ['{"path": ', "", "null", "[1]", '"note.txt"', "NaN"])
def test_arguments_that_are_no_json_object_are_told_to_the_model(arguments: str, tmp_path: Path) -> None:
    bad = ToolCall("read_file", arguments, "bad")
    with FaultyServer([calls(bad), calls(done("end"))]) as server:
        outcome = perform(tmp_path, served(server, gates=["read_file"]))
    ((granted, said),) = results(outcome, "read_file")
    assert not granted
    assert said == "read_file: " + (
        "the arguments are not a JSON object" if arguments else "path: Field required"
    )
    assert sent(server)[1][2] == tool("bad", f"error: {said}")
    assert outcome.end()["result"] == "end"


@in_both_dialects
def test_an_answer_with_nothing_in_it_is_nudged_and_not_sent_back(provider: str, tmp_path: Path) -> None:
    with FaultyServer([ok(""), ok(""), calls(done("end"))]) as server:
        outcome = perform(tmp_path, served(server, provider))
    assert [len(messages) for messages in sent(server)] == [1, 1, 1]
    assert str(sent(server)[2]).count("Nothing was called.") == 2
    assert outcome.end()["result"] == "end"


@in_both_dialects
def test_a_model_that_says_nothing_is_nudged_and_its_tokens_count(provider: str, tmp_path: Path) -> None:
    with FaultyServer([calls(READ), ok(None), calls(done("alpha"))]) as server:
        outcome = perform(tmp_path, served(server, provider, gates=["read_file"]))
    assert outcome.end()["result"] == "alpha"
    assert all(event["input_tokens"] == 7 for event in of_type(outcome, "attempt"))


@in_both_dialects
def test_a_model_that_only_talks_is_nudged_until_max_turns(provider: str, tmp_path: Path) -> None:
    with FaultyServer([ok("I could look.")]) as server:
        outcome = perform(tmp_path, served(server, provider, wards={"max_turns": 3}))
    assert [len(messages) for messages in sent(server)] == [1, 3, 5]
    assert outcome.said() == ["I could look."] * 3
    assert (outcome.end()["reason"], outcome.end()["ward"]) == ("ward", "max_turns")
    assert outcome.report.scenarios[0].trials[0].score == 0


@pytest.mark.parametrize("more", [{"medium": "code"}, {"tool_calls": "text"}], ids=str)
@in_both_dialects
def test_calls_of_tools_that_were_not_offered_leave_the_conversation_valid(
    more: Definition, provider: str, tmp_path: Path
) -> None:
    with FaultyServer([calls(READ), calls(READ, text="Hm."), ok("stop")]) as server:
        outcome = perform(
            tmp_path, served(server, provider, gates=["read_file"], wards={"max_turns": 3}, **more)
        )
    assert "tool_calls" not in str(sent(server)[2])
    assert "tool_use" not in str(sent(server)[2])
    assert outcome.end()["ward"] == "max_turns"


# What a server may do


@in_both_dialects
def test_a_server_that_is_busy_for_a_while_is_asked_again(provider: str, tmp_path: Path) -> None:
    busy = status(429, headers={"retry-after-ms": "1"})
    with FaultyServer([calls(READ), busy, busy, calls(done("end"))]) as server:
        outcome = perform(tmp_path, served(server, provider, gates=["read_file"]))
    assert [event["status"] for event in of_type(outcome, "attempt")] == [200, 429, 429, 200]
    assert [event["attempt"] for event in of_type(outcome, "attempt")] == [1, 1, 2, 3]
    told = sent(server)
    assert told[1] == told[2] == told[3]
    assert outcome.end()["result"] == "end"
    usage = outcome.report.scenarios[0].trials[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (14, 6)


@pytest.mark.parametrize(("code", "kind"), [(400, "http"), (401, "model"), (404, "model")])
def test_a_server_that_refuses_in_the_middle_is_an_error_and_no_score(
    code: int, kind: str, tmp_path: Path
) -> None:
    with FaultyServer([calls(READ), status(code)]) as server:
        outcome = perform(tmp_path, served(server, gates=["read_file"]))
    assert outcome.end()["reason"] == "error"
    assert outcome.error()[0] == kind
    assert outcome.report.summary.mean is None


@pytest.mark.parametrize("ward", [0.3, 60])
def test_a_server_that_hangs_is_an_error_and_no_score_whatever_the_ward(ward: float, tmp_path: Path) -> None:
    with FaultyServer([calls(READ), hang()]) as server:
        subject = served(server, gates=["read_file"], wards={"max_seconds": ward})
        outcome = perform(tmp_path, subject, timeout=1.5)
    assert outcome.error()[0] == "timeout"


def test_so_is_one_that_hangs_for_a_child(tmp_path: Path) -> None:
    cast = ToolCall("cast", {"prompt": "Go.", "wards": {"max_seconds": 0.3}}, "c")
    with FaultyServer([calls(cast), hang()]) as server:
        outcome = perform(tmp_path, served(server, gates=["cast"]), timeout=1.5)
    assert outcome.error()[0] == "timeout"


def test_patience_that_a_server_asks_for_is_not_the_agents_time(tmp_path: Path) -> None:
    busy = status(429, headers={"retry-after-ms": "700"})
    with FaultyServer([busy, calls(READ), busy, calls(done("alpha"))]) as server:
        subject = served(server, gates=["read_file"], wards={"max_seconds": 0.6})
        outcome = perform(tmp_path, subject)
    assert (outcome.end()["reason"], outcome.end()["result"]) == ("completed", "alpha")


def test_a_ward_ends_one_whose_model_thinks_too_long(tmp_path: Path) -> None:
    with FaultyServer([calls(READ, text="I look."), later(0.8, calls(READ, text="Still."))]) as server:
        subject = served(server, gates=["read_file"], wards={"max_seconds": 0.7})
        outcome = perform(tmp_path, subject)
        assert len(server.requests) == 2
    assert (outcome.end()["reason"], outcome.end()["ward"]) == ("ward", "max_seconds")
    assert outcome.said() == ["I look.", "Still."]


# Children


@in_both_dialects
def test_a_child_is_asked_in_a_conversation_of_its_own_and_its_attempts_stand_under_it(
    provider: str, tmp_path: Path
) -> None:
    arguments = {"prompt": "Read it.", "gates": ["read_file"], "system_prompt": "You read."}
    cast = ToolCall("cast", arguments, "c1")
    script = [calls(cast), calls(READ), calls(done("alpha", "d1")), calls(done("seen", "d2"))]
    with FaultyServer(script) as server:
        subject = served(
            server, provider, gates=["read_file", "cast"], identity={"system_prompt": "You lead."}
        )
        outcome = perform(tmp_path, subject, system="Be kind.")
    parent, child, child_again, parent_again = sent(server)
    assert "Read it." in str(child[0])
    assert [len(messages) for messages in (parent, child, child_again, parent_again)] == [1, 1, 3, 3]
    assert "hello" not in str(child_again)
    body = server.requests[1].body
    system = body["system"] if provider == "anthropic" else body["messages"][0]["content"]
    assert system.startswith("You read.\n\nYou work by calling tools.")
    names = [each.get("name") or each["function"]["name"] for each in body["tools"]]
    assert names == ["read_file", "done"]
    (start,) = of_type(outcome, "child_start")
    assert [event["parent"] for event in of_type(outcome, "attempt")] == [
        None, start["seq"], start["seq"], None,
    ]  # fmt: skip
    usage = outcome.report.scenarios[0].trials[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (28, 12)
    assert outcome.end()["result"] == "seen"


def test_a_refused_model_of_a_child_is_an_error_of_the_trial(tmp_path: Path) -> None:
    cast = ToolCall("cast", {"prompt": "Go."}, "c")
    with FaultyServer([calls(cast), status(400)]) as server:
        outcome = perform(tmp_path, served(server, gates=["cast"]))
    assert outcome.error() == ("http", "400: Bad Request")
    assert [event["reason"] for event in of_type(outcome, "child_end")] == ["error"]


# Which model


def by_tools(request: Request) -> Behaviour:
    """Reads, then hands over what it read."""
    last = request.body["messages"][-1]
    return calls(done(last["content"])) if last["role"] == "tool" else calls(READ)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ({}, ["--model", "openai:given"]),
        ({"model": {"replies": ["never said"]}}, ["--model", "openai:given", "--override-subject"]),
        ({"model": "anthropic:other"}, ["--model", "openai:given", "--override-subject"]),
    ],
    ids=str,
)
def test_the_model_of_the_command_line_has_the_agents_gates(
    model: Definition, options: list[str], tmp_path: Path
) -> None:
    subject = {"type": "agent", "gates": ["read_file"], **model}
    file = write(tmp_path / "talks.json", scenario(subject, fixtures={"note.txt": "alpha\n"}))
    with FaultyServer(by_tools) as server:
        run = synthesis(
            "eval", file, *options, "--base-url", server.base_url, "--out", "run", "--min-worst", "1",
            cwd=tmp_path,
        )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert [request.body["model"] for request in server.requests] == ["given", "given"]
    assert sent(server)[1][2]["content"] == "alpha\n"
    identity = report_of(tmp_path / "run")["scenarios"][0]["subject"]
    assert (identity["model"], identity["gates"]) == ("openai:given", ["read_file"])


def test_an_agents_own_model_wins_and_the_output_says_so(tmp_path: Path) -> None:
    subject = {"type": "agent", "model": {"replies": [{"calls": [{"gate": "done"}]}]}}
    file = write(tmp_path / "talks.json", scenario(subject))
    with FaultyServer(by_tools) as server:
        run = synthesis("eval", file, "--model", "openai:x", "--base-url", server.base_url, cwd=tmp_path)
    assert run.returncode == 0
    assert "1 scenario of 1 brings a subject of its own and ignores --model" in run.stderr
    assert server.requests == []


def test_what_was_recorded_is_replayed_with_children_and_programs(tmp_path: Path) -> None:
    cast = ToolCall("cast", {"prompt": "Read.", "medium": "code"}, "c")
    script = [calls(cast), ok("```python\ndone(read_file('note.txt'))\n```"), calls(done("end"))]
    subject = {"type": "agent", "model": "openai:m", "gates": ["read_file", "cast"]}
    file = write(tmp_path / "talks.json", scenario(subject, fixtures={"note.txt": "alpha\n"}))
    with FaultyServer(script) as server:
        options = ("--base-url", server.base_url, "--model", "openai:m")
        recorded = synthesis("eval", file, *options, "--record", "kept", "--out", "a", cwd=tmp_path)
        replayed = synthesis("eval", file, *options, "--replay", "kept", "--out", "b", cwd=tmp_path)
    assert (recorded.returncode, replayed.returncode) == (0, 0), recorded.stderr + replayed.stderr
    assert len(server.requests) == 3
    first, second = ((tmp_path / run / "transcripts" / "talk-1.jsonl").read_bytes() for run in "ab")
    assert first == second


# A real model


@pytest.mark.parametrize("more", [{"tool_calls": "native"}, {"tool_calls": "text"}], ids=str)
def test_a_real_model_acts_until_it_is_done_or_a_ward_ends_it(
    more: Definition, local_model: LocalModel, tmp_path: Path
) -> None:
    subject = {
        "type": "agent",
        "model": f"openai:{local_model.name}",
        "base_url": local_model.base_url,
        "gates": ["read_file", "list_dir", "cast"],
        "wards": {"max_turns": 2, "max_seconds": 50},
        "max_tokens": 40,
        **more,
    }
    outcome = perform(tmp_path, subject, "Read note.txt and answer with its first line.")
    assert outcome.end()["reason"] in ("completed", "ward")
    assert outline(outcome.events())[0] == (None, "user", "Read note.txt and answer with its first line.")
    attempts = of_type(outcome, "attempt")
    assert attempts
    assert all(event["status"] == 200 and event["input_tokens"] for event in attempts)
    assert outcome.report.summary.errors == 0
