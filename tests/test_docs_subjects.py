"""docs/subjects.md does what it says: every block on the page is a file, and every scenario file is run."""

import os
import re
import shutil
from pathlib import Path

import pytest
from subject_trials import Outcome, run

from harness import plugins
from harness.subject_reader import subject_type
from harness.subjects import command

PAGE = (Path(__file__).parent.parent / "docs" / "subjects.md").read_text("utf-8")
_BLOCK = re.compile(r"^```(\w+) file=(\S+)\n(.*?)^```$", re.M | re.S)
FILES = {name: body for _, name, body in _BLOCK.findall(PAGE)}
FOLDERS = sorted({name.partition("/")[0] for name in FILES})
JSONL_PROGRAMS = {"jsonl-python": "python3", "jsonl-bash": "bash", "jsonl-node": "node"}


def needs(program: str) -> None:
    """Skip where a language is not installed; on CI it has to be."""
    if shutil.which(program) is None and os.environ.get("CI") != "true":
        pytest.skip(f"{program} is not installed")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    for name, body in FILES.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, "utf-8")
    return tmp_path


def evaluated(folder: Path) -> Outcome:
    """A folder of the page; the recording in it is no scenario and is not looked at as one."""
    (scenarios,) = folder.glob("talk.*")
    outcome = run(scenarios, folder / "run")
    trials = [trial for scenario in outcome.report.scenarios for trial in scenario.trials]
    assert [(trial.error, trial.score) for trial in trials] == [(None, 1)] * len(trials)
    return outcome


def test_every_block_is_a_file_that_is_used() -> None:
    assert PAGE.count("\n```") == 2 * len(FILES)
    assert FOLDERS == [
        "agent",
        "chat",
        "command",
        "function",
        "jsonl-bash",
        "jsonl-node",
        "jsonl-python",
        "replay",
        "scripted",
        "scripted-agent",
    ]
    for folder in FOLDERS:
        beside = [name for name in FILES if name.startswith(f"{folder}/")]
        (scenarios,) = [name for name in beside if name.startswith(f"{folder}/talk.")]
        for name in set(beside) - {scenarios}:
            assert Path(name).name in FILES[scenarios], f"{scenarios} does not use {name}"


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - set(JSONL_PROGRAMS)))
def test_the_examples_run(page: Path, folder: str) -> None:
    evaluated(page / folder)


@pytest.mark.parametrize(("folder", "program"), JSONL_PROGRAMS.items())
def test_the_three_programs_do_the_same(page: Path, folder: str, program: str) -> None:
    needs(program)
    outcome = evaluated(page / folder)
    events = [
        (event["type"], event["turn"], event.get("text", event.get("gate")))
        for event in outcome.events(folder)[1:-1]
    ]
    first, second = "When are you open?", 'And "late" on Friday?'
    assert events == [
        (kind, turn, text)
        for turn, asked in ((1, first), (2, second))
        for kind, text in (
            ("user", asked),
            ("gate_call", "read_file"),
            ("observation", "read_file"),
            ("assistant", f"You asked: {asked} We are open from 9 to 5."),
        )
    ]


def test_the_function_keeps_notes_and_differs_by_seed(page: Path) -> None:
    outcome = evaluated(page / "function")
    assert (outcome.workspace("count") / "notes.txt").read_text() == "One.\nTwo.\nThree."
    assert len({outcome.said("greet", seed)[0] for seed in (1, 2, 3)}) == 2


def test_the_replay_is_the_recording(page: Path) -> None:
    recorded = FILES["replay/kept.jsonl"].encode().splitlines()[1:]
    assert evaluated(page / "replay").raw("replay").splitlines()[1:] == recorded


def test_the_page_tells_of_every_type_and_every_key() -> None:
    for name in plugins.own("subjects"):
        assert f"\n## {name.capitalize()}\n" in PAGE
        for field, info in subject_type(name).model_fields.items():
            key = info.alias or field
            assert f"`{key}`" in PAGE or f'"{key}"' in PAGE, f"{name}: {key}"
    for variable in command.PASSED_ON:
        assert f"`{variable}`" in PAGE
    assert f"| `max_output` | {subject_type('command').model_fields['max_output'].default} |" in PAGE
