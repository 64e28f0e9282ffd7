"""Programs for the command subject, and what is left of them."""

import os
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from subject_trials import Outcome, run, scenario, write_scenarios

ECHO = """
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"type": "reply", "text": asked["text"].upper()}), flush=True)
"""


def bot(folder: Path, code: str, name: str = "bot.py") -> list[str]:
    """A program beside the scenario file, in Python."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("import json, os, signal, subprocess, sys, time\n" + textwrap.dedent(code))
    return [sys.executable, f"./{name}"]


def command(folder: Path, code: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": bot(folder, code), **more}


def talk(folder: Path, code: str, prompt: str | list[str] = "hello", **more: object) -> Outcome:
    """One trial of a scenario whose program is this code."""
    subject = command(folder / "scenarios", code, **more)
    return run(write_scenarios(folder / "scenarios", scenario(subject, prompt)), folder / "run")


def jsonl(folder: Path, code: str, prompt: str | list[str] = "hello", **more: object) -> Outcome:
    return talk(folder, code, prompt, protocol="jsonl", **more)


def running(pid: int) -> bool:
    """Whether a process still does anything; an orphan that nobody has collected yet does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return (
            not status.parent.parent.joinpath("self").exists()
            or status.read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except (ProcessLookupError, FileNotFoundError):
        return False


def children() -> set[int]:
    """Processes that we started and have not collected; other tests of this process may have some, too."""
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                found |= {int(entry.name)} if int(parent) == os.getpid() else set()
    return found


def all_ended(pids: Sequence[int], within: float = 2) -> bool:
    deadline = time.monotonic() + within
    while any(map(running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(running, pids))


def pids(outcome: Outcome, name: str = "pids") -> list[int]:
    return [int(word) for word in (outcome.workspace() / name).read_text().split()]


def collected(pid: int) -> bool:
    """Whether a child of ours is gone for good, not even a zombie of it left."""
    try:
        return os.waitpid(pid, os.WNOHANG) is None
    except ChildProcessError:
        return True


def private_folders() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("synthesis-*")}


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is left behind can be seen although other tests run beside this one."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
