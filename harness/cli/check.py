"""`synthesis check`: run the checkers over labelled cases and answer with an exit code."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.records import Case, CheckReport


def run(  # noqa: PLR0913, PLR0917 - one parameter per option
    path: Annotated[
        str | None, typer.Argument(metavar="CASES", help="JSONL file of cases; - reads standard input.")
    ] = None,
    cases: Annotated[
        str | None, typer.Option(metavar="PATH", help="The same as CASES. [default: bundled]")
    ] = None,
    schema: Annotated[
        str | None, typer.Option(metavar="PATH", help="A JSON Schema each case must satisfy as well.")
    ] = None,
    out: Annotated[str, typer.Option(metavar="PATH", help="Where the JSON report goes.")] = "out/report.json",
    fail_on: Annotated[
        str, typer.Option(metavar="N", help="Exit 2 when more than N cases fail unexpectedly.")
    ] = "0",
    planted: Annotated[
        bool, typer.Option("--planted", help="Run the planted known-bad rows; exit 2 if any of them passes.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Run the checkers over labelled cases and compare the verdicts with the labels."""
    from harness.arguments import whole_number
    from harness.cases import load_cases
    from harness.check import planted_misses
    from harness.console import complain, console, emit, lasting_stdout
    from harness.decide import decide_check
    from harness.renderers import check_summary
    from harness.report import format_artifact, prepare_out, write_report

    allowed = whole_number(fail_on, "--fail-on")
    source = _source(path, cases, planted=planted)
    loaded = load_cases(source, schema)
    target = prepare_out(Path(out), inputs=(source, schema))
    report = _run(loaded)
    write_report(report, target)
    if os.environ.get("MCP_OUTPUT") == "json":
        emit(format_artifact(report, target))
    elif json:
        emit(report.model_dump_json(by_alias=True, indent=2))
    else:
        with lasting_stdout():
            check_summary.render(report, console(color=not no_color), target)
    misses = planted_misses(report) if planted else []
    for miss in misses:
        complain(f"planted row not caught: {miss}")
    return decide_check(report, fail_on=allowed, planted_misses=len(misses))


def _source(path: str | None, option: str | None, *, planted: bool) -> str:
    from harness.errors import SynthesisError
    from harness.resources import bundled

    given = [source for source in (path, option) if source is not None]
    if len(given) + planted > 1:
        raise SynthesisError("more than one source of cases", fix="give one of CASES, --cases and --planted")
    return given[0] if given else str(bundled("data") / ("planted.jsonl" if planted else "evals.jsonl"))


def _run(cases: list["Case"]) -> "CheckReport":
    from harness.check import run_all_cases
    from harness.progress import progress_bar
    from harness.settings import find_settings

    with progress_bar("checking", len(cases)) as advance:
        return run_all_cases(cases, find_settings(Path.cwd()).check, progress=advance)
