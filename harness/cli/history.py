"""`synthesis history`: a folder of runs through time."""

from typing import Annotated

import typer


def run(
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where runs lie. [default: runs]")
    ] = "runs",
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only scenarios whose name matches. Repeatable."),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="X", help="What counts as a drop. [default: 0.1]")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the figures on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Show how every scenario went through a folder of runs, and the first run where it dropped."""
    from pathlib import Path

    from harness.arguments import share
    from harness.console import console, emit, lasting_stdout
    from harness.errors import Exit
    from harness.history import DROP, history
    from harness.renderers import history_summary

    limit = DROP if drop is None else share(drop, "--drop", DROP)
    report = history(Path(folder), tuple(scenario or ()), limit)
    if json:
        emit(report.model_dump_json(indent=2))
    else:
        with lasting_stdout():
            history_summary.render(report, console(color=not no_color))
    return Exit.HOLDS
