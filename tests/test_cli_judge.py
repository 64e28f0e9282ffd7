"""Judges through the real command: in the report, in the exit code, and not asked twice."""

import json
from pathlib import Path

import pytest
from faulty_server import Behaviour, FaultyServer, Request, hang, ok, status, wrong_json
from judges import first_trial, judged, kind, no_clock
from scenario_files import report_of, scenario, synthesis, trials, write

from harness.judge_prompt import prompt_version
from harness.run_report import RunReport

GOOD = '{"score": 4, "reason": "warm"}'
PLANTED = "sk-planted-4f8a0c1b2d3e4f5a"
KNOWN = "planted-4f8a0c1b2d3e4f5a"
"""Looks like no key: only who knows it can keep it back."""


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ([ok(GOOD)], 4),
        ([ok(f"```json\n{GOOD}\n```")], 4),
        ([ok(f"Well, {GOOD}")], 4),
        ([ok("4")], 4),
        ([ok("9"), ok('{"score": -1}'), ok(GOOD)], 4),
        ([status(429, headers={"Retry-After": "0"}), ok(GOOD)], 4),
    ],
)
def test_points_of_a_judge_are_part_of_the_score(tmp_path: Path, said: list[Behaviour], score: float) -> None:
    with FaultyServer(said) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        result = synthesis("eval", "s.json", "--out", "run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    report = report_of(tmp_path / "run")
    RunReport.model_validate(report)
    trial = first_trial(tmp_path / "run")
    assert (kind(trial)["score"], kind(trial)["max_score"], kind(trial)["status"]) == (score, 5, "failed")
    assert trial["score"] == pytest.approx((1 + score) / 6, abs=1e-6)
    assert len(kind(trial)["evidence"]["attempts"]) == trial["judge_usage"]["requests"] == len(said)
    assert report["stamp"]["judges"] == {"openai:judge": prompt_version()}
    assert report["scenarios"][0]["rubric"][1]["judge_model"] == {
        "model": "openai:judge",
        "base_url": server.base_url,
    }


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (ok('{"score": 6}'), "kind: no score in 3 answers; the last: the score 6 is not between 0 and 5"),
        (hang(), "no answer after 0.3 s"),
        (wrong_json(), "the answer is not JSON"),
        (status(404), "refused: 404"),
    ],
)
def test_a_judge_without_a_score_is_an_error_and_the_command_says_so(
    tmp_path: Path, said: Behaviour, told: str
) -> None:
    with FaultyServer([said]) as server:
        seconds = 0.3 if "no answer after" in told else 30
        write(tmp_path / "s.json", judged("a", server.base_url, options={"request_timeout": seconds}))
        result = synthesis("eval", "s.json", "--out", "run", cwd=tmp_path)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    trial = first_trial(tmp_path / "run")
    assert (trial["status"], trial["score"]) == ("error", None)
    assert told in trial["error"]
    assert (kind(trial)["status"], kind(trial)["pass"], kind(trial)["score"]) == ("error", None, None)
    assert kind(trial)["evidence"]["attempts"]
    summary = report_of(tmp_path / "run")["summary"]
    assert (summary["mean"], summary["errors"], summary["complete"]) == (None, 1, False)


def test_only_what_came_to_no_score_is_asked_when_the_run_goes_on(tmp_path: Path) -> None:
    broken = [True]

    def script(request: Request) -> Behaviour:
        about_b = "reply of b" in request.body["messages"][-1]["content"]
        return ok("no idea" if about_b and broken[0] else GOOD)

    with FaultyServer(script) as server:
        two = [judged("a", server.base_url), judged("b", server.base_url)]
        two[1]["subject"] = {"type": "scripted", "replies": ["hello, reply of b"]}
        write(tmp_path / "s.json", *two)
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 1
        assert len(server.requests) == 4
        broken[0] = False
        assert synthesis("eval", "s.json", "--resume", "run", cwd=tmp_path).returncode == 0
        assert len(server.requests) == 5
    assert [trial["status"] for _, _, trial in trials(report_of(tmp_path / "run"))] == ["scored", "scored"]


def test_a_judge_cannot_hold_up_a_run(tmp_path: Path) -> None:
    with FaultyServer([hang()]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url, options={"request_timeout": 3000}))
        result = synthesis("eval", "s.json", "--out", "run", "--timeout", "1", cwd=tmp_path)
    assert result.returncode == 1
    assert first_trial(tmp_path / "run")["error"] == "kind: not judged after 1 s"
    assert first_trial(tmp_path / "run")["judge_usage"]["requests"] == 1


def test_two_runs_give_the_same_report(tmp_path: Path) -> None:
    reports = []
    with FaultyServer([ok(GOOD, request_id="req")]) as server:
        write(
            tmp_path / "s.json", judged("a", server.base_url), judged("b", server.base_url, judge_repeats=3)
        )
        for seed in ("1", "2"):
            env = {"PYTHONHASHSEED": seed}
            assert synthesis("eval", "s.json", "--out", seed, cwd=tmp_path, env=env).returncode == 0
            reports.append(no_clock(report_of(tmp_path / seed)))
    assert reports[0] == reports[1]


def indiscreet(request: Request) -> Behaviour:
    return ok(json.dumps({"score": 4, "reason": f"your key is {request.key}"}))


def test_a_key_that_a_judge_tells_is_written_nowhere(tmp_path: Path) -> None:
    with FaultyServer(indiscreet) as server:
        write(tmp_path / "s.json", judged("a", None))
        env = {"OPENAI_API_KEY": PLANTED, "OPENAI_BASE_URL": server.base_url}
        result = synthesis("eval", "s.json", "--out", "run", cwd=tmp_path, env=env)
        assert [request.key for request in server.requests] == [f"Bearer {PLANTED}"]
    assert result.returncode == 0, result.stderr
    written = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert any(path.parent.name == "judgments" for path in written)
    assert b"your key is" in (tmp_path / "run" / "report.json").read_bytes()
    for text in [result.stdout, result.stderr, *(path.read_text("utf-8") for path in written)]:
        assert PLANTED not in text


def spelt_out(request: Request) -> Behaviour:
    """The key once more, in a way in which no JSON text holds it as it is."""
    hidden = "".join(f"\\u{ord(char):04x}" for char in str(request.key).removeprefix("Bearer "))
    return ok(
        f'{{"score": 9, "reason": "{hidden}"}}'
        if request.number < 3
        else f'{{"score": 4, "reason": "is {hidden}"}}'
    )


def test_a_key_that_a_judge_spells_out_is_not_shown_either(tmp_path: Path) -> None:
    with FaultyServer(spelt_out) as server:
        write(tmp_path / "s.json", judged("a", None))
        env = {"OPENAI_API_KEY": KNOWN, "OPENAI_BASE_URL": server.base_url, "COLUMNS": "300"}
        result = synthesis("eval", "s.json", "--out", "run", cwd=tmp_path, env=env)
        again = synthesis("score", "run", cwd=tmp_path, env=env)
    assert result.returncode == again.returncode == 0
    for text in (result.stdout, again.stdout):
        assert "4 of 5: is [key]" in text
        assert KNOWN not in text
    assert kind(first_trial(tmp_path / "run"))["reason"] == "4 of 5: is [key]"


def test_no_key_goes_to_a_server_that_a_file_names_and_strangers_name_none(tmp_path: Path) -> None:
    with FaultyServer([ok(GOOD)]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        env = {"OPENAI_API_KEY": PLANTED}
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path, env=env).returncode == 0
        assert [request.key for request in server.requests] == [None]
        result = synthesis("eval", "s.json", "--data-only", "--out", "other", cwd=tmp_path, env=env)
        assert len(server.requests) == 1
    assert (result.returncode, (tmp_path / "other").exists()) == (1, False)
    assert "a file names a server" in result.stderr


def test_nobody_to_ask_is_told_before_anything_runs(tmp_path: Path) -> None:
    rubric = [{"judge": "Score kindness.", "name": "kind"}]
    write(tmp_path / "s.json", scenario("a", rubric=rubric))
    result = synthesis("eval", "s.json", "--out", "run", cwd=tmp_path)
    assert (result.returncode, result.stdout, (tmp_path / "run").exists()) == (1, "", False)
    assert 'no model judges "kind"' in result.stderr
    assert "--judge-model" in result.stderr
