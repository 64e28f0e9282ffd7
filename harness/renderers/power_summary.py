"""What a run can show, in the terminal."""

from typing import TYPE_CHECKING

from harness.console import counted, one_line
from harness.power_report import PowerReport

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def render(report: PowerReport, console: "Console") -> None:
    """The drop first, then where the spread comes from, then what other drops need."""
    size = f"{counted(report.scenarios, 'scenario')} × {report.seeds:g} seeds"
    console.print(f"{one_line(report.run, 60)}: {size}, mean {report.mean:.4f}", style="bold")
    often = f"{report.power * 100:.0f} times in 100"
    if report.detectable_drop is None:
        console.print("too few scenarios to be sure of any drop between two runs like this", style="yellow")
    else:
        console.print(f"two runs like this show a drop of {report.detectable_drop:.3f} {often}")
    if report.below_line is not None and report.below_line >= 1:
        console.print("too few scenarios to be sure of any mean below a threshold", style="yellow")
    elif report.below_line is not None:
        console.print(f"a mean {report.below_line:.3f} below a threshold is found there {often}")
    if report.within_share is not None:
        share = f"{report.within_share * 100:.0f} %"
        console.print(f"{share} of a trial's variance is between seeds, the rest between scenarios")
    console.print(_table(report))
    console.print(
        "scenarios needed in each of two runs; a drop is taken to vary between scenarios by its own size",
        style="dim",
    )


def _table(report: PowerReport) -> "Table":
    from rich import box
    from rich.table import Table

    seeds = sorted({row.seeds for row in report.needed})
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("to show a drop of")
    for number in seeds:
        table.add_column(counted(number, "seed"), justify="right")
    for drop in sorted({row.drop for row in report.needed}):
        found = {row.seeds: row.scenarios for row in report.needed if row.drop == drop}
        table.add_row(f"{drop:g}", *(str(found[number]) for number in seeds))
    return table
