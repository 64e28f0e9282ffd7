"""What tests of importers share: reading everything there is, and what every fixture says."""

from collections.abc import Sequence
from pathlib import Path

from harness.importer import Found, ImportOptions, PassedOver, Rejected
from harness.source import Reading, open_inputs, read_chunk

FIXTURES = sorted((Path(__file__).parent / "imports").iterdir())
TURNS = [
    ("I was let go this morning.", "That is a lot for one morning. Do you want to talk about it?"),
    ("My cat died.", "I am sorry about your cat."),
    ("She was nineteen.", "Nineteen years is most of a life together."),
]
"""The same in every fixture, whatever its format repeats, leaves out or adds."""


def readings(
    *paths: Path, wanted: str = "auto", size: int = 2**20, options: ImportOptions | None = None
) -> list[Reading]:
    """Everything in these files, in order."""
    inputs = open_inputs([str(path) for path in paths], wanted, options or ImportOptions())
    return [reading for each in inputs for chunk in each.chunks(size) for reading in read_chunk(chunk)]


def found(all_readings: Sequence[Reading]) -> list[Found]:
    return [reading for reading in all_readings if isinstance(reading, Found)]


def rejects(all_readings: Sequence[Reading]) -> list[tuple[int, str]]:
    return [(reading.line, reading.reason) for reading in all_readings if isinstance(reading, Rejected)]


def passed_over(all_readings: Sequence[Reading]) -> list[str]:
    return [reading.reason for reading in all_readings if isinstance(reading, PassedOver)]


def turns(all_readings: Sequence[Reading]) -> list[tuple[str, str]]:
    return [
        (turn.user, turn.assistant)
        for reading in found(all_readings)
        for turn in reading.conversation.turns()
    ]
