"""The one place that turns results into exit codes."""

from harness.errors import Exit
from harness.records import CheckReport


def decide_check(report: CheckReport, *, fail_on: int, planted_misses: int = 0) -> Exit:
    """Only unexpected failures count, and planted rows that were not caught."""
    if report.summary.unexpected_failures > fail_on or planted_misses:
        return Exit.THRESHOLD
    return Exit.HOLDS
