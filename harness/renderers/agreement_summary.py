"""Agreement in the terminal: a row per pair of raters, what the figures cannot say, where they differ."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from harness.agreement_report import (
    AgreementReport,
    Difference,
    MetricName,
    Opinion,
    PairAgreement,
    Rater,
    UnjudgedLabel,
)
from harness.console import counted, one_line, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_PAIRS = 50
SHOWN_PLACES = 10
SHOWN_DIFFERENCES = 5
FIRM, TENTATIVE = 0.8, 0.667
_WORDS: dict[MetricName, str] = {"nominal": "pass/fail", "interval": "points"}


def render(report: AgreementReport, console: "Console") -> None:
    """People first: they are the reason to trust a judge."""
    summary = report.summary
    read = f"{counted(summary.trials, 'trial')} of {counted(summary.scenarios, 'scenario')}"
    labels = f", {counted(summary.labels, 'human label')}" if report.stamp.labels is not None else ""
    console.print(f"agreement on {read}{labels}", style="bold")
    if report.pairs:
        console.print(_table(report.pairs))
    _print_panels(report, console)
    _print_notes(report, console)
    _print_differences(report.pairs, console)
    _print_unjudged(report.unjudged, console)
    _print_reading(report, console)
    console.print(f"report: {plain(report.stamp.report)}", style="dim")


def _table(pairs: Sequence[PairAgreement]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("rater", overflow="fold")
    table.add_column("compared with", overflow="fold")
    table.add_column("on")
    for heading in ("n", "agree", "kappa", "alpha", "rates"):
        table.add_column(heading, justify="right")
    for pair in pairs[:SHOWN_PAIRS]:
        table.add_row(
            _rater(pair.first), _rater(pair.second), _WORDS[pair.metric], str(pair.trials),
            f"{pair.agreement:.2f}", _figure(pair.kappa), _figure(pair.alpha),
            f"{pair.first_rate:.2f} {pair.second_rate:.2f}", style=_style(pair),
        )  # fmt: skip
    if len(pairs) > SHOWN_PAIRS:
        table.add_row(f"… and {len(pairs) - SHOWN_PAIRS} more, see --json", *[""] * 7)
    return table


def _rater(rater: Rater) -> str:
    number = f" #{rater.number}" if rater.number > 1 else ""
    kind = "" if rater.kind in ("criterion", rater.name) else f" ({rater.kind})"
    return f"{one_line(rater.name, 40)}{number}{kind}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _style(pair: PairAgreement) -> str:
    """Only people are a measure: two criteria that ask for different things need not agree."""
    if pair.second.kind != "human" or pair.alpha is None:
        return ""
    return "green" if pair.alpha >= FIRM else "yellow" if pair.alpha >= TENTATIVE else "red"


def _print_panels(report: AgreementReport, console: "Console") -> None:
    for panel in report.panels:
        who = ", ".join(_rater(rater) for rater in panel.raters[:SHOWN_PLACES])
        more = f" and {len(panel.raters) - SHOWN_PLACES} more" if len(panel.raters) > SHOWN_PLACES else ""
        over = f"{panel.ratings} ratings of {counted(panel.trials, 'trial')}"
        name = one_line(panel.criterion, 40)
        console.print(
            f"{name}: alpha {_figure(panel.alpha)} on {_WORDS[panel.metric]} among {who}{more} ({over})"
        )
    for repeat in report.repeats:
        same = f"the same score every time on {repeat.agreement:.0%} of {counted(repeat.trials, 'trial')}"
        console.print(f"{_rater(repeat.judge)} with itself: alpha {_figure(repeat.alpha)}, {same}")


def _print_notes(report: AgreementReport, console: "Console") -> None:
    """Each thing once, with those it is about."""
    about: dict[str, list[str]] = {}
    for pair in report.pairs:
        for note in pair.notes:
            about.setdefault(note, []).append(_both(pair))
    for panel in report.panels:
        for note in panel.notes:
            about.setdefault(note, []).append(f"all on {one_line(panel.criterion, 40)}")
    for repeat in report.repeats:
        for note in repeat.notes:
            about.setdefault(note, []).append(f"{_rater(repeat.judge)} with itself")
    for note, places in about.items():
        console.print(f"note: {one_line(note)}", style="yellow")
        console.print(f"    {_some(dict.fromkeys(places))}")


def _both(pair: PairAgreement) -> str:
    return f"{_rater(pair.first)} and {_rater(pair.second)}"


def _some(places: Iterable[str]) -> str:
    every = list(places)
    more = f" and {len(every) - SHOWN_DIFFERENCES} more" if len(every) > SHOWN_DIFFERENCES else ""
    return "; ".join(every[:SHOWN_DIFFERENCES]) + more


def _print_differences(pairs: Sequence[PairAgreement], console: "Console") -> None:
    """Beside people, criteria that differ from each other are only counted."""
    people = any(pair.second.kind == "human" for pair in pairs)
    differing = [pair for pair in pairs if pair.differences]
    for pair in differing[:SHOWN_PLACES]:
        found = sorted(pair.differences, key=_nearness) if pair.metric == "interval" else pair.differences
        shown = SHOWN_DIFFERENCES if pair.second.kind == "human" or not people else 0
        how = " in points" if pair.metric == "interval" else ""
        console.print(f"{_both(pair)} differ{how} on {len(found)} of {counted(pair.trials, 'trial')}")
        for difference in found[:shown]:
            _print_difference(difference, pair, console)
        if len(found) > shown:
            console.print(f"  … and {len(found) - shown} more, see --json" if shown else "  … see --json")
    if len(differing) > SHOWN_PLACES:
        left = sum(len(pair.differences) for pair in differing[SHOWN_PLACES:])
        more = counted(len(differing) - SHOWN_PLACES, "more pair")
        console.print(f"… and {counted(left, 'difference')} of {more}, see --json")


def _nearness(difference: Difference) -> float:
    """Verdicts are all equally far apart, points are not: the largest difference first."""
    first, second = difference.first.points, difference.second.points
    return 0.0 if first is None or second is None else -abs(first - second)


def _print_difference(difference: Difference, pair: PairAgreement, console: "Console") -> None:
    said = f"{_said(difference.first, pair)} against {_said(difference.second, pair)}"
    console.print(f"  {one_line(difference.scenario, 60)} seed {difference.seed}: {said}", style="yellow")
    for rater, opinion in ((pair.first, difference.first), (pair.second, difference.second)):
        if opinion.reason:
            console.print(f"    {_rater(rater)}: {one_line(opinion.reason)}")


def _said(opinion: Opinion, pair: PairAgreement) -> str:
    if pair.metric == "interval" and opinion.points is not None:
        return f"{opinion.points:g} {'point' if opinion.points == 1 else 'points'}"
    return "passed" if opinion.passed else "failed"


def _print_unjudged(unjudged: Sequence[UnjudgedLabel], console: "Console") -> None:
    if not unjudged:
        return
    count = len({label.line for label in unjudged})
    console.print(f"{counted(count, 'label')} without a verdict to compare, in no figure above:", style="red")
    for label in unjudged[:SHOWN_DIFFERENCES]:
        spot = f"{one_line(label.scenario, 60)} seed {label.seed}, {one_line(label.criterion, 40)}"
        console.print(f"  line {label.line}: {spot}: {one_line(label.why)}")
    if len(unjudged) > SHOWN_DIFFERENCES:
        console.print(f"  … and {len(unjudged) - SHOWN_DIFFERENCES} more, see --json")


def _print_reading(report: AgreementReport, console: "Console") -> None:
    """How to read it, as far as it is there to be read."""
    console.print("rates: what each passes, or its mean share of the points", style="dim")
    if any(pair.second.kind == "human" for pair in report.pairs):
        firm = f"{FIRM:g} or more is firm, from {TENTATIVE:g} tentative"
        console.print(f"alpha with people: {firm}, less is no ground to trust a verdict", style="dim")
    if any(pair.second.kind != "human" for pair in report.pairs):
        console.print("a judge and a criterion that ask for different things need not agree", style="dim")
