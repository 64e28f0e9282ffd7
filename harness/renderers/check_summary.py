"""A check run in the terminal: the outcome, a row per check, the first failures with their evidence."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.console import one_line, plain
from harness.records import CheckSummary, Failure
from harness.tally import SHOWN_FAILURES

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def render(summary: CheckSummary, failures: Iterable[Failure], console: "Console", path: Path) -> None:
    """Green where all is well, red for what nobody expected, yellow for negative examples."""
    failures = list(failures)
    console.print(_headline(summary), style="red" if summary.unexpected_failures else "green", soft_wrap=True)
    console.print(_table(summary))
    _print_slices(summary, console)
    unexpected = [failure for failure in failures if not failure.expected_failure]
    expected = [failure for failure in failures if failure.expected_failure]
    _print_failures(unexpected, summary.unexpected_failures, "unexpected failures", "red", console)
    if not unexpected:
        title = "negative examples, caught as they should be"
        _print_failures(expected, summary.expected_failures, title, "yellow", console)
    if summary.lost_catches:
        names = ", ".join(plain(name) for name in summary.lost_catches)
        console.print(f"lost catches (negative examples that passed): {names}", style="red")
    console.print(f"report: {plain(str(path))}", style="dim")


def _headline(summary: CheckSummary) -> str:
    accuracy = summary.label_accuracy.accuracy
    labels = "nothing labelled" if accuracy is None else f"{accuracy:g} % of labels matched"
    return (
        f"{summary.cases} cases: {summary.strict_passed} passed, "
        f"{summary.unexpected_failures} failed unexpectedly, "
        f"{summary.expected_failures} negative examples caught; {labels}"
    )


def _table(summary: CheckSummary) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("check")
    for heading in ("passed", "failed", "n/a", "labels", "precision", "recall", "balanced", "kappa"):
        table.add_column(heading, justify="right")
    for name, counts in summary.by_check.items():
        found = summary.agreement_by_check.get(name)
        scores = (
            [found.precision, found.recall, found.balanced_accuracy, found.kappa] if found else [None] * 4
        )
        accuracy = summary.label_accuracy_by_check[name].accuracy
        table.add_row(
            plain(name),
            str(counts.passed),
            str(counts.failed),
            str(counts.not_applicable),
            "–" if accuracy is None else f"{accuracy:g} %",
            *("–" if score is None else f"{score:.2f}" for score in scores),
        )
    return table


def _print_slices(summary: CheckSummary, console: "Console") -> None:
    for name, found in summary.slices.items():
        if found.false_positive_rate is not None:
            style = "red" if found.flagged else "green"
            console.print(
                f"slice {plain(name)}: {found.flagged} of {found.checked} flagged wrongly", style=style
            )


def _print_failures(failures: list[Failure], count: int, title: str, style: str, console: "Console") -> None:
    if not failures:
        return
    console.print(
        f"{count} {title}" + (f", the first {SHOWN_FAILURES}:" if count > SHOWN_FAILURES else ":"),
        style=style,
    )
    for failure in failures[:SHOWN_FAILURES]:
        console.print(
            f"  {plain(failure.id)}  {', '.join(plain(name) for name in failure.failed)}", style=style
        )
        for key, value in failure.evidence.items():
            console.print(f"    {plain(key)}: {_shown(value)}", style="dim")


def _shown(value: object) -> str:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, Iterable):
        return " · ".join(one_line(str(item), 80) for item in value) or "none"
    return "–" if value is None else str(value)
