"""How far identical runs disagree, in the terminal."""

from typing import TYPE_CHECKING

from harness.aa_report import AaReport, LineDisagreement
from harness.console import counted, one_line

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 8


def render(report: AaReport, console: "Console") -> None:
    """What a difference between two runs is worth."""
    size = f"{counted(report.scenarios, 'scenario')}, {counted(report.trials, 'trial')} a run"
    console.print(f"identical runs: {size}", style="bold")
    if len(report.means) > 1:
        seen = ", ".join(f"{mean:.4f}" for mean in report.means[:SHOWN])
        console.print(f"means of the runs given: {seen}{', …' if len(report.means) > SHOWN else ''}")
    console.print(
        f"the mean varies by ±{report.mean_deviation:.4f} (one standard deviation); two identical runs are "
        f"within {report.usual_difference:.4f} of each other 95 times in 100"
    )
    for line in report.lines:
        console.print(_line(line), style="yellow" if line.disagree >= 0.05 else "green")
    alarms = f"{report.false_alarms * 100:.1f} % of comparisons of identical runs"
    console.print(f"compare --fail-on-regression would alarm in {alarms}")
    if report.flaky:
        names = ", ".join(one_line(name, 40) for name in report.flaky[:SHOWN])
        more = f" and {len(report.flaky) - SHOWN} more" if len(report.flaky) > SHOWN else ""
        console.print(f"flaky, passing under some seeds only: {names}{more}", style="yellow")
    for note in report.notes:
        console.print(f"note: {note}", style="yellow")
    console.print(f"from {report.draws} pairs of runs drawn from these trials", style="dim")


def _line(line: LineDisagreement) -> str:
    name = line.name.lstrip("-").replace("-", " ")
    observed = ""
    if line.observed_runs > 1:
        observed = f"; of the runs given {line.observed_reached} of {line.observed_runs} held it"
    often = f"two identical runs disagree {line.disagree * 100:.1f} times in 100"
    return f"{name} {line.required:g}: held {line.reached * 100:.1f} times in 100, {often}{observed}"
