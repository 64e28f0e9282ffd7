"""The exit code of a check: apart from the others, because it needs nothing of what a run is made of."""

from harness.errors import Exit
from harness.records import CheckSummary


def decide_check(summary: CheckSummary, *, fail_on: int, planted_misses: int = 0) -> Exit:
    """Only unexpected failures count, and planted rows that were not caught."""
    if summary.unexpected_failures > fail_on or planted_misses:
        return Exit.THRESHOLD
    return Exit.HOLDS
