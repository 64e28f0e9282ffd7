"""Replies given as data: which are said under which seed, and what an agent's turns leave behind."""

from pathlib import Path
from typing import Any

import pytest
from subject_trials import Outcome, run, scenario, write_scenarios

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios


def scripted(replies: object) -> dict[str, object]:
    return {"type": "scripted", "replies": replies}


def talk(folder: Path, replies: object, prompt: str | list[str] = "hello", **more: object) -> Outcome:
    file = write_scenarios(folder / "s", scenario(scripted(replies), prompt, **more))
    return run(file, folder / "run")


def test_a_flat_list_is_successive_turns_under_every_seed(tmp_path: Path) -> None:
    outcome = talk(tmp_path, ["one", "two"], ["a", "b"], seeds=[0, 1, 7])
    assert [outcome.said(seed=seed) for seed in (0, 1, 7)] == [["one", "two"]] * 3
    assert outcome.end(seed=7)["result"] == "two"
    assert outcome.end(seed=7)["terminated"] is True


def test_a_list_of_lists_goes_round_by_seed(tmp_path: Path) -> None:
    outcome = talk(tmp_path, [["first"], ["second"], ["third"]], seeds=[0, 1, 2, 3, 4])
    assert [outcome.said(seed=seed)[0] for seed in (1, 2, 3, 4)] == ["first", "second", "third", "first"]
    assert outcome.said(seed=0) == ["third"]


def test_a_map_goes_by_seed_and_has_no_others(tmp_path: Path) -> None:
    outcome = talk(tmp_path, {"1": ["one"], "30": ["thirty"]}, seeds=[1, 2, 30])
    assert (outcome.said(seed=1), outcome.said(seed=30)) == (["one"], ["thirty"])
    assert outcome.error(seed=2) == ("script", "there are no replies for seed 2")
    assert outcome.report.summary.errors == 1


def test_running_out_of_replies_is_an_error_not_a_score(tmp_path: Path) -> None:
    outcome = talk(tmp_path, ["only one"], ["a", "b"])
    assert outcome.error() == ("script", "the script has 1 replies, and one more was asked for")
    assert outcome.said() == ["only one"]


def test_replies_left_over_are_fine(tmp_path: Path) -> None:
    assert talk(tmp_path, ["one", "two"]).said() == ["one"]


AGENT: dict[str, Any] = {
    "turns": [
        {
            "text": "Let me look.",
            "calls": [
                {"gate": "read_file", "arguments": {"path": "a"}, "result": "alpha"},
                {"gate": "send", "ok": False},
            ],
        },
        {
            "text": "",
            "code": "child()",
            "medium": "code",
            "child": {
                "medium": "bash",
                "prompt": "list",
                "turns": [
                    {"text": "ls", "calls": [{"gate": "shell", "result": "a"}]},
                    {"text": "inner", "child": {"turns": [{"text": "grandchild"}], "terminated": False}},
                ],
                "result": ["a"],
            },
        },
        {"text": "Alpha."},
    ],
}


def test_an_agents_turns_calls_and_children_are_recorded_under_their_parents(tmp_path: Path) -> None:
    outcome = talk(tmp_path, [AGENT, "You are welcome."], ["a", "b"])
    told = [
        (event["seq"], event["type"], event["turn"], event["parent"], event.get("text", event.get("gate")))
        for event in outcome.events()
    ]
    assert told == [
        (0, "start", 0, None, None),
        (1, "user", 1, None, "a"),
        (2, "assistant", 1, None, "Let me look."),
        (3, "gate_call", 1, None, "read_file"),
        (4, "observation", 1, None, "read_file"),
        (5, "gate_call", 1, None, "send"),
        (6, "observation", 1, None, "send"),
        (7, "assistant", 1, None, ""),
        (8, "child_start", 1, None, None),
        (9, "assistant", 1, 8, "ls"),
        (10, "gate_call", 1, 8, "shell"),
        (11, "observation", 1, 8, "shell"),
        (12, "assistant", 1, 8, "inner"),
        (13, "child_start", 1, 8, None),
        (14, "assistant", 1, 13, "grandchild"),
        (15, "child_end", 1, 13, None),
        (16, "child_end", 1, 8, None),
        (17, "assistant", 1, None, "Alpha."),
        (18, "user", 2, None, "b"),
        (19, "assistant", 2, None, "You are welcome."),
        (20, "end", 2, None, None),
    ]
    events = outcome.events()
    assert (events[3]["arguments"], events[4]["ok"], events[4]["result"]) == ({"path": "a"}, True, "alpha")
    assert (events[6]["ok"], events[6]["result"]) == (False, None)
    assert (events[7]["code"], events[7]["medium"]) == ("child()", "code")
    assert (events[8]["medium"], events[8]["prompt"]) == ("bash", "list")
    assert (events[15]["reason"], events[15]["terminated"]) == ("ward", False)
    assert (events[16]["reason"], events[16]["terminated"], events[16]["result"]) == ("done", True, ["a"])


@pytest.mark.parametrize(
    ("more", "reason", "terminated", "result"),
    [
        ({}, "completed", True, "Alpha."),
        ({"result": {"n": 1}}, "completed", True, {"n": 1}),
        ({"terminated": False}, "ward", False, "Alpha."),
    ],
)
def test_how_an_agent_ends(
    tmp_path: Path, more: dict[str, object], reason: str, terminated: bool, result: object
) -> None:
    outcome = talk(
        tmp_path, [{**AGENT, **more}, "never" if not terminated else {**AGENT, **more}], ["a", "b"]
    )
    end = outcome.end()
    assert (end["reason"], end["terminated"], end["result"]) == (reason, terminated, result)
    assert len([event for event in outcome.events() if event["type"] == "user"]) == (2 if terminated else 1)


def test_a_changed_script_runs_again_and_an_unchanged_one_does_not(tmp_path: Path) -> None:
    outcome = talk(tmp_path, ["one"])
    path = outcome.place.transcripts / "talk-1.jsonl"
    written = path.stat().st_mtime_ns
    run(tmp_path / "s" / "talks.json", tmp_path / "run", resume=True)
    assert path.stat().st_mtime_ns == written
    file = write_scenarios(tmp_path / "s", scenario(scripted(["two"])))
    assert run(file, tmp_path / "run", resume=True).said() == ["two"]


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path / "s", scenario(scripted([AGENT])))
    assert run(file, tmp_path / "first").raw() == run(file, tmp_path / "second").raw()


def test_it_is_data_and_allowed_where_only_data_is(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path / "s", scenario(scripted(["x"])))
    assert len(load_scenarios([file], LoadOptions(data_only=True))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {},
        "one",
        [["one"], "two"],
        [1],
        {"first": ["one"]},
        [{"turns": []}],
        [{"turns": [{"txt": "x"}]}],
        [{"turns": [{"text": "x", "medium": "mime"}]}],
    ],
)
def test_what_is_no_script_is_said_before_anything_runs(tmp_path: Path, wrong: object) -> None:
    file = write_scenarios(tmp_path / "s", scenario(scripted(wrong)))
    with pytest.raises(SynthesisError, match=r"/scenarios/0/subject/replies"):
        load_scenarios([file])
