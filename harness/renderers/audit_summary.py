"""An audit in the terminal: what was read, a row per check, what failed most, where to look, what holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.audit_report import AuditedCheck, AuditReport, AuditSummary, Reasons
from harness.audit_state import AuditDirectory
from harness.console import counted, one_line, plain
from harness.run_report import ThresholdResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_INPUTS = 5
SHOWN_RULES = 8
SHOWN_WORST = 5
SHOWN_REASONS = 5
SHOWN_TURNS = 12
_INTERVALS = (
    "rate: failed turns among those the check applies to. The 95 % interval is by conversation: turns of one "
    "conversation resemble each other and say less than as many strangers would."
)


def render(report: AuditReport, console: "Console", place: AuditDirectory) -> None:
    """From what was read to where the files are; a newcomer can read it from top to bottom."""
    for line in _read(report):
        console.print(line)
    for line in _chosen(report):
        console.print(line, style="bold")
    _print_figures(report, console)
    _print_rules(report, console)
    _print_worst(report, console)
    for line in _redaction(report):
        console.print(line)
    _print_reasons("could not be read", report.rejects, console, "yellow")
    _print_reasons("passed over: no conversation of their own", report.passed_over, console, "dim")
    _print_reasons("could not be judged", report.errors, console, "red")
    console.print(_headline(report), style="bold")
    for line in _not_paired(report.summary):
        console.print(line, style="dim")
    for result in report.thresholds:
        console.print(_threshold(result), style="green" if result.held else "red")
    for line in _incomplete(report):
        console.print(line, style="red")
    for line in _files(report, place):
        console.print(line, style="dim")


def _print_figures(report: AuditReport, console: "Console") -> None:
    if report.checks:
        console.print(_table(report))
        console.print(_INTERVALS, style="dim")
    if len(report.drift) > 1:
        console.print(_drift_table(report))
        for line in _trends(report):
            console.print(line)
    if any(not _is_plain_check(each.criterion) for each in report.criteria):
        console.print(_criteria_table(report))


def _files(report: AuditReport, place: AuditDirectory) -> Iterator[str]:
    yield f"report: {plain(str(place.report))}"
    if report.summary.failed_turns:
        yield f"every failing turn with its evidence: {plain(str(place.findings))}"
    if report.summary.rejected:
        yield f"every row that could not be read: {plain(str(place.rejects))}"


def _read(report: AuditReport) -> Iterator[str]:
    shown = report.inputs[:SHOWN_INPUTS]
    for each in shown:
        found = f"{counted(each.conversations, 'conversation')}, {counted(each.turns, 'turn')}"
        yield f"read {one_line(each.path, 80)} as {one_line(each.why, 120)}: {found}"
    more = report.summary.inputs - len(shown)
    if more > 0:
        yield f"… and {counted(more, 'more file')}"


def _chosen(report: AuditReport) -> Iterator[str]:
    summary = report.summary
    if report.where:
        conditions = " and ".join(one_line(each, 60) for each in report.where)
        yield f"only where {conditions}: {counted(summary.left_out, 'conversation')} left out"
    if (sample := report.sample) is not None:
        yield (
            f"SAMPLE of {sample.drawn} out of {counted(sample.population, 'conversation')} "
            f"(seed {sample.seed}): counts are of the sample, rates are estimates for all"
        )


def _table(report: AuditReport) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("check", overflow="fold")
    for heading in ("turns", "applies to", "failed", "rate", "95 % interval"):
        table.add_column(heading, justify="right")
    if any(check.errors for check in report.checks):
        table.add_column("errors", justify="right")
    for check in report.checks:
        errors = [str(check.errors)] if any(each.errors for each in report.checks) else []
        table.add_row(
            one_line(check.check, 50), str(check.turns), str(check.applicable), str(check.failed),
            _percent(check.rate), _interval(check.interval), *errors, style="yellow" if check.failed else "",
        )  # fmt: skip
    return table


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"


def _interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{100 * interval[0]:.2f} to {100 * interval[1]:.2f} %"


def _drift_table(report: AuditReport) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("failure rate at turn", justify="right")
    for check in report.checks:
        table.add_column(one_line(check.check, 30), justify="right")
    shown = report.drift
    if len(shown) > SHOWN_TURNS:
        shown = (*shown[: SHOWN_TURNS - 1], shown[-1])
    for row in shown:
        if row is shown[-1] and len(report.drift) > SHOWN_TURNS:
            table.add_row("…", *[""] * len(report.checks))
        rates = (row.checks[check.check] for check in report.checks)
        table.add_row(row.turn, *(f"{_percent(each.rate)} of {each.applicable}" for each in rates))
    return table


def _trends(report: AuditReport) -> Iterator[str]:
    for check in report.checks:
        trend = check.trend
        if trend.difference is None:
            continue
        early = _percent(trend.early_failed / trend.early_applicable)
        late = _percent(trend.late_failed / trend.late_applicable)
        yield (
            f"drift of {one_line(check.check, 50)}: {early} in the first third, {late} in the last "
            f"({_course(check)}), in {counted(trend.conversations, 'conversation')} of 3 turns and more"
        )


def _course(check: AuditedCheck) -> str:
    interval = check.trend.interval
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "no clear change"
    return "RISES" if interval[0] > 0 else "falls"


def _is_plain_check(criterion: dict[str, object]) -> bool:
    """A checker and nothing else: the table of checks says it all."""
    return list(criterion.values()) == [True]


def _criteria_table(report: AuditReport) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("criterion, over conversations", overflow="fold")
    for heading in ("passed", "failed", "n/a", "errors"):
        table.add_column(heading, justify="right")
    for each in report.criteria:
        counts = (each.passed, each.failed, each.not_applicable, each.errors)
        table.add_row(one_line(each.name, 60), *map(str, counts), style="yellow" if each.failed else "")
    return table


def _print_rules(report: AuditReport, console: "Console") -> None:
    if report.rules:
        console.print("what failed most often, each with its first example:")
    for rule in report.rules[:SHOWN_RULES]:
        name = f"{one_line(rule.check, 40)}: {one_line(rule.rule, 60)} ({one_line(rule.group, 40)})"
        console.print(f"  {rule.hits} × {name}", style="yellow")
        where = f"{one_line(rule.example.file, 60)}:{rule.example.line} turn {rule.example.turn}"
        console.print(f"      {where}: {one_line(rule.example.excerpt)}")
    if len(report.rules) > SHOWN_RULES:
        console.print(f"  … and {len(report.rules) - SHOWN_RULES} more in the report")


def _print_worst(report: AuditReport, console: "Console") -> None:
    if report.worst:
        console.print("worst conversations:")
    for each in report.worst[:SHOWN_WORST]:
        where = f"{one_line(each.file, 60)}:{each.line}"
        failed = f"{each.failed_turns} of {counted(each.turns, 'turn')} failed"
        lost = ", ".join(one_line(name, 40) for name in each.lost) or "nothing whole"
        unnamed = each.conversation == f"{each.file}:{each.line}"
        name = where if unnamed else f"{where}  {one_line(each.conversation, 40)}"
        console.print(
            f"  {each.score:.2f}  {name}: {failed}; lost: {lost}",
            style="yellow",
        )


def _redaction(report: AuditReport) -> Iterator[str]:
    if (redaction := report.redaction) is None:
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in redaction.details.items()) or "nothing"
    yield f"redacted in {counted(redaction.turns, 'turn')}: {kinds}; verdicts are of the original words"
    changed = {check.check: check.changed_by_redaction or 0 for check in report.checks}
    said = ", ".join(f"{one_line(name, 40)} {count}" for name, count in changed.items() if count)
    yield f"turn verdicts that would change on the redacted words: {said or 'none'}"


def _print_reasons(what: str, reasons: Reasons, console: "Console", style: str) -> None:
    if not reasons.total:
        return
    console.print(f"{counted(reasons.total, 'record')} {what}:", style=style)
    for each in reasons.reasons[:SHOWN_REASONS]:
        first = "" if each.file is None else f"  (first: {one_line(each.file, 60)}:{each.line})"
        console.print(f"  {each.count} × {one_line(each.reason, 120)}{first}", style=style)
    more = len(reasons.reasons) - SHOWN_REASONS
    if more > 0 or reasons.others:
        console.print("  … and other reasons", style=style)


def _headline(report: AuditReport) -> str:
    summary = report.summary
    sampled = "" if report.sample is None else " (sample)"
    line = (
        f"{counted(summary.conversations, 'conversation')}{sampled}, {counted(summary.turns, 'turn')}: "
        f"{counted(summary.failed_turns, 'turn')} failed at least one check"
    )
    if summary.mean is not None:
        line += (
            f"; conversations: mean {summary.mean:.2f}, worst {summary.worst:.2f}, "
            f"{summary.passed} of {summary.scored} reached every point"
        )
    if summary.without_turns:
        line += f"; {summary.without_turns} had no reply to judge"
    return line


def _not_paired(summary: AuditSummary) -> Iterator[str]:
    """Replies that answer nothing that was read: said, since nothing is skipped in silence."""
    if summary.unprompted:
        yield f"{counted(summary.unprompted, 'reply', 'replies')} before anybody asked, not judged"
    if summary.alone:
        turns = counted(summary.alone, "turn")
        yield f"{turns} judged without the message they answer, which is not in the log"


def _threshold(result: ThresholdResult) -> str:
    name = result.name.lstrip("-").replace("-", " ", 2)
    if result.actual is None:
        return f"{plain(name)} {result.required:g} FAILED: there is no figure, because nothing was judged"
    if result.held:
        return f"{plain(name)} {result.required:g} holds: {result.actual:.4g}"
    blame = ", ".join(one_line(each, 60) for each in result.blame[:3])
    return f"{plain(name)} {result.required:g} FAILED: {result.actual:.4g}" + (
        f"; lowest: {blame}" if blame else ""
    )


def _incomplete(report: AuditReport) -> Iterator[str]:
    summary = report.summary
    if summary.rejected > report.max_rejects:
        rows = counted(summary.rejected, "row")
        yield f"INCOMPLETE: {rows} could not be read, {report.max_rejects} allowed (--max-rejects)"
    if summary.errors > report.max_errors:
        them = counted(summary.errors, "conversation")
        yield f"INCOMPLETE: {them} could not be judged, {report.max_errors} allowed (--max-errors)"
    if not summary.scored and not summary.conversations and summary.left_out:
        yield "NOTHING JUDGED: --where left out every conversation; look at the names of fields in the input"
    elif not summary.scored:
        yield "NOTHING JUDGED: no check applied to anything that was read"
