"""The agent's loop: it speaks, acts and sees, until it is done or a ward ends it; so do its children."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from agents import agent, call, done, evaluated, of_type, outline, perform, python_file, results, script, turn
from scenario_files import one_problem, synthesis
from subject_trials import scenario, write_scenarios

from harness.conclude import read_report
from harness.load import LoadOptions, load_scenarios
from harness.rescore import RescoreOptions, rescore
from harness.sandbox import strongest
from harness.subjects.agent import Agent
from harness.wards import Wards

READ = call("read_file", path="note.txt")


def cast(prompt: str = "Read.", **more: Any) -> dict[str, Any]:
    return call("cast", prompt=prompt, **more)


def test_it_speaks_acts_and_sees_until_it_is_done(tmp_path: Path) -> None:
    subject = agent(turn(READ, text="I look."), done("alpha"), "never said", gates=["read_file"])
    outcome = perform(tmp_path, subject)
    assert outline(outcome.events()) == [
        (None, "user", "hello"),
        (None, "assistant", "I look.", None),
        (None, "gate_call", "read_file", {"path": "note.txt"}),
        (None, "observation", "read_file", True, "alpha\nbeta\n"),
        (None, "assistant", "", None),
        (None, "gate_call", "done", {"result": "alpha"}),
        (None, "observation", "done", True, "alpha"),
        (None, "assistant", "alpha", None),
    ]
    end = outcome.end()
    assert (end["reason"], end["terminated"], end["result"], "ward" in end) == (
        "completed", True, "alpha", False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "result", "last_words"),
    [
        ("alpha", "alpha", ["alpha"]),
        ("It is:", "alpha", ["It is:", "alpha"]),
        ("Bye.", None, ["Bye."]),
        ("Bye.", "", ["Bye."]),
        ("", {"b": [1, True], "a": None}, ["", '{"a":null,"b":[1,true]}']),
        ("", 0, ["", "0"]),
        ("", False, ["", "false"]),
    ],
)
def test_what_is_handed_to_done_is_the_result_and_is_told_once(
    said: str, result: Any, last_words: list[str], tmp_path: Path
) -> None:
    outcome = perform(tmp_path, agent(turn(call("done", result=result), text=said)))
    assert outcome.said() == last_words
    assert outcome.end()["result"] == result
    assert outcome.end()["terminated"]


def test_nothing_is_called_after_done(tmp_path: Path) -> None:
    write = call("write_file", path="late.txt", text="x")
    outcome = perform(
        tmp_path, agent(turn(call("done", result=1), write, call("done", result=2)), gates=["write_file"])
    )
    assert [event["gate"] for event in of_type(outcome, "gate_call")] == ["done"]
    assert outcome.end()["result"] == 1
    assert not (outcome.workspace() / "late.txt").exists()


def test_several_calls_are_made_in_their_order(tmp_path: Path) -> None:
    write = call("write_file", path="note.txt", text="new")
    subject = agent(turn(READ, write, READ), done(1), gates=["read_file", "write_file"])
    assert results(perform(tmp_path, subject), "read_file") == [(True, "alpha\nbeta\n"), (True, "new")]


def test_max_turns_ends_one_that_only_talks(tmp_path: Path) -> None:
    rubric = [{"terminated": False}, {"contains": "three"}]
    subject = agent("one", "two", "three", "four", wards={"max_turns": 3})
    outcome = perform(tmp_path, subject, rubric=rubric)
    assert outcome.said() == ["one", "two", "three"]
    end = outcome.end()
    assert (end["reason"], end["ward"], end["terminated"], end["result"]) == (
        "ward",
        "max_turns",
        False,
        None,
    )
    (trial,) = outcome.report.scenarios[0].trials
    assert (trial.status, trial.score, trial.terminated) == ("scored", 0.5, False)


def test_done_in_the_last_turn_is_in_time(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent("one", done("two"), wards={"max_turns": 2}))
    assert outcome.end()["terminated"]


def test_max_seconds_ends_one_that_waits(tmp_path: Path) -> None:
    functions = "import asyncio\nasync def wait():\n    await asyncio.sleep(300)\n"
    subject = agent(turn(call("wait"), text="I wait."), wards={"max_seconds": 0.2})
    file = python_file(tmp_path, functions, f"{subject} | {{'gates': [wait]}}")
    outcome = evaluated(file, tmp_path / "run")
    assert (outcome.end()["reason"], outcome.end()["ward"]) == ("ward", "max_seconds")
    assert outcome.said() == ["I wait."]
    assert results(outcome, "wait") == []


def test_wards_are_for_each_message_of_the_persons(tmp_path: Path) -> None:
    subject = agent("a", done(1), "b", done(2), "c", "d", "e", wards={"max_turns": 2})
    outcome = perform(tmp_path, subject, ["one", "two", "three", "four"])
    turns = [(event["turn"], event["text"]) for event in of_type(outcome, "assistant")]
    assert turns == [(1, "a"), (1, ""), (1, "1"), (2, "b"), (2, ""), (2, "2"), (3, "c"), (3, "d")]
    assert [event["text"] for event in of_type(outcome, "user")] == ["one", "two", "three"]
    assert outcome.end()["ward"] == "max_turns"


def test_a_script_that_runs_out_is_an_error_and_no_score(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent(turn(READ), gates=["read_file"]))
    assert outcome.error() == ("script", "the script has 1 answers, and one more was asked for")


def test_a_trial_that_takes_too_long_is_an_error_and_no_score(tmp_path: Path) -> None:
    functions = "import asyncio\nasync def wait():\n    await asyncio.sleep(300)\n"
    file = python_file(tmp_path, functions, f"{agent(turn(call('wait')))} | {{'gates': [wait]}}")
    outcome = evaluated(file, tmp_path / "run", timeout=0.3)
    assert outcome.error() == ("timeout", "not finished after 0.3 s")


def test_a_gate_that_is_not_there_was_not_used(tmp_path: Path) -> None:
    rubric = [{"gate_used": "read_file"}]
    outcome = perform(tmp_path, agent(turn(READ), done("?")), rubric=rubric)
    assert [event["gate"] for event in of_type(outcome, "gate_call")] == ["read_file", "done"]
    assert results(outcome, "read_file") == []
    assert outcome.report.scenarios[0].trials[0].score == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "read_file: path: Field required"),
        ({"path": 5}, "read_file: path: Input should be a valid string"),
        ({"path": "note.txt", "mode": "r"}, "read_file: mode: Extra inputs are not permitted"),
        ({"path": "../1/note.txt"}, 'the path "../1/note.txt" is refused: it leads out of the workspace'),
        (
            {"path": "/etc/passwd"},
            'the path "/etc/passwd" is refused: it is absolute; give it relative to the workspace',
        ),
        ({"path": "none.txt"}, '"none.txt": it does not exist'),
    ],
)
def test_what_a_gate_refuses_is_seen_and_the_trial_goes_on(
    arguments: dict[str, Any], why: str, tmp_path: Path
) -> None:
    outcome = perform(tmp_path, agent(turn(call("read_file", **arguments)), done("?"), gates=["read_file"]))
    assert results(outcome, "read_file") == [(False, why)]
    assert outcome.end()["terminated"]


def test_a_refused_done_does_not_end_it(tmp_path: Path) -> None:
    outcome = perform(tmp_path, agent(turn(call("done", answer="alpha")), done("beta")))
    assert [ok for ok, _ in results(outcome, "done")] == [False, True]
    assert outcome.end()["result"] == "beta"


def test_no_file_gate_leaves_the_workspace_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("alpha secret")
    functions = (
        "def link(context):\n"
        f"    (context.workspace / 'out').symlink_to({str(tmp_path)!r})\n"
        f"    (context.workspace / 'file').symlink_to({str(tmp_path / 'secret.txt')!r})\n"
    )
    calls = [
        call("link"),
        call("read_file", path="out/secret.txt"),
        call("read_file", path="file"),
        call("write_file", path="out/new.txt", text="x"),
        call("write_file", path="file", text="x"),
        call("list_dir", path="out"),
        call("search", pattern="secret"),
    ]
    gates = "['read_file', 'write_file', 'list_dir', 'search', link]"
    file = python_file(tmp_path, functions, f"{agent(turn(*calls), done(1))} | {{'gates': {gates}}}")
    outcome = evaluated(file, tmp_path / "run")
    given = [(event["gate"], event["ok"]) for event in of_type(outcome, "observation")]
    assert given == [
        ("link", True), ("read_file", False), ("read_file", False), ("write_file", False),
        ("write_file", False), ("list_dir", False), ("search", True), ("done", True),
    ]  # fmt: skip
    assert results(outcome, "search") == [(True, [])]
    assert (tmp_path / "secret.txt").read_text() == "alpha secret"
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([[done("a")], [done("b")]], {1: "a", 2: "b", 3: "a"}),
        ({"1": [done("a")], "2": [done("b")], "3": [done("c")]}, {1: "a", 2: "b", 3: "c"}),
    ],
)
def test_a_scripted_model_goes_by_seed(replies: Any, said: dict[int, str], tmp_path: Path) -> None:
    subject = {"type": "agent", "model": {"replies": replies}}
    outcome = perform(tmp_path, subject, seeds=3)
    assert {seed: outcome.end(seed=seed)["result"] for seed in (1, 2, 3)} == said


def test_a_seed_without_a_script_is_an_error(tmp_path: Path) -> None:
    subject = {"type": "agent", "model": {"replies": {"1": [done("a")]}}}
    outcome = perform(tmp_path, subject, seeds=2)
    assert outcome.error(seed=2) == ("script", "there are no replies for seed 2")
    assert outcome.end(seed=1)["terminated"]


# Children


def test_a_childs_turns_are_grafted_in_where_it_was_cast(tmp_path: Path) -> None:
    child = script(turn(READ, text="I read."), done("alpha"))
    subject = agent(turn(cast()), done("seen"), gates=["read_file", "cast"], children=[child])
    outcome = perform(tmp_path, subject)
    assert outline(outcome.events()) == [
        (None, "user", "hello"),
        (None, "assistant", "", None),
        (None, "gate_call", "cast", {"prompt": "Read."}),
        (None, "child_start", "conversation", "Read."),
        (4, "assistant", "I read.", None),
        (4, "gate_call", "read_file", {"path": "note.txt"}),
        (4, "observation", "read_file", True, "alpha\nbeta\n"),
        (4, "assistant", "", None),
        (4, "gate_call", "done", {"result": "alpha"}),
        (4, "observation", "done", True, "alpha"),
        (4, "child_end", "done", "alpha"),
        (None, "observation", "cast", True, "alpha"),
        (None, "assistant", "", None),
        (None, "gate_call", "done", {"result": "seen"}),
        (None, "observation", "done", True, "seen"),
        (None, "assistant", "seen", None),
    ]
    assert outcome.end()["result"] == "seen"


def test_a_childs_child_stands_under_its_own_parent(tmp_path: Path) -> None:
    grandchild = script(done("deep"))
    child = script(turn(cast("Further.")), done("from below"), children=[grandchild])
    outcome = perform(tmp_path, agent(turn(cast()), done(1), gates=["cast"], children=[child]))
    starts = {event["seq"]: event["parent"] for event in of_type(outcome, "child_start")}
    first, second = starts
    assert starts == {first: None, second: first}
    ends = [(event["parent"], event["result"]) for event in of_type(outcome, "child_end")]
    assert ends == [(second, "deep"), (first, "from below")]


def test_criteria_tell_children_from_parents(tmp_path: Path) -> None:
    rubric = [
        {"name": "any", "gate_used": "read_file"},
        {"name": "own", "gate_used": "read_file", "scope": "parent"},
        {"name": "cast", "gate_used": "cast", "scope": "parent"},
        {"name": "code", "child_medium_used": "code"},
        {"name": "bash", "child_medium_used": "bash"},
        {"name": "talk", "child_medium_used": "conversation"},
        {"name": "import", "forbid_code_contains": "import os"},
        {"name": "own import", "forbid_code_contains": "import os", "scope": "parent"},
    ]
    child = script({"code": "import os\ndone(read_file('note.txt'))"})
    subject = agent(
        {"code": "cast('Read.', medium='code')"}, {"code": "done(1)"},
        medium="code", gates=["read_file", "cast"], children=[child],
    )  # fmt: skip
    (trial,) = perform(tmp_path, subject, rubric=rubric).report.scenarios[0].trials
    assert {score.name: score.passed for score in trial.criteria} == {
        "any": True, "own": False, "cast": True, "code": True, "bash": False, "talk": False,
        "import": False, "own import": True,
    }  # fmt: skip


def test_each_child_takes_the_next_script_and_one_too_many_is_an_error(tmp_path: Path) -> None:
    children = [script(done("first")), script(done("second"))]
    subject = agent(turn(cast(), cast(), cast()), gates=["cast"], children=children)
    outcome = perform(tmp_path, subject)
    assert results(outcome, "cast") == [(True, "first"), (True, "second")]
    assert outcome.error() == ("script", "the script has 2 children, and one more was cast")


def test_a_child_has_the_gates_it_is_given_and_no_others(tmp_path: Path) -> None:
    child = script(turn(READ, call("list_dir")), done(1))
    gates = ["read_file", "list_dir", "cast"]
    outcome = perform(tmp_path, agent(turn(cast(gates=["list_dir"])), done(1), gates=gates, children=[child]))
    assert results(outcome, "read_file") == []
    assert results(outcome, "list_dir") == [(True, ["note.txt"])]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"gates": ["write_file"]}, "you have no gate write_file to give to a child"),
        ({"gates": ["read_file", "nothing", "run"]}, "you have no gate nothing, run to give to a child"),
        ({"medium": "bash"}, "you have no gate run to give to a child"),
        ({"medium": "bash", "gates": ["run"]}, "you have no gate run to give to a child"),
        ({"medium": "smoke"}, "cast: medium: Input should be 'conversation', 'code' or 'bash'"),
        ({"wards": {"max_turns": 0}}, "cast: wards/max_turns: Input should be greater than or equal to 1"),
        ({"wards": {"max_depth": -1}}, "cast: wards/max_depth: Input should be greater than or equal to 0"),
    ],
)
def test_a_child_never_gets_what_its_parent_does_not_have(
    arguments: dict[str, Any], why: str, tmp_path: Path
) -> None:
    subject = agent(turn(cast(**arguments)), done(1), gates=["read_file", "cast"], children=[script(done(1))])
    outcome = perform(tmp_path, subject)
    assert results(outcome, "cast") == [(False, why)]
    assert of_type(outcome, "child_start") == []
    assert outcome.end()["terminated"]


def test_a_child_cannot_hand_on_what_it_was_not_given(tmp_path: Path) -> None:
    child = script(turn(cast(gates=["read_file"])), done("refused"))
    subject = agent(turn(cast(gates=["cast"])), done(1), gates=["read_file", "cast"], children=[child])
    outcome = perform(tmp_path, subject)
    assert results(outcome, "cast")[0] == (False, "you have no gate read_file to give to a child")


@pytest.mark.parametrize(
    ("depth", "asked", "reached"), [(0, 8, 0), (1, 8, 1), (2, 8, 2), (2, 1, 2), (3, 0, 1)]
)
def test_no_child_is_cast_beyond_max_depth(depth: int, asked: int, reached: int, tmp_path: Path) -> None:
    model: dict[str, Any] = script(done("bottom"))
    for _ in range(4):
        model = script(turn(cast(wards={"max_depth": asked})), done("up"), children=[model])
    subject = {"type": "agent", "model": model, "gates": ["cast"], "wards": {"max_depth": depth}}
    outcome = perform(tmp_path, subject)
    assert len(of_type(outcome, "child_start")) == reached
    refusals = [result for ok, result in results(outcome, "cast") if not ok]
    assert refusals == ["no child can be cast from here: max_depth is reached"]


def test_a_child_has_no_more_than_its_parents_wards() -> None:
    parent = Wards(max_turns=4, max_depth=2, max_seconds=10)
    assert parent.for_child(Wards(max_turns=9, max_depth=8, max_seconds=99)) == Wards(
        max_turns=4, max_depth=1, max_seconds=10
    )
    assert parent.for_child(Wards(max_turns=2, max_depth=0, max_seconds=1)) == Wards(
        max_turns=2, max_depth=0, max_seconds=1
    )


def test_a_child_that_its_ward_ends_is_a_refusal_for_its_parent(tmp_path: Path) -> None:
    child = script("a", "b", "c", "d")
    subject = agent(
        turn(cast(wards={"max_turns": 50})), done("without"),
        gates=["cast"], children=[child], wards={"max_turns": 2},
    )  # fmt: skip
    outcome = perform(tmp_path, subject)
    (end,) = of_type(outcome, "child_end")
    assert (end["reason"], end["terminated"], end["result"]) == ("max_turns", False, None)
    assert results(outcome, "cast") == [
        (False, "the child was ended by its ward max_turns before it was done")
    ]
    assert outcome.said() == ["", "a", "b", "", "without"]
    assert outcome.end()["terminated"]


def test_a_child_that_fails_fails_the_trial(tmp_path: Path) -> None:
    subject = agent(turn(cast()), done(1), gates=["cast"], children=[script("a")])
    outcome = perform(tmp_path, subject)
    assert outcome.error() == ("script", "the script has 1 answers, and one more was asked for")
    (end,) = of_type(outcome, "child_end")
    assert (end["reason"], end["terminated"]) == ("error", False)


WAITING = "import asyncio\nasync def wait():\n    await asyncio.sleep(300)\n"


@pytest.mark.parametrize(
    ("own", "childs", "reason", "trial_seconds", "ending"),
    [
        (0.3, 60, "interrupted", 60, "ward"),
        (60, 0.2, "max_seconds", 60, "completed"),
        (60, 60, "interrupted", 0.4, "timeout"),
    ],
)
def test_time_runs_out_for_a_child(
    own: float, childs: float, reason: str, trial_seconds: float, ending: str, tmp_path: Path
) -> None:
    subject = agent(
        turn(cast(wards={"max_seconds": childs})), done(1),
        children=[script(turn(call("wait")))], wards={"max_seconds": own},
    )  # fmt: skip
    file = python_file(tmp_path, WAITING, f"{subject} | {{'gates': ['cast', wait]}}")
    outcome = evaluated(file, tmp_path / "run", timeout=trial_seconds)
    (end,) = of_type(outcome, "child_end")
    assert (end["reason"], end["terminated"]) == (reason, False)
    assert outcome.end()["reason"] == ending


# Who it is


def test_its_start_says_who_it_is_and_nothing_is_left_to_defaults(tmp_path: Path) -> None:
    (tmp_path / "who.md").write_text("You look.")
    subject = agent(
        done(1), gates=["read_file"], wards={"max_turns": 3}, identity={"system_prompt": {"file": "who.md"}}
    )
    start = perform(tmp_path, subject).events()[0]
    identity = start["subject"]
    assert identity.pop("model").keys() == {"scripted"}
    assert identity == {
        "type": "agent",
        "gates": ["read_file"],
        "wards": {"max_turns": 3},
        "identity": {"system_prompt": "You look."},
    }


CHANGES: list[dict[str, Any]] = [
    {"gates": ["read_file", "list_dir"]},
    {"wards": {"max_turns": 3}},
    {"wards": {"max_seconds": 3}},
    {"wards": {"max_depth": 1}},
    {"medium": "code"},
    {"tool_calls": "text"},
    {"network": True},
    {"limits": {"seconds": 5}},
    {"identity": {"system_prompt": "x"}},
    {"temperature": 0.5},
    {"model": script(done(2))},
    {"model": script(done(1), children=[script(done(1))])},
]


def fingerprint(folder: Path, **more: Any) -> str:
    file = write_scenarios(folder, scenario(agent(done(1), gates=["read_file"]) | more))
    (loaded,) = load_scenarios([file])
    return loaded.fingerprint(1, loaded.identity_of(loaded.subject_for(1)))


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_whatever_shapes_what_it_does_is_in_its_fingerprint(change: dict[str, Any], tmp_path: Path) -> None:
    assert fingerprint(tmp_path, **change) != fingerprint(tmp_path)


def test_how_long_we_wait_is_not_in_its_fingerprint(tmp_path: Path) -> None:
    assert fingerprint(tmp_path, request_timeout=5) == fingerprint(tmp_path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"gates": ["reed_file"]}, 'there is no gate "reed_file"; there are: cast, done, list_dir'),
        ({"gates": ["read_file", "read_file"]}, "a gate is listed twice"),
        ({"wards": {"max_turns": 0}}, "/wards/max_turns"),
        ({"wards": {"max_seconds": -1}}, "/wards/max_seconds"),
        ({"wards": {"max_turn": 5}}, 'unknown key "max_turn"'),
        ({"medium": "smoke"}, "/medium"),
        ({"tool_calls": "none"}, "/tool_calls"),
        ({"network": "yes"}, "/network"),
        ({"identity": {"prompt": "x"}}, 'unknown key "prompt"'),
        ({"identity": {"system_prompt": {"file": "none.md"}}}, "/identity/system_prompt/file"),
        ({"model": None}, "no model is named"),
        ({"gate": []}, 'unknown key "gate"'),
    ],
    ids=str,
)
def test_what_is_wrong_with_it_is_said_before_anything_runs(
    more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = write_scenarios(tmp_path, scenario(agent(done(1)) | more))
    assert said in one_problem(file)


def test_a_settled_agent_is_the_one_that_was_written(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path, scenario(agent(done(1), gates=["done", "read_file"], medium="bash")))
    (loaded,) = load_scenarios([file])
    subject = loaded.subject
    assert isinstance(subject, Agent)
    assert list(subject.gate_types()) == ["done", "read_file", "run"]


# Files from strangers


@pytest.mark.parametrize(
    "more", [{"medium": "code"}, {"medium": "bash"}, {"gates": ["run"]}, {"gates": ["cast", "run"]}], ids=str
)
def test_data_only_refuses_agents_that_run_programs(more: dict[str, Any], tmp_path: Path) -> None:
    file = write_scenarios(tmp_path, scenario(agent(done(1)) | more))
    assert "the agent runs programs" in one_problem(file, data_only=True)
    assert one_problem(file, data_only=True).count("/scenarios/0/subject") == 1
    load_scenarios([file])


def test_data_only_keeps_an_agents_prompt_in_the_scenarios_folder(tmp_path: Path) -> None:
    (tmp_path / "who.md").write_text("secret")
    subject = agent(done(1), identity={"system_prompt": {"file": "../who.md"}})
    file = write_scenarios(tmp_path / "inner", scenario(subject))
    assert "outside the scenario's folder" in one_problem(file, data_only=True)


@pytest.mark.parametrize("medium", ["code", "bash"])
def test_with_data_only_no_child_runs_programs_either(medium: str, tmp_path: Path) -> None:
    grandchild = script({"code": "done(1)"})
    child = script(turn(cast(medium=medium)), done("child"), children=[grandchild])
    subject = agent(turn(cast(medium=medium), cast()), done("alone"), gates=["cast"], children=[child])
    file = write_scenarios(tmp_path, scenario(subject))
    outcome = evaluated(file, tmp_path / "run", options=LoadOptions(data_only=True))
    refused = (False, f"a child cannot have the medium {medium} here")
    assert results(outcome, "cast") == [refused, refused, (True, "child")]
    assert of_type(outcome, "sandbox") == []
    assert outcome.end()["result"] == "alone"


# Same input, same bytes


def test_two_runs_of_a_scripted_agent_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    if strongest() != "bubblewrap":
        pytest.skip("programs see the machine's own paths, and print them")
    bash = script(
        "```bash\nmkdir -p sub; ls nothing; echo $HOME; pwd\n```", '```bash\ndone "$(cat note.txt)"\n```'
    )
    code = script(
        {"code": "print({'b', 'a', 'c'}, hash('x'))\n1 / 0"},
        {"code": "import os; print(sorted(os.environ), os.getcwd())\ndone(list_dir())"},
    )
    subject = agent(
        turn(cast(medium="bash"), cast(medium="code", gates=["list_dir"])),
        turn(call("run", command="nothing; date -d @0"), text="go"),
        turn(call("search", pattern="a"), call("nothing")),
        done({"b": 1, "a": 2}),
        gates=["cast", "run", "list_dir", "search"], children=[bash, code],
    )  # fmt: skip
    file = write_scenarios(tmp_path / "in", scenario(subject, fixtures={"note.txt": "alpha\n"}, seeds=2))
    transcripts = []
    for name, hashes in (("first", "1"), ("second", "2")):
        done_ = synthesis(
            "eval", file, "--out", tmp_path / name / "run", cwd=tmp_path, env={"PYTHONHASHSEED": hashes}
        )
        assert done_.returncode == 0, done_.stderr + done_.stdout
        transcripts.append(
            {path.name: path.read_bytes() for path in (tmp_path / name / "run" / "transcripts").iterdir()}
        )
    assert len(transcripts[0]) == 2
    assert transcripts[0] == transcripts[1]


def test_the_prompt_an_agent_gets_is_hashed_in_the_report_and_when_it_is_scored_again(tmp_path: Path) -> None:
    identity = {"system_prompt": "You look things up."}
    outcome = perform(tmp_path, agent(done("x"), identity=identity), system="Be brief.")
    wanted = sha256(b"You look things up.\n\nBe brief.").hexdigest()
    assert outcome.report.scenarios[0].system_sha256 == wanted
    again = rescore(outcome.place, RescoreOptions())
    assert read_report(again.report).scenarios[0].system_sha256 == wanted
