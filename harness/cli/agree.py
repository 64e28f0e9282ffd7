"""`synthesis agree`: how far the judge, the other criteria and human labels agree."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    run_path: Annotated[
        str, typer.Argument(metavar="RUN", help="The folder of a run, or one of the reports in it.")
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="JSONL of human labels: scenario, seed, criterion, label (true, false or points), rater.",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the figures on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Compare the judge of a run with its other criteria and with people, before trusting it."""
    from harness.agree import agree
    from harness.console import console, emit, lasting_stdout
    from harness.errors import Exit
    from harness.renderers import agreement_summary

    report = agree(Path(run_path), None if labels is None else Path(labels))
    if json:
        emit(report.model_dump_json(indent=2))
    else:
        with lasting_stdout():
            agreement_summary.render(report, console(color=not no_color))
    return Exit.HOLDS
