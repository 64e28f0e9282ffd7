"""Trials as they run: a transcript that cannot be written harms its own trial alone."""

import asyncio
import os
from pathlib import Path

import pytest
from scenario_files import load, scenario, write
from subject_trials import run

from harness.plan import Trial
from harness.run import RunOptions, run_trials
from harness.run_directory import claim_new
from harness.transcript import Transcript, read_transcript
from harness.workers import Stop


class Heard:
    """A listener that keeps what it was told, by seed."""

    def __init__(self) -> None:
        self.finished_trials: dict[int, Transcript] = {}

    def started(self, trial: Trial) -> None:
        """Not of interest."""

    async def finished(self, trial: Trial, transcript: Transcript) -> None:
        self.finished_trials[trial.seed] = transcript


def in_the_way(path: Path, obstacle: str) -> None:
    if obstacle == "a directory":
        path.mkdir()
    elif Path("/dev/full").exists():
        path.symlink_to("/dev/full")
    else:
        pytest.skip("this system has no /dev/full")


@pytest.mark.parametrize(
    ("obstacle", "said"), [("a directory", "IsADirectoryError: "), ("a full disk", "OSError: [Errno 28]")]
)
def test_a_transcript_that_cannot_be_written_is_an_error_of_its_own_trial(
    tmp_path: Path, obstacle: str, said: str
) -> None:
    (found,) = load(write(tmp_path / "s.json", scenario("q")))
    place = claim_new(tmp_path / "out")
    in_the_way(place.transcripts / "q-2.jsonl", obstacle)
    heard = Heard()
    planned = [Trial(found, seed) for seed in (1, 2, 3)]
    asyncio.run(run_trials(planned, RunOptions(place, jobs=1), heard, Stop()))
    assert {seed: kept.finished for seed, kept in heard.finished_trials.items()} == {
        1: True,
        2: False,
        3: True,
    }
    broken = heard.finished_trials[2]
    assert (broken.error or "").startswith(said)
    assert [event["type"] for event in broken.events] == ["start", "error", "end"]
    assert broken.seed == 2
    assert read_transcript(place.transcripts / "q-3.jsonl").finished


def test_a_subject_that_hides_the_full_disk_gets_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").write_text(
        "def answer(prompt, context):\n"
        "    try:\n        context.recorder.gate_call('full', None)\n"
        "    except OSError:\n        pass\n"
        "    return 'hello'\n"
        "scenarios = [{'name': 'talk', 'prompt': 'hi', 'rubric': [{'contains': 'hello'}],\n"
        "    'subject': {'type': 'function', 'function': answer}}]\n"
    )
    whole = os.write

    def nearly_full(file: int, data: bytes) -> int:
        if b'"gate_call"' in data:
            return whole(file, data[:10])
        if data.startswith(b'"type"') or b'"gate":"full"' in data:
            raise OSError(28, "No space left on device")
        return whole(file, data)

    monkeypatch.setattr("harness.record.os.write", nearly_full)
    outcome = run(tmp_path / "s.py", tmp_path / "run")
    (entry,) = outcome.report.scenarios
    assert entry.trials[0].error == "OSError: [Errno 28] No space left on device"
    kept = read_transcript(outcome.place.transcripts / "talk-1.jsonl")
    assert [event["type"] for event in kept.events] == ["start", "user"], "half a line is the last thing"


def test_a_line_the_disk_takes_in_parts_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "s.json", scenario())
    whole = os.write
    monkeypatch.setattr("harness.record.os.write", lambda file, data: whole(file, data[:7]))
    outcome = run(tmp_path / "s.json", tmp_path / "run")
    assert outcome.end()["reason"] == "completed"


def test_the_workspace_is_absolute_though_the_run_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").write_text(
        "def answer(prompt, context):\n    return str(context.workspace)\n"
        "scenarios = [{'name': 'talk', 'prompt': 'hi', 'rubric': [{'terminated': True}],\n"
        "    'subject': {'type': 'function', 'function': answer}}]\n"
    )
    monkeypatch.chdir(tmp_path)
    outcome = run(Path("s.py"), Path("run"))
    assert outcome.said() == [str(tmp_path / "run" / "workspaces" / "talk" / "1")]
