"""`synthesis audit`: conversations that already exist, scored turn by turn and held to thresholds."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.audit import Audit
    from harness.audit_display import LiveAuditDisplay
    from harness.audit_report import AuditReport
    from harness.audit_request import AuditRequest, ResolvedAudit
    from harness.engine import Engine

Text = str | None
Texts = list[str] | None


def run(  # noqa: PLR0913, PLR0917 - every option of the command
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE|FOLDER|-...", help="Conversations; - reads standard input.")
    ],
    source: Annotated[
        Text, typer.Option("--from", metavar="NAME", help="The format. [default: auto, which says why]")
    ] = None,
    columns: Annotated[
        Text, typer.Option(metavar="NAME=COLUMN,…", help="For tables: user=question,assistant=answer.")
    ] = None,
    checks: Annotated[
        Text, typer.Option(metavar="NAME,…", help="Only these checkers. [default: all of the package]")
    ] = None,
    rubric: Annotated[
        Text, typer.Option(metavar="NAME|FILE", help="Criteria and weights, as scenarios include them.")
    ] = None,
    where: Annotated[
        Texts,
        typer.Option(metavar="NAME=VALUE", help="Only tag=…, role=…, FIELD=…; also !=. Repeatable."),
    ] = None,
    sample: Annotated[Text, typer.Option(metavar="N", help="Only N conversations, drawn by lot.")] = None,
    seed: Annotated[Text, typer.Option(metavar="S", help="Of the lot. [default: 1]")] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Take out e-mail, phone, card, key, URL credentials before writing."),
    ] = False,
    redact_list: Annotated[
        Text, typer.Option(metavar="FILE", help="And these terms, one a line; turns --redact on.")
    ] = None,
    max_fail_rate: Annotated[
        Texts,
        typer.Option(metavar="[CHECK=]X", help="Exit 2 if more of the turns fail the check. Repeatable."),
    ] = None,
    min_mean: Annotated[
        Text, typer.Option(metavar="X", help="Exit 2 if the mean over conversations is below.")
    ] = None,
    min_worst: Annotated[Text, typer.Option(metavar="X", help="Exit 2 if any conversation is below.")] = None,
    max_rejects: Annotated[
        Text, typer.Option(metavar="N", help="Rows that may be unreadable. [default: 0]")
    ] = None,
    max_errors: Annotated[
        Text, typer.Option(metavar="N", help="Conversations that may end in an error. [default: 0]")
    ] = None,
    engine: Annotated[
        Text,
        typer.Option(metavar="NAME", help="local, processes[:N] or dask[:ADDRESS]. [default: local]"),
    ] = None,
    out: Annotated[
        Text, typer.Option(metavar="DIR", help="Where the audit goes. [default: audits/<time>]")
    ] = None,
    resume: Annotated[Text, typer.Option(metavar="DIR", help="Go on with an interrupted audit.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report on standard output, nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Score every assistant turn of conversations that already exist, and hold the rates to thresholds."""
    from harness.audit_request import AuditRequest

    request = AuditRequest(
        paths=tuple(paths),
        source=source,
        columns=columns,
        rubric=rubric,
        checks=checks,
        where=tuple(where or ()),
        sample=sample,
        seed=seed,
        redact=redact,
        redact_list=redact_list,
        max_fail_rate=tuple(max_fail_rate or ()),
        min_mean=min_mean,
        min_worst=min_worst,
        max_rejects=max_rejects,
        max_errors=max_errors,
        engine=engine,
        out=out,
        resume=resume,
    )
    return _audit(request, json=json, quiet=quiet, color=not no_color)


def _audit(request: "AuditRequest", *, json: bool, quiet: bool, color: bool) -> int:
    from harness.audit import Audit, expect_parts
    from harness.audit_display import LiveAuditDisplay
    from harness.console import complain, console, emit, lasting_stdout
    from harness.engine import open_engine
    from harness.errors import Exit, SynthesisError
    from harness.interrupts import ended_as_by_ctrl_c
    from harness.renderers import audit_summary

    resolved = request.resolve()
    display = LiveAuditDisplay(quiet=quiet)
    if not quiet:
        _say_what_was_found(resolved)
    with ended_as_by_ctrl_c(), open_engine(resolved.plan.engine) as engine:
        expect_parts(engine, resolved.plan)
        place, state = resolved.claim()
        audit = Audit(resolved.plan, place, state, display)
        try:
            report = _run(audit, engine, display)
        except SynthesisError as error:
            complain(error)
            report = None
    if report is None:
        _say_how_to_go_on(resolved, audit)
        return Exit.FATAL
    if json:
        emit(place.report.read_text("utf-8").removesuffix("\n"))
    elif not quiet or report.exit_code:
        with lasting_stdout():
            audit_summary.render(report, console(color=color), place)
    return report.exit_code


def _say_what_was_found(resolved: "ResolvedAudit") -> None:
    """Before the work begins, so that a wrong guess can be stopped."""
    from collections import Counter

    from harness.console import complain, counted, one_line

    redaction = resolved.plan.config.redaction
    clean = str if redaction is None else redaction.text
    seen = Counter(each.why for each in resolved.plan.inputs)
    first = {each.why: each.path for each in reversed(resolved.plan.inputs)}
    for why, count in seen.most_common(5):
        files = first[why] if count == 1 else f"{counted(count, 'file')} such as {first[why]}"
        complain(f"reading {one_line(clean(files), 120)} as {one_line(why, 160)}")
    if not resolved.resumable:
        complain("standard input cannot be read again: this audit cannot be resumed")


def _run(audit: "Audit", engine: "Engine", display: "LiveAuditDisplay") -> "AuditReport | None":
    """None where it was interrupted: after the parts under way, or, asked twice, at once."""
    from harness.interrupts import Interrupts

    with Interrupts(audit.stop, display.note).heard():
        try:
            return audit.run(engine)
        except KeyboardInterrupt:
            return None
        finally:
            display.close()


def _say_how_to_go_on(resolved: "ResolvedAudit", audit: "Audit") -> None:
    from harness.console import complain

    if resolved.resumable and audit.place.progress.exists():
        complain(f"stopped; go on with:\n  {resolved.request.again(audit.place.path)}")
    else:
        complain("stopped; it cannot be gone on with")
