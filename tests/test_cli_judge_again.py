"""Judges when a run is scored again or gone on with: nobody is asked twice, or without being told to."""

import json
import shlex
from pathlib import Path

from faulty_server import FaultyServer, ok
from judges import first_trial, judged, kind, no_clock
from scenario_files import Definition, report_of, scenario, synthesis, trials, write

GOOD = '{"score": 4, "reason": "warm"}'
KEY = "sk-planted-4f8a0c1b2d3e4f5a"


def test_scoring_again_and_going_on_ask_nobody_and_say_the_same(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with FaultyServer([ok("x"), ok(GOOD), ok("3"), ok("2"), ok("5")]) as server:
        write(
            tmp_path / "s.json", judged("a", server.base_url, judge_repeats=2), judged("b", server.base_url)
        )
        assert synthesis("eval", "s.json", "--jobs", "1", "--out", "run", cwd=tmp_path).returncode == 0
        asked = len(server.requests)
        assert asked == 4
        first = report_of(run)
        assert synthesis("score", "run", cwd=tmp_path).returncode == 0
        (again,) = run.glob("report-*.json")
        assert no_clock(json.loads(again.read_bytes())) == no_clock(first)
        assert synthesis("eval", "s.json", "--resume", "run", cwd=tmp_path).returncode == 0
        assert no_clock(report_of(run)) == no_clock(first)
        (tmp_path / "s.json").unlink()
        assert synthesis("score", "run", cwd=tmp_path).returncode == 0
        assert list(run.glob("report-*.json")) == [again], "the rubric in the report is the same rubric"
        assert len(server.requests) == asked
    assert synthesis("score", "run", cwd=tmp_path).returncode == 0, "nor is the server needed any more"


def test_a_changed_text_asks_again_without_running_anything(tmp_path: Path) -> None:
    with FaultyServer([ok(GOOD), ok("1")]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
        write(tmp_path / "s.json", judged("a", server.base_url, judge="Score brevity."))
        assert synthesis("score", "run", "--ask-judges", cwd=tmp_path).returncode == 0
        assert len(server.requests) == 2
    assert kind(scored_again(tmp_path / "run"))["score"] == 1


def scored_again(run: Path) -> Definition:
    """The only trial of the only report that scoring again has written."""
    (report,) = run.glob("report-*.json")
    (found,) = (trial for _, _, trial in trials(json.loads(report.read_bytes())))
    return found


def test_scoring_again_asks_nobody_unless_it_is_told_to(tmp_path: Path) -> None:
    """The report of a stranger names judges; the key that would pay them is ours."""
    run = tmp_path / "run"
    with FaultyServer([ok(GOOD)]) as server:
        write(tmp_path / "s.json", judged("a", None))
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path, env=env).returncode == 0
        (tmp_path / "s.json").unlink()
        (kept,) = (run / "judgments").iterdir()
        kept.unlink()
        result = synthesis("score", "run", cwd=tmp_path, env=env)
        assert len(server.requests) == 1
        assert result.returncode == 1
        assert "kind: not asked: no judgment is kept; add --ask-judges" in result.stdout
        assert (kind(scored_again(run))["status"], kind(scored_again(run))["score"]) == ("error", None)
        assert synthesis("score", "run", "--ask-judges", cwd=tmp_path, env=env).returncode == 0
        assert len(server.requests) == 2
    assert kind(scored_again(run))["score"] == 4


def test_asking_when_scoring_again_keeps_to_a_budget(tmp_path: Path) -> None:
    with FaultyServer([ok(GOOD)]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url), judged("b", server.base_url))
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
        for kept in (tmp_path / "run" / "judgments").iterdir():
            kept.unlink()
        unpriced = synthesis("score", "run", "--ask-judges", "--max-cost", "1", cwd=tmp_path)
        assert len(server.requests) == 2
        assert (unpriced.returncode, unpriced.stdout) == (1, "")
        assert "--max-cost: there is no price for openai:judge" in unpriced.stderr
        result = synthesis("score", "run", "--ask-judges", "--max-tokens", "1", cwd=tmp_path)
        assert len(server.requests) == 3
    assert result.returncode == 1
    assert "INCOMPLETE: 1 was not run (--max-tokens is reached)" in result.stdout
    (again,) = (tmp_path / "run").glob("report-*.json")
    assert json.loads(again.read_bytes())["summary"]["stopped"] == "max-tokens"


def test_scoring_again_finds_the_judge_that_only_the_command_line_named(tmp_path: Path) -> None:
    rubric = [
        {"name": "kind", "judge": "Score kindness.", "max_score": 5},
        {"name": "own", "judge": "Score brevity.", "judge_model": "anthropic:other"},
        {"judge": "Score it.", "judge_model": {"max_tokens": 9}},
    ]
    run = tmp_path / "run"
    with FaultyServer([ok("1")]) as server:
        write(tmp_path / "s.json", scenario("a", rubric=rubric))
        env = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.origin}
        named = ["--judge-model", "openai:x", "--judge-base-url", server.base_url]
        done = synthesis("eval", "s.json", "--out", "run", *named, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("next: ")]
        program, *arguments = shlex.split(line.removeprefix("next: "), comments=True)
        assert (program, arguments) == ("synthesis", ["score", "run"])
        first = report_of(run)
        for order in (rubric, [rubric[1], rubric[0], rubric[2]]):
            write(tmp_path / "s.json", scenario("a", rubric=order))
            result = synthesis(*arguments, cwd=tmp_path, env={"ANTHROPIC_BASE_URL": server.origin})
            assert (result.returncode, result.stderr) == (0, "")
        assert len(server.requests) == 3
    found = [json.loads(path.read_bytes()) for path in run.glob("report-*.json")]
    assert no_clock(first) in [no_clock(report) for report in found]
    assert {trial["score"] for report in [first, *found] for _, _, trial in trials(report)} == {
        first_trial(run)["score"]
    }


def test_a_judge_that_was_named_nowhere_then_and_now_is_told(tmp_path: Path) -> None:
    write(tmp_path / "s.json", scenario("a"))
    assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
    write(tmp_path / "s.json", scenario("a", rubric=[{"judge": "Score it.", "name": "kind"}]))
    result = synthesis("score", "run", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert 'no model judges "kind"' in result.stderr


def test_a_stranger_s_report_names_no_server_when_only_data_is_trusted(tmp_path: Path) -> None:
    with FaultyServer([ok(GOOD)]) as server:
        write(tmp_path / "s.json", judged("a", server.base_url))
        assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
        (tmp_path / "s.json").unlink()
        assert synthesis("score", "run", cwd=tmp_path).returncode == 0
        result = synthesis("score", "run", "--data-only", "--ask-judges", cwd=tmp_path)
        assert len(server.requests) == 1
    assert (result.returncode, result.stdout) == (1, "")
    assert "a file names a server" in result.stderr
