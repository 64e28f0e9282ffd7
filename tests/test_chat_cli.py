"""`synthesis eval` with chat models, through its real entry point and over real sockets."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from faulty_server import Behaviour, FaultyServer, Request, echo_key, hang, ok, redirect, status, wrong_json
from scenario_files import Definition, environment, report_of, scenario, synthesis, tree, write

from harness.cli import main
from harness.run_report import RunReport
from harness.transcript import read_transcript

KEY = "Zq8-own-planted-key-no-shape"
LOOKS = "sk-another-0123456789abcdef"
AT_ONCE = {"Retry-After": "0"}
PRICES = '[prices."openai:m"]\ninput = 1000000\noutput = 2000000\n'


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty project, a key, and nothing else in the environment that says something about models."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")) or name.startswith("SYNTHESIS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def talk(name: str = "talk", subject: Definition | None = None, **more: Any) -> Definition:
    """A scenario that asks for "hello"; without a subject, --model answers."""
    given = {} if subject is None else {"subject": {"type": "chat", **subject}}
    return {"name": name, "prompt": "hi", "rubric": [{"contains": "hello"}], **given, **more}


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def report(self) -> Definition:
        return report_of(Path("run"))

    @property
    def summary(self) -> Definition:
        found: Definition = self.report["summary"]
        return found


Eval = Callable[..., Done]


@pytest.fixture(name="evaluate")
def _evaluate(capfd: pytest.CaptureFixture[str]) -> Eval:
    def evaluate(*arguments: object, out: str | None = "run") -> Done:
        where = [] if out is None else ["--out", out]
        code = main(["eval", "s.json", *map(str, arguments), *where])
        return Done(code, *capfd.readouterr())

    return evaluate


def model(server: FaultyServer, name: str = "openai:m") -> tuple[str, ...]:
    return "--model", name, "--base-url", server.base_url


def events(name: str = "talk", seed: int = 1, run: str = "run") -> list[dict[str, Any]]:
    return list(read_transcript(Path(run) / "transcripts" / f"{name}-{seed}.jsonl").events)


def transcripts(run: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((Path(run) / "transcripts").iterdir())}


def echo(body: Any) -> str:
    """What the model would be told, with the word that the rubric asks for."""
    return f"hello, I heard: {json.dumps(body['messages'])} under seed {body.get('seed')}"


# A run


def test_a_run_from_the_request_to_the_report(evaluate: Eval) -> None:
    subject = {"temperature": 0.5, "max_tokens": 9, "stop": ["END"], "extra_body": {"top_p": 0.9}}
    write(Path("s.json"), talk(subject=subject, system="Be kind.", seeds=[3, 4]))
    with FaultyServer([ok(echo, usage=(7, 3))]) as server:
        done = evaluate(*model(server))
        requests = sorted(server.requests, key=lambda request: request.body["seed"])
    assert (done.code, done.err) == (0, "")
    assert [request.body for request in requests] == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}],
            "temperature": 0.5, "max_tokens": 9, "seed": seed, "stop": ["END"], "top_p": 0.9,
        }
        for seed in (3, 4)
    ]  # fmt: skip
    assert [event["type"] for event in events(seed=3)] == ["start", "user", "attempt", "assistant", "end"]
    start, _, attempt, assistant, end = events(seed=3)
    assert start["subject"] == {"type": "chat", "model": "openai:m", "base_url": server.base_url, **subject}
    assert start["system"] == "Be kind."
    assert (attempt["status"], attempt["attempt"], attempt["turn"]) == (200, 1, 1)
    assert "under seed 3" in assistant["text"]
    assert (end["terminated"], end["result"]) == (True, assistant["text"])
    report = RunReport.model_validate(done.report)
    assert report.scenarios[0].system_sha256 == sha256(b"Be kind.").hexdigest()
    assert report.scenarios[0].subject == start["subject"]
    assert report.timing.model_seconds is not None


@pytest.mark.parametrize("tokens", [10**24, 2**64, -5, True])
def test_tokens_that_cannot_be_counted_are_unknown_and_the_report_is_there(
    evaluate: Eval, tokens: int
) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([ok(usage={"prompt_tokens": tokens, "completion_tokens": 3})]) as server:
        done = evaluate(*model(server))
    assert (done.code, done.err) == (0, "")
    usage = {"requests": 1, "input_tokens": None, "output_tokens": None, "cost": None}
    assert done.summary["usage"] == usage


def test_a_conversation_is_told_as_it_was_said(evaluate: Eval) -> None:
    write(Path("s.json"), talk(prompt=["one", "two"]))
    with FaultyServer([ok("hello one"), ok("hello two")]) as server:
        assert evaluate(*model(server, "anthropic:m")).code == 0
        last = server.requests[-1]
    assert [(each["role"], each["content"][0]["text"]) for each in last.body["messages"]] == [
        ("user", "one"), ("assistant", "hello one"), ("user", "two"),
    ]  # fmt: skip
    assert "system" not in last.body
    assert [event["turn"] for event in events() if event["type"] == "attempt"] == [1, 2]


def test_a_prompt_that_changed_is_seen_in_the_report_and_its_trials_run_again(evaluate: Eval) -> None:
    write(Path("s.json"), talk("a", system={"file": "prompt.md"}), talk("b"))
    found = []
    with FaultyServer([ok(echo)]) as server:
        for text, where in (("Be kind.", "--out"), ("Be brief.", "--resume"), ("Be brief.", "--resume")):
            Path("prompt.md").write_text(text)
            done = evaluate(*model(server), where, "run", out=None)
            assert done.code == 0
            found.append(
                (len(server.requests), done.report["scenarios"][0]["system_sha256"], events("a")[3]["text"])
            )
    (first, old, one), (second, new, two), third = found
    assert (first, second) == (2, 3), "only the trial whose prompt changed"
    assert third == (3, new, two)
    assert (old, new) == (sha256(b"Be kind.").hexdigest(), sha256(b"Be brief.").hexdigest())
    assert "Be kind." in one
    assert "Be brief." in two


@pytest.mark.parametrize(
    "change", [{"temperature": 0.1}, {"max_tokens": 3}, {"stop": ["x"]}, {"extra_body": {"a": 1}}]
)
def test_a_parameter_that_changed_runs_its_trials_again(evaluate: Eval, change: Definition) -> None:
    write(Path("s.json"), talk(subject={}))
    with FaultyServer([ok()]) as server:
        evaluate(*model(server))
        write(Path("s.json"), talk(subject=change))
        evaluate(*model(server), "--resume", "run", out=None)
        assert len(server.requests) == 2
        write(Path("s.json"), talk(subject={**change, "request_timeout": 9}))
        evaluate(*model(server), "--resume", "run", out=None)
        assert len(server.requests) == 2, "how long we wait shapes no answer"


def test_another_model_or_server_runs_its_trials_again(evaluate: Eval) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([ok()]) as server, FaultyServer([ok()]) as other:
        evaluate(*model(server))
        evaluate(*model(server, "openai:n"), "--resume", "run", out=None)
        evaluate(*model(other, "openai:n"), "--resume", "run", out=None)
        assert (len(server.requests), len(other.requests)) == (2, 1)


# What goes wrong is in the transcript


def test_every_attempt_is_in_the_transcript(evaluate: Eval) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([status(429, headers=AT_ONCE), status(500, headers=AT_ONCE), ok("hello")]) as server:
        done = evaluate(*model(server))
    assert done.code == 0
    attempts = [event for event in events() if event["type"] == "attempt"]
    assert [(each["attempt"], each["status"], each["request_id"]) for each in attempts] == [
        (1, 429, "req_1"), (2, 500, "req_2"), (3, 200, "req_3"),
    ]  # fmt: skip
    assert [each["error"] is None for each in attempts] == [False, False, True]
    assert done.summary["usage"]["requests"] == 3


@pytest.mark.parametrize(
    ("behaviour", "kind", "said"),
    [
        (wrong_json(), "answer", "the answer is not JSON"),
        (status(400, {"error": {"message": "\x1b[31mno\n\nseeds"}}), "http", "400: \x1b[31mno seeds"),
        (redirect("http://127.0.0.1:9"), "http", "points elsewhere, which is not followed"),
        (ok(" \n"), "answer", "the model said nothing (finish: stop)"),
        (status(503, headers={"Retry-After": "86400"}), "http", "the trial ends before"),
    ],
)
def test_a_trial_that_fails_says_why_and_is_no_score(
    evaluate: Eval, behaviour: Behaviour, kind: str, said: str
) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([behaviour]) as server:
        done = evaluate(*model(server))
        assert len(server.requests) == 1
    assert done.code == 1
    (error,) = [event for event in events() if event["type"] == "error"]
    assert error["kind"] == kind
    assert said in error["message"]
    assert (done.summary["errors"], done.summary["mean"], done.summary["complete"]) == (1, None, False)
    assert "\x1b" not in done.out + done.err


def test_a_trial_whose_time_is_over_has_its_request_in_the_transcript(evaluate: Eval) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([hang()]) as server:
        assert evaluate(*model(server), "--timeout", "0.3").code == 1
    _, _, attempt, error, end = events()
    assert (attempt["type"], attempt["status"]) == ("attempt", None)
    assert attempt["error"] == "given up before an answer came"
    assert (error["kind"], end["reason"]) == ("timeout", "timeout")


@pytest.mark.parametrize(
    ("code", "hint"), [(401, "check OPENAI_API_KEY"), (404, "check the model's name and the server")]
)
def test_a_wrong_key_or_model_fails_once_and_clearly(evaluate: Eval, code: int, hint: str) -> None:
    write(Path("s.json"), talk("a", seeds=25), talk("b", seeds=25))
    with FaultyServer([status(code)]) as server:
        done = evaluate(*model(server))
        assert len(server.requests) == 1
    assert done.code == 1
    assert (done.out.count(hint), done.err.count(hint)) == (1, 1)
    assert "no model could be asked" in done.out
    summary = done.summary
    assert (summary["stopped"], summary["errors"], summary["not_run"]) == ("model", 1, 49)


@pytest.mark.parametrize("retries", [0, 2])
def test_the_project_says_how_often_a_request_is_made_again(evaluate: Eval, retries: int) -> None:
    Path("synthesis.toml").write_text(f"[eval]\nretries = {retries}\n")
    write(Path("s.json"), talk())
    with FaultyServer([status(503, headers=AT_ONCE)]) as server:
        assert evaluate(*model(server)).code == 1
        assert len(server.requests) == retries + 1


# Keys


def test_a_key_goes_to_a_typed_server_and_to_none_that_a_file_names(evaluate: Eval) -> None:
    with FaultyServer([ok()]) as typed, FaultyServer([status(401)]) as named:
        write(Path("s.json"), talk("a"), talk("b", {"model": "openai:n", "base_url": named.base_url}))
        done = evaluate(*model(typed))
        assert [request.key for request in typed.requests] == [f"Bearer {KEY}"]
        assert [request.key for request in named.requests] == [None]
    assert "no key goes to a server that a file names: use --base-url, or OPENAI_BASE_URL" in done.out


def test_a_key_goes_to_a_server_in_the_environment(evaluate: Eval, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("s.json"), talk())
    with FaultyServer([ok()]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert evaluate("--model", "openai:m").code == 0
        assert [request.key for request in server.requests] == [f"Bearer {KEY}"]


def test_a_missing_key_is_named_once_before_anything_runs(
    evaluate: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    write(Path("s.json"), *(talk(f"talk {number}") for number in range(20)))
    before = tree(Path())
    done = evaluate("--model", "openai:m", "--record", "kept")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "synthesis: openai:m: OPENAI_API_KEY is not set\n"
        "  fix: set OPENAI_API_KEY in the environment, or name your own server with --base-url\n"
        "synthesis: nothing was run\n"
    )
    assert tree(Path()) == before


def everything(folder: Path) -> str:
    """All that a run wrote, names of files included."""
    written = [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]
    return "\n".join([*written, *tree(folder)])


TELLS = [
    echo_key(401),
    echo_key(400),
    status(500, f"{'x' * 285} {KEY} {LOOKS}", AT_ONCE, request_id=f"r-{KEY}"),
    status(200, f"<html>{KEY}\n{LOOKS}</html>"),
    ok(f"hello\n{KEY}\n{LOOKS}", request_id=KEY, system_fingerprint=KEY, finish_reason=LOOKS),
]


@pytest.mark.parametrize("behaviour", TELLS)
@pytest.mark.parametrize("shown", [(), ("--json",)])
def test_a_planted_key_reaches_nothing_that_is_written_or_shown(
    tmp_path: Path, behaviour: Behaviour, shown: tuple[str, ...]
) -> None:
    """The scenario has one that looks like a key, too, in its prompt and in a parameter."""
    Path("synthesis.toml").write_text("[eval]\nretries = 1\n")
    own = talk(subject={"extra_body": {"user": LOOKS}}, prompt=["hi", f"again {KEY}"], system=f"a\n{KEY}")
    source = tmp_path / "elsewhere" / "s.json"
    write(source, own)
    with FaultyServer([behaviour]) as server:
        done = synthesis(
            "eval", source, *model(server), "--out", "run", "--record", "kept", *shown, cwd=tmp_path
        )
        assert server.requests[0].key == f"Bearer {KEY}"
    said = done.stdout + done.stderr + everything(Path("run")) + everything(Path("kept"))
    assert "Traceback" not in said
    assert KEY not in said
    assert LOOKS not in said
    assert "[key]" in said
    assert events()[0]["system"] == "a\n[key]"


def test_a_key_that_a_program_prints_reaches_nothing_that_is_written_or_shown(
    evaluate: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "87654321")
    program = (
        "import os, sys; k = os.environ['OPENAI_API_KEY']; t = os.environ['MY_TOKEN'];"
        "print('hello', k, t); print(k, file=sys.stderr); sys.exit(len(sys.argv) - 1)"
    )
    passed = {"type": "command", "pass_env": ["OPENAI_API_KEY", "MY_TOKEN"]}
    good = {**passed, "command": [sys.executable, "-c", program]}
    bad = {**passed, "command": [sys.executable, "-c", program, "fail"]}
    write(Path("s.json"), scenario("good", subject=good), scenario("bad", subject=bad))
    done = evaluate()
    said = done.out + done.err + everything(Path("run"))
    assert events("good")[2]["text"] == "hello [key] [key]"
    assert KEY not in said
    assert "87654321" not in said
    assert (done.summary["scored"], done.summary["errors"]) == (1, 1)


# Usage and budgets


def test_usage_and_cost_per_trial_scenario_and_run(evaluate: Eval) -> None:
    Path("synthesis.toml").write_text(PRICES)
    write(
        Path("s.json"), talk("a", seeds=2), talk("b"), talk("c", {"model": "openai:unpriced"}), scenario("d")
    )
    with FaultyServer([ok(usage=(7, 3))]) as server:
        done = evaluate(*model(server))
    one = {"requests": 1, "input_tokens": 7, "output_tokens": 3, "cost": 13.0}
    first, second, third, fourth = done.report["scenarios"]
    assert [trial["usage"] for trial in first["trials"]] == [one, one]
    assert first["usage"] == {"requests": 2, "input_tokens": 14, "output_tokens": 6, "cost": 26.0}
    assert second["usage"] == one
    assert third["usage"] == {**one, "cost": None}
    assert fourth["usage"] is None
    assert done.summary["usage"] == {"requests": 4, "input_tokens": 28, "output_tokens": 12, "cost": None}


@pytest.mark.parametrize(
    ("option", "value", "reason"), [("--max-tokens", "25", "max-tokens"), ("--max-cost", "30", "max-cost")]
)
def test_a_budget_ends_the_run_which_can_be_resumed(
    evaluate: Eval, option: str, value: str, reason: str
) -> None:
    Path("synthesis.toml").write_text(PRICES)
    write(Path("s.json"), talk(seeds=8))
    with FaultyServer([ok(usage=(7, 3))]) as server:
        done = evaluate(*model(server), "--jobs", 1, option, value)
        assert (done.code, len(server.requests)) == (1, 3)
        summary = done.summary
        assert (summary["stopped"], summary["complete"]) == (reason, False)
        assert (summary["scored"], summary["errors"], summary["not_run"]) == (3, 0, 5)
        assert f"({option} is reached)" in done.out
        (line,) = [line for line in done.out.splitlines() if "--resume run" in line]
        again = shlex.split(line[line.index("synthesis") :])
        assert again[again.index(option) + 1] == value
        done = evaluate(*model(server), "--resume", "run", out=None)
        assert (done.code, len(server.requests)) == (0, 8)
    assert (done.summary["scored"], done.summary["complete"], done.summary["stopped"]) == (8, True, None)


def test_a_conversation_that_a_budget_cut_off_is_no_error_but_its_tokens_count(evaluate: Eval) -> None:
    write(Path("s.json"), talk(prompt=["one", "two", "three"]))
    with FaultyServer([ok(usage=(7, 3))]) as server:
        done = evaluate(*model(server), "--max-tokens", 15)
    assert (done.code, done.summary["errors"], done.summary["not_run"]) == (1, 0, 1)
    assert done.summary["usage"]["requests"] == 2
    assert events()[-1]["reason"] == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-cost", "1"], "--max-cost: there is no price for openai:m"),
        (["--max-cost", "0"], '"0" is not an amount above 0'),
        (["--max-cost", "nan"], '"nan" is not an amount above 0'),
        (["--max-cost", "inf"], '"inf" is not an amount above 0'),
        (["--max-cost", "cheap"], '"cheap" is not an amount above 0'),
        (["--max-tokens", "0"], '--max-tokens: "0" is not a whole number of at least 1'),
        (["--max-tokens", "1.5"], '--max-tokens: "1.5" is not'),
        (["--record", "a", "--replay", "b"], "--record and --replay exclude each other"),
        (["--replay", "missing"], "--replay missing: there is no such folder"),
        (["--base-url", "nowhere"], 'openai:m: "nowhere" is not the URL of a server'),
        (["--base-url", "http://me:word@h"], "the server's URL has a name, a password or a query in it"),
        (["--model", "gpt-4o"], '--model: "gpt-4o" is not PROVIDER:NAME'),
        (["--model", "opnai:x"], 'did you mean "openai:…"?'),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    evaluate: Eval, arguments: list[str], said: str
) -> None:
    write(Path("s.json"), talk("a"), talk("b"))
    before = tree(Path())
    done = evaluate("--model", "openai:m", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.count(said) == 1
    assert "\n  fix: " in done.err
    assert "word@" not in done.err
    assert tree(Path()) == before


def test_a_price_in_the_project_file_that_is_none_is_named(evaluate: Eval) -> None:
    Path("synthesis.toml").write_text('[prices."openai:m"]\ninput = -1\noutput = 1\n')
    write(Path("s.json"), talk())
    assert "synthesis.toml:/prices/openai:m/input" in evaluate("--model", "openai:m").err


# Record and replay


def test_a_replay_gives_the_same_bytes_and_asks_nobody(
    evaluate: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an attempt failed, where a trial failed, and where there is no key."""
    Path("synthesis.toml").write_text(PRICES + "[eval]\nretries = 1\n")
    write(Path("s.json"), talk("a", prompt=["one", "two"], seeds=3), talk("b", system="fail"), talk("c"))

    def play(request: Request) -> Behaviour:
        system = request.body["messages"][0]["content"]
        busy = system == "fail" or request.number == 2
        return status(503, headers=AT_ONCE) if busy else ok(f"hello {request.number}")

    with FaultyServer(play) as server:
        first = evaluate(*model(server), "--record", "kept")
        count = len(server.requests)
        monkeypatch.delenv("OPENAI_API_KEY")
        second = evaluate(*model(server), "--replay", "kept", out="again")
        assert len(server.requests) == count
    assert (first.code, second.code) == (1, 1)
    assert transcripts("run") == transcripts("again")
    one, two = report_of(Path("run")), report_of(Path("again"))
    del one["timing"], two["timing"]
    assert one == two
    assert two["summary"]["usage"]["requests"] == count
    texts = [events("a", seed)[3]["text"] for seed in (1, 2, 3)]
    assert len(set(texts)) == 3


def test_a_miss_in_a_replay_is_an_error_and_no_request(evaluate: Eval) -> None:
    write(Path("s.json"), talk(seeds=2))
    with FaultyServer([ok()]) as server:
        evaluate(*model(server), "--record", "kept")
        write(Path("s.json"), talk(seeds=3))
        done = evaluate(*model(server), "--replay", "kept", out="again")
        assert len(server.requests) == 2
    assert done.code == 1
    assert "nothing is recorded for question 1 of talk, seed 3" in done.out
    assert report_of(Path("again"))["summary"]["errors"] == 1


def test_a_plan_that_is_only_listed_needs_no_key_and_leaves_nothing(
    evaluate: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    write(Path("s.json"), talk())
    before = tree(Path())
    done = evaluate("--model", "openai:m", "--record", "kept", "--list", out=None)
    assert (done.code, "1 trial; nothing was run" in done.out) == (0, True)
    assert tree(Path()) == before


# Who answers


def test_the_model_answers_where_a_scenario_names_nobody_and_the_others_are_counted(evaluate: Eval) -> None:
    write(
        Path("s.json"),
        talk("a"),
        scenario("b"),
        talk("c", {"model": "openai:own"}),
        talk("d", {"max_tokens": 3}),
    )
    with FaultyServer([ok()]) as server:
        done = evaluate(*model(server))
        asked = sorted(request.body["model"] for request in server.requests)
    assert asked == ["m", "m", "own"]
    assert done.err == (
        "synthesis: 2 scenarios of 4 bring subjects of their own and ignore --model; "
        "--override-subject forces it\n"
    )


def test_one_scenario_that_ignores_the_model_is_one(evaluate: Eval) -> None:
    write(Path("s.json"), talk("a"), scenario("b"))
    with FaultyServer([ok()]) as server:
        assert (
            "1 scenario of 2 brings a subject of its own and ignores --model" in evaluate(*model(server)).err
        )


def test_override_subject_puts_the_model_in_the_place_of_every_subject(evaluate: Eval) -> None:
    with FaultyServer([ok()]) as server, FaultyServer([ok()]) as named:
        own = {"model": "anthropic:own", "base_url": named.base_url, "temperature": 0.5}
        write(Path("s.json"), talk("a"), scenario("b"), talk("c", own))
        done = evaluate(*model(server), "--override-subject")
        assert sorted(request.body.get("temperature", 0) for request in server.requests) == [0, 0, 0.5]
        assert {request.body["model"] for request in server.requests} == {"m"}
        assert named.requests == []
    assert (done.code, done.err) == (0, "")
    subjects = [entry["subject"] for entry in done.report["scenarios"]]
    assert [subject["model"] for subject in subjects] == ["openai:m"] * 3
    assert subjects[2]["base_url"] == server.base_url


def test_override_subject_needs_a_model(evaluate: Eval) -> None:
    write(Path("s.json"), scenario())
    assert "--override-subject has nothing to put in place" in evaluate("--override-subject").err


def test_the_model_may_be_named_in_the_environment(evaluate: Eval, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTHESIS_MODEL", "openai:from-environment")
    write(Path("s.json"), talk("a"), talk("b", {}))
    with FaultyServer([ok()]) as server:
        assert evaluate("--base-url", server.base_url).code == 0
        assert evaluate(*model(server), out="other").code == 0
        assert [request.body["model"] for request in server.requests] == ["from-environment"] * 2 + ["m"] * 2


def test_where_nobody_names_a_model_the_scenario_is_named(evaluate: Eval) -> None:
    write(Path("s.json"), talk("a"), talk("b", {}))
    err = evaluate().err
    assert "s.json:/scenarios/0/subject: the scenario has no subject" in err
    assert "s.json:/scenarios/1/subject: no model is named" in err
    assert err.count("--model PROVIDER:NAME") == 2


@pytest.mark.parametrize("override", [(), ("--override-subject",)])
def test_with_data_only_a_file_names_no_server(evaluate: Eval, override: tuple[str, ...]) -> None:
    with FaultyServer([ok()]) as server:
        write(Path("s.json"), talk(subject={"base_url": server.base_url}))
        done = evaluate("--model", "openai:m", "--data-only", *override)
        assert (done.code, server.requests) == (1, [])
        assert "s.json:/scenarios/0/subject/base_url: a file names a server" in done.err
        write(Path("s.json"), talk())
        assert evaluate(*model(server), "--data-only").code == 0


def test_with_data_only_a_file_adds_nothing_to_a_request(evaluate: Eval) -> None:
    write(Path("s.json"), talk(subject={"extra_body": {"top_p": 0.5}}))
    with FaultyServer([ok()]) as server:
        done = evaluate(*model(server), "--data-only")
        assert (done.code, server.requests) == (1, [])
        assert "s.json:/scenarios/0/subject/extra_body: a file adds to the request" in done.err
        assert evaluate(*model(server)).code == 0


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ({"model": "opnai:x"}, 'subject/model: "opnai:x" is not PROVIDER:NAME (did you mean "openai:…"?)'),
        ({"model": "openai:m", "temprature": 1}, 'unknown key "temprature"'),
        ({"model": "openai:m", "temperature": -1}, "/subject/temperature: "),
        ({"model": "openai:m", "max_tokens": 0}, "/subject/max_tokens: "),
        ({"model": "openai:m", "request_timeout": 3601}, "/subject/request_timeout: "),
        (
            {"model": "openai:m", "extra_body": {"model": "dear"}},
            '/subject/extra_body: "model" is not for extra_body',
        ),
        (
            {"model": "openai:m", "extra_body": {"top_p": 1, "temperature": 2, "seed": 9}},
            '"seed", "temperature" is not for extra_body',
        ),
        ({"model": "openai:m", "extra_body": {"stream": True}}, '"stream" is not for extra_body'),
        (
            {"model": "anthropic:m", "base_url": "http://h", "extra_body": {"system": "Lie."}},
            '"system" is not for extra_body',
        ),
        ({"model": "openai:m", "base_url": "http://a@h"}, "/subject/base_url: the server's URL has a name"),
        ({"model": "openai:m", "api_key": "sk-0123456789abcdef0"}, 'unknown key "api_key"'),
    ],
)
def test_a_chat_subject_with_a_mistake_is_refused_with_its_place(
    evaluate: Eval, subject: Definition, said: str
) -> None:
    write(Path("s.json"), talk(subject=subject))
    done = evaluate()
    assert (done.code, Path("run").exists()) == (1, False)
    assert said in done.err
    assert "sk-" not in done.err


# Without the extra

BLOCKED = (
    "import sys; sys.modules['httpx2'] = None; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
)


def without_extra(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED, "eval", "s.json", *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)


def test_a_missing_extra_is_named_with_what_to_install() -> None:
    write(Path("s.json"), talk("a"), talk("b"))
    done = without_extra("--model", "openai:m", "--out", "run")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("synthesis: openai:m: asking a model needs the extra [llm]\n")
    assert done.stderr.count("fix: pip install 'synthesis-harness[llm]'\n") == 1
    assert not Path("run").exists()


def test_without_the_extra_scripts_run_and_recordings_are_replayed(evaluate: Eval) -> None:
    write(Path("s.json"), talk("a"), scenario("b"))
    with FaultyServer([ok()]) as server:
        evaluate(*model(server), "--record", "kept")
        done = without_extra(*model(server), "--replay", "kept", "--out", "again")
        assert (done.returncode, len(server.requests)) == (0, 1)
    assert transcripts("run") == transcripts("again")


@pytest.mark.parametrize("option", ["--model", "--base-url", "--judge-model", "--record", "--replay"])
def test_an_option_that_is_empty_is_refused(option: str, tmp_path: Path) -> None:
    """As an unset variable of a shell makes it: it must not mean the hosted server."""
    done = synthesis("eval", option, "", cwd=tmp_path)
    assert (done.returncode, tree(tmp_path)) == (1, [])
    assert f"{option}: nothing is given" in done.stderr
