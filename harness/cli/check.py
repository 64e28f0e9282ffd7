"""`synthesis check`: run the checkers over labelled cases and answer with an exit code."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.check_file import CheckedFile


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
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where to work: local, processes[:N] or dask[:ADDRESS].")
    ] = "local",
    json: Annotated[
        bool, typer.Option("--json", help="Print the report on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Run the checkers over labelled cases and compare the verdicts with the labels."""
    from harness.arguments import whole_number
    from harness.console import complain
    from harness.decide_check import decide_check
    from harness.interrupts import ended_as_by_ctrl_c
    from harness.report import prepared_out

    allowed = whole_number(fail_on, "--fail-on")
    source = _source(path, cases, planted=planted)
    with ended_as_by_ctrl_c(), prepared_out(Path(out), inputs=(source, schema)) as target:
        checked = _check(source, target, engine, schema, planted=planted)
    _show(checked, json=json, color=not no_color)
    for miss in checked.tally.missed:
        complain(f"planted row not caught: {miss}")
    return decide_check(checked.summary, fail_on=allowed, planted_misses=len(checked.tally.missed))


def _show(checked: "CheckedFile", *, json: bool, color: bool) -> None:
    from harness.console import console, copy_out, emit, lasting_stdout
    from harness.renderers import check_summary
    from harness.report import artifact_line

    tally, summary, target = checked.tally, checked.summary, checked.report
    if os.environ.get("MCP_OUTPUT") == "json":
        emit(artifact_line(summary, target))
    elif json:
        copy_out(target)
    else:
        with lasting_stdout():
            shown = [*tally.failures[False], *tally.failures[True]]
            check_summary.render(summary, shown, console(color=color), target)


def _source(path: str | None, option: str | None, *, planted: bool) -> str:
    from harness.errors import SynthesisError
    from harness.resources import bundled

    given = [source for source in (path, option) if source is not None]
    if len(given) + planted > 1:
        raise SynthesisError("more than one source of cases", fix="give one of CASES, --cases and --planted")
    return given[0] if given else str(bundled("data") / ("planted.jsonl" if planted else "evals.jsonl"))


def _check(source: str, target: Path, engine: str, schema: str | None, *, planted: bool) -> "CheckedFile":
    from harness.cases import named, row_schema
    from harness.check_file import CheckOptions, check_file, expect_blocks
    from harness.engine import open_engine
    from harness.freed_memory import keep_freed_memory
    from harness.progress import progress_bar
    from harness.settings import find_settings

    keep_freed_memory()
    row_schema(schema)
    options = CheckOptions(find_settings(Path.cwd()).check, named(source), schema, planted)
    size = Path(source).stat().st_size if Path(source).is_file() else None
    with open_engine(engine) as opened:
        expect_blocks(opened, options, size)
        from harness.renderers import check_summary  # noqa: F401 - while workers are at it

        with progress_bar("checking", size) as advance:
            return check_file(source, target, options, opened, advance)
