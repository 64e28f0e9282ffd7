"""`synthesis power`: what drop runs like this one can show, and how large a suite others need."""

from typing import Annotated

import typer


def run(
    run_name: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's folder, a report or the name of a baseline.")
    ],
    json: Annotated[
        bool, typer.Option("--json", help="Print the figures on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Say what drop two runs like this one can show, and the scenarios × seeds needed for others."""
    from harness.baselines import read_run
    from harness.console import console, emit, lasting_stdout
    from harness.detectable import power_of
    from harness.errors import Exit
    from harness.renderers import power_summary

    report = power_of(read_run(run_name))
    if json:
        emit(report.model_dump_json(indent=2))
    else:
        with lasting_stdout():
            power_summary.render(report, console(color=not no_color))
    return Exit.HOLDS
