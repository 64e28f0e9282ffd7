"""Recorded transcripts said again, byte for byte."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from subject_trials import run, scenario, write_scenarios

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios

AGENT: dict[str, object] = {
    "type": "scripted",
    "replies": {
        "1": [
            {
                "turns": [
                    {
                        "text": "Let me look.",
                        "calls": [
                            {"gate": "read_file", "arguments": {"path": "ä.txt"}, "result": [1.5, None]}
                        ],
                    },
                    {
                        "text": "",
                        "code": "spawn()",
                        "medium": "code",
                        "child": {
                            "medium": "bash",
                            "prompt": "ls",
                            "turns": [{"text": "a.txt"}],
                            "result": 0,
                        },
                    },
                    {"text": "It is there."},
                ]
            },
            {
                "turns": [{"text": 'Gladly — 💐 \u2028 "quoted"'}],
                "result": {"deep": [{"n": 10**15}, 1e-7, True]},
            },
        ],
        "2": ["Under the second seed.", "Still."],
    },
}
PROMPTS = ["Is the file there?", "Thank you."]


def record(folder: Path, subject: dict[str, object] = AGENT, prompt: str | list[str] = PROMPTS) -> None:
    """Two recordings, `one.jsonl` and `two.jsonl`, beside a scenario file that is still to be written."""
    folder.mkdir()
    made = run(
        write_scenarios(folder / "first", scenario(subject, prompt, seeds=2)), folder / "first" / "run"
    )
    for seed, name in ((1, "one"), (2, "two")):
        (folder / f"{name}.jsonl").write_bytes(made.raw(seed=seed))


def replay(transcript: object) -> dict[str, object]:
    return {"type": "replay", "transcript": transcript}


def after_start(content: bytes) -> bytes:
    return content.partition(b"\n")[2]


def test_everything_after_the_start_is_byte_for_byte_what_was_recorded(tmp_path: Path) -> None:
    record(tmp_path / "s")
    recorded = (tmp_path / "s" / "one.jsonl").read_bytes()
    assert {json.loads(line)["type"] for line in recorded.splitlines()} >= {"child_start", "observation"}
    file = write_scenarios(
        tmp_path / "s", {**scenario(replay("one.jsonl"), PROMPTS, seeds=[5]), "name": "again"}
    )
    outcome = run(file, tmp_path / "run")
    assert after_start(outcome.raw("again", 5)) == after_start(recorded)
    start = outcome.events("again", 5)[0]
    assert (start["scenario"], start["seed"], start["subject"]["type"]) == ("again", 5, "replay")
    assert outcome.end("again", 5)["result"] == {"deep": [{"n": 10**15}, 1e-7, True]}
    assert outcome.report.summary.mean == 1


def test_a_replay_can_be_replayed(tmp_path: Path) -> None:
    record(tmp_path / "s")
    file = write_scenarios(tmp_path / "s", scenario(replay("one.jsonl"), PROMPTS))
    first = run(file, tmp_path / "first").raw()
    (tmp_path / "s" / "one.jsonl").write_bytes(first)
    assert after_start(run(file, tmp_path / "second").raw()) == after_start(first)


def test_a_map_gives_each_seed_its_own(tmp_path: Path) -> None:
    record(tmp_path / "s")
    by_seed = replay({"1": "two.jsonl", "9": "one.jsonl"})
    file = write_scenarios(tmp_path / "s", scenario(by_seed, PROMPTS, seeds=[1, 9, 10]))
    outcome = run(file, tmp_path / "run")
    assert outcome.said(seed=1) == ["Under the second seed.", "Still."]
    assert outcome.said(seed=9)[-1].startswith("Gladly")
    assert outcome.error(seed=10) == ("replay", "there is no transcript for seed 10")


def test_an_ended_conversation_ends_again_where_it_ended(tmp_path: Path) -> None:
    stopping: dict[str, object] = {
        "type": "scripted",
        "replies": ["one", {"turns": [{"text": "no more"}], "terminated": False}],
    }
    record(tmp_path / "s", stopping, ["a", "b", "c"])
    recorded = (tmp_path / "s" / "one.jsonl").read_bytes()
    assert json.loads(recorded.splitlines()[-1])["reason"] == "ward"
    for prompts in (["a", "b", "c"], ["a", "b"]):
        file = write_scenarios(tmp_path / "s", scenario(replay("one.jsonl"), prompts))
        assert after_start(run(file, tmp_path / f"run-{len(prompts)}").raw()) == after_start(recorded)


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        (
            ["Is the file there?", "Thanks."],
            'turn 2 differs: "Thanks." here, "Thank you." in the recording',
        ),
        (
            ["is the file there?", "Thank you."],
            'turn 1 differs: "is the file there?" here, "Is the file there?" in the recording',
        ),
        (PROMPTS[:1], "the person speaks 1 times here and 2 times in the recording"),
        ([*PROMPTS, "And?"], "the person speaks 3 times here and 2 times in the recording"),
    ],
)
def test_a_person_who_says_something_else_is_an_error(
    tmp_path: Path, prompts: list[str], message: str
) -> None:
    record(tmp_path / "s")
    file = write_scenarios(tmp_path / "s", scenario(replay("two.jsonl"), prompts))
    assert run(file, tmp_path / "run").error() == ("replay", message)


def test_another_recording_runs_again_and_the_same_one_does_not(tmp_path: Path) -> None:
    record(tmp_path / "s")
    file = write_scenarios(tmp_path / "s", scenario(replay("one.jsonl"), PROMPTS))
    first = run(file, tmp_path / "run")
    mark = first.place.transcripts / "talk-1.jsonl"
    inode = mark.stat().st_mtime_ns
    run(file, tmp_path / "run", resume=True)
    assert mark.stat().st_mtime_ns == inode
    (tmp_path / "s" / "one.jsonl").write_bytes((tmp_path / "s" / "two.jsonl").read_bytes())
    assert run(file, tmp_path / "run", resume=True).said() == ["Under the second seed.", "Still."]


def _without_end(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def _cut_off(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][:-5]]


def _more_after_the_end(lines: list[bytes]) -> list[bytes]:
    return [*lines, b'{"v":1,"se']


def _failed(lines: list[bytes]) -> list[bytes]:
    end = json.loads(lines[-1])
    error = {**end, "type": "error", "kind": "timeout", "message": "too slow"}
    del error["reason"], error["terminated"], error["result"]
    last = {**end, "seq": end["seq"] + 1, "reason": "timeout", "terminated": False, "result": None}
    return [
        *lines[:-1],
        *(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in (error, last)),
    ]


def _reformatted(lines: list[bytes]) -> list[bytes]:
    return [json.dumps(json.loads(line)).encode() + b"\n" for line in lines]


def _edited_seq(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[2].replace(b'"seq":2', b'"seq":7'), *lines[3:]]


def _edited_turn(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"turn":1', b'"turn":2'), *lines[2:]]


def _edited_reason(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1].replace(b'"completed"', b'"ward"')]


def _twice(lines: list[bytes]) -> list[bytes]:
    return [*lines, *lines]


def _an_end_in_the_middle(lines: list[bytes]) -> list[bytes]:
    middle = json.loads(lines[-1]) | {"seq": 3}
    return [*lines[:3], json.dumps(middle, separators=(",", ":")).encode() + b"\n", *lines[4:]]


def _without_start(lines: list[bytes]) -> list[bytes]:
    assistant = {**json.loads(lines[2]), "seq": 0, "turn": 0}
    return [json.dumps(assistant, separators=(",", ":")).encode() + b"\n", *lines[1:]]


def _other(_: list[bytes]) -> list[bytes]:
    return [b'{"role": "user", "content": "hi"}\n']


def _list(_: list[bytes]) -> list[bytes]:
    return [b"[1]\n"]


def _nothing(_: list[bytes]) -> list[bytes]:
    return []


NEVER_FINISHED = "holds a trial that never finished: "
CHANGED = "is not as it was recorded"
SPOILT: list[tuple[Callable[[list[bytes]], list[bytes]], str]] = [
    (_without_end, NEVER_FINISHED + "the transcript has no end"),
    (_cut_off, NEVER_FINISHED + "its last line is missing or cut off"),
    (_more_after_the_end, NEVER_FINISHED + "its last line is missing or cut off"),
    (_nothing, NEVER_FINISHED + "its last line is missing or cut off"),
    (_failed, NEVER_FINISHED + "timeout: too slow"),
    (_reformatted, CHANGED),
    (_edited_seq, CHANGED),
    (_edited_turn, CHANGED),
    (_edited_reason, CHANGED),
    (_twice, CHANGED),
    (_an_end_in_the_middle, CHANGED),
    (_without_start, CHANGED),
    (_other, "is not a transcript: "),
    (_list, "is not a transcript: "),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILT, ids=lambda value: getattr(value, "__name__", ""))
def test_what_was_not_recorded_whole_is_refused_before_anything_runs(
    tmp_path: Path, spoil: Callable[[list[bytes]], list[bytes]], said: str
) -> None:
    record(tmp_path / "s")
    path = tmp_path / "s" / "two.jsonl"
    path.write_bytes(b"".join(spoil(path.read_bytes().splitlines(keepends=True))))
    file = write_scenarios(tmp_path / "s", scenario(replay({"1": "one.jsonl", "2": "two.jsonl"}), PROMPTS))
    with pytest.raises(SynthesisError) as caught:
        load_scenarios([file])
    assert f'talks.json:/scenarios/0/subject/transcript/2: "two.jsonl" {said}' in str(caught.value)
    assert "one.jsonl" not in str(caught.value)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    by_seed = replay({"1": "missing.jsonl", "2": "also-missing.jsonl"})
    file = write_scenarios(
        tmp_path / "s", scenario(by_seed), {**scenario(replay("third.jsonl")), "name": "b"}
    )
    with pytest.raises(SynthesisError) as caught:
        load_scenarios([file])
    said = str(caught.value)
    assert '/scenarios/0/subject/transcript/1: "missing.jsonl" cannot be read' in said
    assert '/scenarios/0/subject/transcript/2: "also-missing.jsonl" cannot be read' in said
    assert '/scenarios/1/subject/transcript: "third.jsonl" cannot be read' in said


@pytest.mark.parametrize("wrong", [{}, "", {"one": "one.jsonl"}, {"1": ""}, 3, None])
def test_what_is_no_transcript_name(tmp_path: Path, wrong: object) -> None:
    file = write_scenarios(tmp_path / "s", scenario(replay(wrong)))
    with pytest.raises(SynthesisError, match="/scenarios/0/subject"):
        load_scenarios([file])


def test_no_seed_is_negative(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path / "s", scenario(replay({"-1": "one.jsonl"})))
    with pytest.raises(SynthesisError, match="should be greater than or equal to 0"):
        load_scenarios([file])


def outside(folder: Path) -> list[str]:
    """Ways to name a file that is not under the scenario's folder."""
    (folder / "s" / "link.jsonl").symlink_to(folder / "elsewhere.jsonl")
    return ["../elsewhere.jsonl", str(folder / "elsewhere.jsonl"), "link.jsonl"]


def test_data_only_keeps_recordings_in_the_scenarios_folder(tmp_path: Path) -> None:
    record(tmp_path / "s")
    (tmp_path / "elsewhere.jsonl").write_bytes((tmp_path / "s" / "one.jsonl").read_bytes())
    for name in outside(tmp_path):
        file = write_scenarios(tmp_path / "s", scenario(replay(name), PROMPTS))
        with pytest.raises(SynthesisError, match="is outside the scenario's folder"):
            load_scenarios([file], LoadOptions(data_only=True))
        assert len(load_scenarios([file])) == 1
    file = write_scenarios(tmp_path / "s", scenario(replay("one.jsonl"), PROMPTS))
    assert len(load_scenarios([file], LoadOptions(data_only=True))) == 1


def test_a_name_no_file_can_have_is_an_error_like_any_other(tmp_path: Path) -> None:
    file = write_scenarios(tmp_path / "s", scenario(replay("a\0b")))
    for options in (LoadOptions(), LoadOptions(data_only=True)):
        with pytest.raises(SynthesisError, match=r"a\\x00b.* cannot be read"):
            load_scenarios([file], options)


def test_trusted_python_may_choose_the_recording(tmp_path: Path) -> None:
    record(tmp_path / "s")
    file = tmp_path / "s" / "talks.py"
    file.write_text(
        f"from harness.subjects.replay import Replay\nPROMPTS = {PROMPTS!r}\n"
        "def by_dict(scenario, seed):\n"
        "    return {'type': 'replay', 'transcript': ['one', 'two'][seed - 1] + '.jsonl'}\n"
        "def by_object(scenario, seed):\n"
        "    return Replay(transcript=['two', 'one'][seed - 1] + '.jsonl')\n"
        "scenarios = [{'name': maker.__name__, 'prompt': PROMPTS, 'seeds': 2, 'subject': maker,\n"
        "              'rubric': [{'terminated': True}]} for maker in (by_dict, by_object)]\n"
    )
    outcome = run(file, tmp_path / "run")
    one, two = (after_start((tmp_path / "s" / f"{name}.jsonl").read_bytes()) for name in ("one", "two"))
    found: dict[str, list[Any]] = {
        name: [after_start(outcome.raw(name, seed)) for seed in (1, 2)] for name in ("by_dict", "by_object")
    }
    assert found == {"by_dict": [one, two], "by_object": [two, one]}
