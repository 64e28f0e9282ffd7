"""`synthesis compare`: did it get worse? Two runs of the same scenarios, paired."""

from typing import Annotated

import typer


def run(  # noqa: PLR0913, PLR0917 - every option of the command
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="A run's folder, a report or the name of a baseline.")
    ],
    head: Annotated[str, typer.Argument(metavar="HEAD", help="The same, for what is new.")],
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 2 if it is worse beyond chance.")
    ] = False,
    max_drop: Annotated[
        str | None, typer.Option(metavar="X", help="Exit 2 if the mean fell by more.")
    ] = None,
    max_scenario_drop: Annotated[
        str | None, typer.Option(metavar="X", help="Exit 2 if any scenario's mean fell by more.")
    ] = None,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Score again what was not scored alike; no model is asked.")
    ] = False,
    data_only: Annotated[
        bool,
        typer.Option("--data-only", envvar="SYNTHESIS_DATA_ONLY", help="Refuse everything that is code."),
    ] = False,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the comparison there too.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the comparison on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Compare two runs of the same scenarios: what changed, how sure that is, and what it looks like."""
    from pathlib import Path

    from harness.compare_request import CompareRequest, LimitArguments
    from harness.console import complain, console, emit, lasting_stdout
    from harness.renderers import compare_summary
    from harness.report import prepare_out, write_report

    limits = LimitArguments(fail_on_regression, max_drop, max_scenario_drop)
    request = CompareRequest(base, head, limits, rescore=rescore, data_only=data_only)
    if out is not None:
        prepare_out(Path(out), request.inputs())
    report = request.compare(complain)
    if out is not None:
        write_report(report, out)
    if json:
        emit(report.model_dump_json(indent=2))
    else:
        with lasting_stdout():
            compare_summary.render(report, console(color=not no_color))
    return report.exit_code
