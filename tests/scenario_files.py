"""Scenario files for tests, and the real entry point run on them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import Problems, SynthesisError
from harness.load import LoadOptions, load_scenarios
from harness.scenario import Scenario

Definition = dict[str, Any]


def scenario(name: str = "talk", /, *replies: str, **more: Any) -> Definition:
    """A scenario that says `replies` and asks for "hello" in the last; `more` replaces its parts."""
    said = replies or ("hello there",)
    return {
        "name": name,
        "prompt": ["hi"] * len(said),
        "subject": {"type": "scripted", "replies": list(said)},
        "rubric": [{"contains": "hello"}],
        **more,
    }


def write(path: Path, *scenarios: Definition, **more: Any) -> Path:
    """A scenario file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"scenarios": scenarios, **more}), "utf-8")
    return path


def load(*paths: Path, **options: Any) -> list[Scenario]:
    return load_scenarios(paths, LoadOptions(**options))


def problems(*paths: Path, **options: Any) -> list[str]:
    """Everything wrong with the files, each as it would be printed."""
    try:
        load(*paths, **options)
    except Problems as found:
        return [str(problem) for problem in found.problems]
    except SynthesisError as found:
        return [str(found)]
    return []


def one_problem(path: Path, **options: Any) -> str:
    """The only thing wrong with the files."""
    (found,) = problems(path, **options)
    return found


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "harness", *map(str, arguments)]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours without what would change the output of the command."""
    unwanted = ("NO_COLOR", "FORCE_COLOR", "SYNTHESIS_DATA_ONLY", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}


def synthesis(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """The real entry point, in a process of its own."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )


def tree(folder: Path) -> list[str]:
    """Everything under a folder, to see that nothing was written."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def report_of(run: Path) -> Definition:
    report: Definition = json.loads((run / "report.json").read_bytes())
    return report


def trials(report: Definition) -> Iterator[tuple[str, int, Definition]]:
    for entry in report["scenarios"]:
        for trial in entry["trials"]:
            yield entry["name"], trial["seed"], trial
