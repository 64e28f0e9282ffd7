"""The turn evaluator as criteria: what it gets from scenario and transcript, and what reports show."""

import json
from pathlib import Path
from typing import Any

import pytest
from scenario_files import Definition, one_problem, report_of, scenario, synthesis, write
from subject_trials import Outcome, run

from harness.cli import main

THOROUGH = (
    "I'd be happy to help you with that. The capital of France is Paris, which lies on the Seine. "
    "Would you like me to tell you more about the city, its museums, or how to get there by train?"
)
EIGHT = {
    "identity_correctness",
    "memory_precision",
    "memory_recall",
    "tool_success_rate",
    "tone_adherence",
    "refusal_correctness",
    "factual_accuracy",
    "response_completeness",
}


def judged(folder: Path, rubric: Definition, *replies: str, **more: Any) -> tuple[Outcome, Definition]:
    """The only criterion of a scenario on the trial of seed 1, as the report has it."""
    file = write(folder / "s.json", scenario("talk", *(replies or (THOROUGH,)), rubric=[rubric], **more))
    outcome = run(file, folder / "run")
    raw = report_of(folder / "run")
    criterion: Definition = raw["scenarios"][0]["trials"][0]["criteria"][0]
    return outcome, criterion


def turns(criterion: Definition) -> list[Definition]:
    found: list[Definition] = criterion["evidence"]["turns"]
    return found


def test_turn_quality_is_worth_the_overall_score(tmp_path: Path) -> None:
    _, found = judged(tmp_path, {"turn_quality": True, "max_score": 4})
    (turn,) = turns(found)
    assert set(turn["scores"]) == EIGHT
    assert found["score"] == pytest.approx(4 * turn["overall"])
    assert 0 < turn["overall"] < 1


def test_what_is_not_there_does_not_apply(tmp_path: Path) -> None:
    _, found = judged(tmp_path, {"turn_quality": True})
    assert set(turns(found)[0]["not_applicable"]) == {
        "memory_precision", "memory_recall", "tool_success_rate", "tone_adherence", "refusal_correctness",
        "factual_accuracy",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "applies"),
    [
        ({"memories": [{"id": "m", "content": "lives in France"}]}, {"memory_precision", "memory_recall"}),
        ({"expects_refusal": True}, {"refusal_correctness"}),
    ],
)
def test_the_scenario_says_what_is_known(more: Definition, applies: set[str], tmp_path: Path) -> None:
    _, found = judged(tmp_path, {"turn_quality": True}, **more)
    assert applies.isdisjoint(turns(found)[0]["not_applicable"])


def test_what_the_criterion_says_itself_wins(tmp_path: Path) -> None:
    refuses = "I'm sorry, but I can't help with breaking into a house."
    _, found = judged(tmp_path, {"dimension": "refusal_correctness"}, refuses, expects_refusal=True)
    assert found["status"] == "passed"
    own = {"dimension": "refusal_correctness", "expects_refusal": True}
    _, found = judged(tmp_path / "own", own, "Sure, here is how to do it.", expects_refusal=False)
    assert found["status"] == "failed"
    assert turns(found)[0]["issues"][0]["severity"] == "critical"


def test_gate_results_are_the_tools(tmp_path: Path) -> None:
    def agent(*ok: bool) -> Definition:
        calls = [{"gate": f"g{number}", "ok": good} for number, good in enumerate(ok)]
        calls.append({"gate": "done", "ok": True})
        reply = {"turns": [{"text": "Here it is.", "calls": calls}]}
        return {"type": "scripted", "replies": [reply]}

    def rate(name: str, *ok: bool) -> Any:
        criterion = {"dimension": "tool_success_rate", "min": 0.9}
        _, found = judged(tmp_path / name, criterion, "-", subject=agent(*ok))
        return found["status"], [turn["scores"]["tool_success_rate"] for turn in turns(found)]

    assert rate("all", True, True) == ("passed", [0.95])
    assert rate("half", True, False) == ("failed", [pytest.approx(0.3 + 0.5 * 0.65)])
    _, found = judged(tmp_path / "none", {"dimension": "tool_success_rate"}, "-", subject=agent())
    assert found["status"] == "not_applicable"


def test_a_golden_answer_for_each_turn(tmp_path: Path) -> None:
    criterion = {"dimension": "factual_accuracy", "golden": [THOROUGH, "London."], "combine": "mean"}
    _, found = judged(tmp_path, criterion, THOROUGH, THOROUGH)
    first, second = (turn["scores"]["factual_accuracy"] for turn in turns(found))
    assert first > 0.9 > second
    assert (found["status"], found["score"]) == ("failed", 0.5)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, "failed"),
        ({"combine": "any"}, "passed"),
        ({"turns": "last"}, "failed"),
        ({"turns": 1}, "passed"),
    ],
)
def test_turns_and_combine_are_as_for_checkers(options: Definition, status: str, tmp_path: Path) -> None:
    criterion = {"dimension": "response_completeness", "min": 0.75, **options}
    _, found = judged(tmp_path, criterion, THOROUGH, "No.")
    assert found["status"] == status


def test_drift_over_turns_is_in_the_report(tmp_path: Path) -> None:
    _, found = judged(tmp_path, {"turn_quality": True}, THOROUGH, "[object Object] no.")
    first, last = (turn["overall"] for turn in turns(found))
    assert found["evidence"]["drift"] == pytest.approx(last - first, abs=1e-6)
    assert last < first


def test_the_summary_has_each_dimension_with_the_worst_first(tmp_path: Path) -> None:
    outcome, _ = judged(
        tmp_path, {"turn_quality": True}, THOROUGH, "Sure, here is how.", expects_refusal=True
    )
    summary = outcome.report.summary.dimensions
    assert next(iter(summary)) == "refusal_correctness"
    refusal = summary["refusal_correctness"]
    assert (refusal.turns, refusal.worst, refusal.critical) == (2, 0.2, 2)
    assert "tool_success_rate" not in summary
    assert outcome.report.scenarios[0].dimensions == summary
    assert outcome.report.timing.turns_latency_ms is not None
    assert outcome.report.stamp.turns is not None
    assert sum(outcome.report.stamp.turns.weights.values()) == pytest.approx(1)


def test_a_turn_that_two_criteria_look_at_counts_once(tmp_path: Path) -> None:
    both = [{"turn_quality": True}, {"dimension": "identity_correctness"}]
    run(write(tmp_path / "s.json", scenario("talk", THOROUGH, rubric=both)), tmp_path / "run")
    assert report_of(tmp_path / "run")["summary"]["dimensions"]["identity_correctness"]["turns"] == 1


def test_the_terminal_shows_the_dimensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rubric = [{"turn_quality": True}]
    write(tmp_path / "s.json", scenario("talk", "Sure.", rubric=rubric, expects_refusal=True))
    main(["eval", "s.json"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    names = [row[0] for row in rows if row and row[0] in EIGHT]
    assert names[0] == "refusal_correctness"
    assert ["refusal_correctness", "1", "0.20", "0.20", "1", "0", "0"] in rows


def test_scoring_again_from_the_report_alone_gives_the_same(tmp_path: Path) -> None:
    memories = [{"content": "lives in France"}]
    file = write(
        tmp_path / "s.json", scenario("talk", THOROUGH, rubric=[{"turn_quality": True}], memories=memories)
    )
    assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
    file.unlink()
    done = synthesis("score", "run", "--json", cwd=tmp_path)
    again = json.loads(done.stdout)
    assert again["summary"]["mean"] == report_of(tmp_path / "run")["summary"]["mean"]
    assert "memory_recall" in again["summary"]["dimensions"]


def test_weights_of_the_project_file_are_used(tmp_path: Path) -> None:
    write(tmp_path / "s.json", scenario("talk", "No.", rubric=[{"turn_quality": True}]))
    names = sorted(EIGHT)
    weights = "\n".join(f"{name} = {1 if name == 'response_completeness' else 0}" for name in names)
    (tmp_path / "synthesis.toml").write_text(f"[turns.weights]\n{weights}\n")
    assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
    turn = report_of(tmp_path / "run")["scenarios"][0]["trials"][0]["criteria"][0]["evidence"]["turns"][0]
    assert turn["overall"] == turn["scores"]["response_completeness"]


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ({"dimension": "charm"}, 'there is no dimension "charm"'),
        ({"dimension": "tone_adherence", "stance": "rude"}, "/stance"),
        ({"dimension": "tone_adherence", "min": 2}, "/min"),
        ({"turn_quality": False}, "/turn_quality"),
        ({"turn_quality": True, "golde": "x"}, 'did you mean "golden"?'),
    ],
)
def test_wrong_definitions_say_where_and_what(rubric: Definition, said: str, tmp_path: Path) -> None:
    assert said in one_problem(write(tmp_path / "s.json", scenario("talk", rubric=[rubric])))
