"""A history in the terminal: the runs, and a line a scenario."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.console import counted, one_line
from harness.history_report import HistoryReport, ScenarioTrend

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_RUNS = 20
SHOWN_POINTS = 40
SHOWN_SCENARIOS = 50
_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"


def render(report: HistoryReport, console: "Console") -> None:
    """The latest runs; then the scenarios, those that dropped first."""
    console.print(_runs(report))
    if len(report.runs) > SHOWN_RUNS:
        console.print(f"… and {len(report.runs) - SHOWN_RUNS} runs before, see --json", style="dim")
    console.print(_scenarios(report.scenarios))
    if len(report.scenarios) > SHOWN_SCENARIOS:
        console.print(
            f"… and {len(report.scenarios) - SHOWN_SCENARIOS} scenarios more, see --json", style="dim"
        )
    for point in report.runs[-SHOWN_RUNS:]:
        if point.scored_otherwise:
            why = one_line("; ".join(point.scored_otherwise), 200)
            console.print(f"note: {one_line(point.run, 60)} was scored otherwise than the run before: {why}")
    for name, why in report.skipped.items():
        console.print(f"not read: {one_line(name, 60)}: {one_line(why, 200)}", style="yellow")
    dropped = sum(trend.dropped_in is not None for trend in report.scenarios)
    runs, scenarios = counted(len(report.runs), "run"), counted(len(report.scenarios), "scenario")
    console.print(f"{runs}, {scenarios}, {dropped} lower than they were", style="bold")


def sparkline(means: Sequence[float | None]) -> str:
    """One bar a run, from 0 to 1; a dot where there is nothing."""
    return "".join(_NOTHING if mean is None else _BARS[min(7, int(mean * 8))] for mean in means)


def _runs(report: HistoryReport) -> "Table":
    table = _table("run", "mean", "worst", "scored", "errors", "exit")
    for point in report.runs[-SHOWN_RUNS:]:
        style = {0: "", 2: "red", 3: "yellow"}.get(point.exit_code, "red")
        table.add_row(
            one_line(point.run, 60), _number(point.mean), _number(point.worst), str(point.scored),
            str(point.errors), str(point.exit_code), style=style,
        )  # fmt: skip
    return table


def _scenarios(trends: Sequence[ScenarioTrend]) -> "Table":
    table = _table("scenario", "trend", "first", "last", "dropped in")
    ranked = sorted(trends, key=lambda trend: (-(trend.drop or 0.0), trend.last, trend.name))
    for trend in ranked[:SHOWN_SCENARIOS]:
        table.add_row(
            one_line(trend.name, 60), sparkline(trend.means[-SHOWN_POINTS:]), _number(trend.first),
            _number(trend.last), one_line(trend.dropped_in or "", 60),
            style="red" if trend.dropped_in else "",
        )  # fmt: skip
    return table


def _table(first: str, *headings: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("trend", "dropped in") else "right")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
