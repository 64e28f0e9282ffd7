"""A comparison in the terminal: the answer first, then where, then what it looks like."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.compare_report import (
    CompareReport,
    CompareSummary,
    CriterionChange,
    Drop,
    LimitResult,
    MeanChange,
    ScenarioChange,
)
from harness.console import counted, one_line, plain
from harness.decide import is_regression

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_ROWS = 20
SHOWN_NAMES = 8
SHOWN_DIFF_LINES = 40
FEW_SCENARIOS = 5
"""With no more than these no p-value is below 0.05, nor is the interval of a loss of everything below 0."""
_STYLES = {"worse": "red", "better": "green", "new": "cyan", "missing": "yellow", "not scored": "yellow"}


def render(report: CompareReport, console: "Console") -> None:
    """Worst things first where there is no room for all."""
    base, head = report.base, report.head
    console.print(f"{one_line(base.name, 60)} → {one_line(head.name, 60)}", style="bold")
    console.print(_answer(report.mean), style=_answer_style(report.mean))
    for line in _about(report):
        console.print(line)
    if any(scenario.change != "same" for scenario in report.scenarios):
        console.print(_scenario_table(report.scenarios))
    _print_fallen(report.scenarios, console)
    _print_criteria(report, console)
    _print_prompts(report, console)
    for drop in report.drops:
        _print_drop(drop, console)
    for note in report.notes:
        console.print(f"note: {one_line(note, 300)}", style="yellow")
    for limit in report.limits:
        console.print(_limit_line(limit, report.summary.scenarios), style="green" if limit.held else "red")
    if report.limits and (lost := _not_held(report.scenarios)):
        console.print(lost, style="yellow")
    if report.limits and not (base.accepted and head.accepted):
        which = " and ".join(one_line(side.name, 60) for side in (base, head) if not side.accepted)
        console.print(f"INCOMPLETE: {which}; finish it with: synthesis eval --resume RUN", style="red")


def _answer(mean: MeanChange) -> str:
    rough = f" (rough: {mean.rough})" if mean.rough else ""
    how = "every flip counted" if mean.draws is None else f"{mean.draws} random flips"
    return (
        f"mean {mean.base:.4f} → {mean.head:.4f}: {mean.difference:+.4f}, {mean.level * 100:g} % interval "
        f"{mean.low:+.4f} to {mean.high:+.4f}{rough}; p = {mean.p:.4g} ({how})"
    )


def _answer_style(mean: MeanChange) -> str:
    return "bold red" if mean.high < 0 else "bold green" if mean.low > 0 else "bold"


def _about(report: CompareReport) -> list[str]:
    summary, mean = report.summary, report.mean
    counts = [(summary.worse, "worse"), (summary.better, "better"), (summary.same, "same")]
    counts += [(summary.new, "new"), (summary.missing, "missing"), (summary.not_scored, "not scored")]
    told = ", ".join(f"{number} {word}" for number, word in counts if number)
    pairs = counted(summary.pairs, "pair")
    lines = [f"{counted(summary.scenarios, 'scenario')} in both, {pairs} by seed: {told}"]
    return [_verdict(summary, mean), *lines]


def _verdict(summary: CompareSummary, mean: MeanChange) -> str:
    if mean.high < 0 or mean.low > 0:
        return "worse beyond chance" if mean.high < 0 else "better beyond chance"
    if not summary.worse and not summary.better:
        return "no scenario differs"
    seen = "too few scenarios to be sure of any drop"
    if mean.detectable is not None:
        seen = f"a drop of {mean.detectable:.3f} would be seen 4 times in 5"
    return f"no difference shown, which is not the same as none; {seen}"


def _scenario_table(scenarios: Sequence[ScenarioChange]) -> "Table":
    table = _table("scenario", "", "base", "head", "change", "passed")
    changed = [scenario for scenario in scenarios if scenario.change != "same"]
    ranked = sorted(changed, key=lambda scenario: (scenario.difference or 0.0, scenario.name))
    shown = ranked if len(ranked) <= SHOWN_ROWS else ranked[:SHOWN_ROWS]
    for row in shown:
        passed = f"{row.base_passed}/{row.base_trials} → {row.head_passed}/{row.head_trials}"
        change = "–" if row.difference is None else f"{row.difference:+.3f}"
        table.add_row(
            one_line(row.name, 60), row.change, _number(row.base), _number(row.head), change, passed,
            style=_STYLES.get(row.change, ""),
        )  # fmt: skip
    if len(ranked) > len(shown):
        table.add_row(f"… and {len(ranked) - len(shown)} more, none worse, see --json", *[""] * 5)
    return table


def _table(first: str, *headings: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _print_fallen(scenarios: Sequence[ScenarioChange], console: "Console") -> None:
    fallen = [scenario for scenario in scenarios if scenario.fell]
    for scenario in fallen[:SHOWN_ROWS]:
        now = f"{scenario.head_passed} of {scenario.head_trials}"
        said = f"always passed, now {now}: {one_line(scenario.name, 60)}"
        console.print(said, style="red")
    if len(fallen) > SHOWN_ROWS:
        console.print(f"… and {len(fallen) - SHOWN_ROWS} more that always passed", style="red")


def _print_criteria(report: CompareReport, console: "Console") -> None:
    changed = [criterion for criterion in report.criteria if criterion.change != "same"]
    if not changed:
        return
    table = _table("criterion", "", "scenarios", "change", "95 % interval", "p", "corrected")
    for row in sorted(changed, key=lambda row: (row.mean.difference if row.mean else 0.0, row.name))[
        :SHOWN_ROWS
    ]:
        style = "bold red" if is_regression(row) else _STYLES.get(row.change, "")
        table.add_row(one_line(row.name, 50), row.change, str(row.scenarios), *_figures(row), style=style)
    console.print(table)
    tests = counted(report.summary.tests, "criterion").replace("criterions", "criteria")
    console.print(f"{tests} tested; p is corrected for that number by Holm's method", style="dim")


def _figures(row: CriterionChange) -> tuple[str, str, str, str]:
    if row.mean is None or row.corrected_p is None:
        return ("–",) * 4
    interval = f"{row.mean.low:+.3f} to {row.mean.high:+.3f}{' rough' if row.mean.rough else ''}"
    return f"{row.mean.difference:+.3f}", interval, f"{row.mean.p:.3g}", f"{row.corrected_p:.3g}"


def _print_prompts(report: CompareReport, console: "Console") -> None:
    for prompt in report.prompts:
        names = ", ".join(one_line(name, 40) for name in prompt.scenarios[:SHOWN_NAMES])
        more = (
            f" and {len(prompt.scenarios) - SHOWN_NAMES} more" if len(prompt.scenarios) > SHOWN_NAMES else ""
        )
        console.print(f"the system prompt changed in {names}{more}:", style="bold")
        if prompt.diff is None:
            console.print("  no transcripts, so its text is not known")
            continue
        lines = plain(prompt.diff).splitlines()[2:]
        for line in lines[:SHOWN_DIFF_LINES]:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
            console.print(f"  {line}", style=style)
        if len(lines) > SHOWN_DIFF_LINES:
            console.print(f"  … {len(lines) - SHOWN_DIFF_LINES} more lines, see --json", style="dim")


def _print_drop(drop: Drop, console: "Console") -> None:
    seeds = f"seed {drop.head_seed}"
    if drop.base_seed != drop.head_seed:
        seeds = f"seeds {drop.base_seed} and {drop.head_seed}"
    change = f"{drop.base_score:.2f} → {drop.head_score:.2f}"
    console.print(f"{one_line(drop.scenario, 60)}, {seeds}: {change}", style="bold yellow")
    for found in drop.evidence:
        points = f"{_points(found.base_points)} → {_points(found.head_points)} of {found.worth:g}"
        console.print(f"  {one_line(found.criterion, 60)}: {points}")
        console.print(f"    base: {one_line(found.base_reason)}")
        console.print(f"    head: {one_line(found.head_reason)}")
    for turn in drop.turns:
        if turn.base != turn.head:
            console.print(f"  asked: {one_line(turn.user)}", style="dim")
            console.print(f"    base said: {_said(turn.base)}")
            console.print(f"    head said: {_said(turn.head)}")


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _said(text: str | None) -> str:
    return "(no transcript)" if text is None else one_line(text, 300)


def _not_held(scenarios: Sequence[ScenarioChange]) -> str | None:
    """Limits are about what is in both runs; what went away would otherwise pass them without a word."""
    gone = [row.name for row in scenarios if row.base is not None and row.difference is None]
    if not gone:
        return None
    names = ", ".join(one_line(name, 40) for name in gone[:SHOWN_NAMES])
    more = f" and {len(gone) - SHOWN_NAMES} more" if len(gone) > SHOWN_NAMES else ""
    was = "has no score in the head and was" if len(gone) == 1 else "have no score in the head and were"
    return f"{counted(len(gone), 'scenario')} of the base {was} not held to the limits: {names}{more}"


def _too_few(scenarios: int) -> str:
    are = "is" if scenarios == 1 else "are"
    return (
        f"but {counted(scenarios, 'scenario')} {are} too few to show even the loss of every point; "
        "use --max-drop or --max-scenario-drop"
    )


def _limit_line(limit: LimitResult, scenarios: int) -> str:
    name = limit.name.lstrip("-").replace("-", " ")
    blame = ", ".join(one_line(found, 40) for found in limit.blame[:SHOWN_NAMES])
    because = f"; because of: {blame}" if blame else ""
    if limit.limit is None:
        shown = "none shown" if scenarios > FEW_SCENARIOS else f"none shown, {_too_few(scenarios)}"
        return f"{name}: {shown}" if limit.held else f"{name} FAILED: worse beyond chance{because}"
    drop = 0.0 if limit.actual is None else limit.actual
    word = "holds" if limit.held else "FAILED"
    return f"{name} {limit.limit:g} {word}: {drop:.4g}{because}"
