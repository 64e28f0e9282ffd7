"""What read-note.json does, in trusted Python: a script is made for each seed, and a gate is a function."""

from typing import Any

from harness.scenario import Scenario
from harness.transcript import Transcript

Data = dict[str, Any]

CHILD = "text = read_file(path='note.txt')\ncount_lines(text)\ndone(text.splitlines()[0])\n"


def count_lines(text: str) -> int:
    """Count the lines of a text."""
    return len(text.splitlines())


def reader(scenario: Scenario, seed: int) -> Data:
    """An agent that lets a child read, and answers with the seed it has."""
    path = next(iter(scenario.fixtures))
    child = f"'Read {path}', medium='code', gates=['read_file', 'count_lines'], wards={{'max_turns': 2}}"
    code = f"first = cast({child})\ndone('seed {seed}: ' + first)\n"
    return {
        "type": "agent",
        "medium": "code",
        "gates": ["read_file", "cast", count_lines],
        "wards": {"max_turns": 2, "max_depth": 1},
        "identity": {"system_prompt": "You give reading to others and answer yourself."},
        "model": {"replies": [{"code": code}], "children": [{"replies": [{"code": CHILD}]}]},
    }


def answered_under_its_seed(run: Transcript, seed: int) -> bool:
    """The parent's own words are in the answer, not only the child's."""
    return str(run.result).startswith(f"seed {seed}: ")


scenarios = [
    {
        "name": "read-note-python",
        "description": "As read-note, with a subject that is made for each seed.",
        "tags": ["agent", "files", "children"],
        "fixed_subject": True,
        "prompt": "Read note.txt and answer with its first line.",
        "fixtures": {"note.txt": "alpha\nbeta\n"},
        "subject": reader,
        "rubric": [
            {"name": "terminated", "terminated": True},
            {"name": "used read_file", "gate_used": "read_file"},
            {"name": "answered from the note", "contains": "alpha", "max_score": 2},
            {"name": "answered under its seed", "score": answered_under_its_seed},
            {"child_medium_used": "code"},
            {"name": "read nothing itself", "forbid_code_contains": "beta", "scope": "parent"},
        ],
    }
]
