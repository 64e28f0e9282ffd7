"""Runs whose scores a test chooses, made by the real command from scripted replies."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scenario_files import Definition, write

from harness.cli import main

POINTS = 4
"""A score is reached in quarters: one criterion a quarter."""
RUBRIC: list[Definition] = [
    {"name": f"part {part}", "contains": f"<{part}>"} for part in range(1, POINTS + 1)
]


def reply(score: float) -> str:
    """What reaches this share of the points."""
    return "said " + "".join(f"<{part}>" for part in range(1, round(score * POINTS) + 1))


def scored(name: str, scores: Sequence[float] | Mapping[int, float], **more: object) -> Definition:
    """A scenario whose trials score as given, by seed."""
    by_seed = dict(enumerate(scores, 1)) if not isinstance(scores, Mapping) else dict(scores)
    replies = {str(seed): [reply(score)] for seed, score in by_seed.items()}
    return {
        "name": name,
        "prompt": "hi",
        "seeds": list(by_seed),
        "subject": {"type": "scripted", "replies": replies},
        "rubric": RUBRIC,
        **more,
    }


def make_run(folder: Path, *scenarios: Definition) -> Path:
    """A finished run in `folder`, of a scenario file beside it; whatever it exits with."""
    file = write(folder.with_suffix(".json"), *scenarios)
    main(["eval", str(file), "--out", str(folder), "-q", "--max-errors", "100"])
    return folder
