"""`synthesis aa`: how often identical runs would disagree."""

from typing import Annotated

import typer


def run(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="One run, or several of exactly the same thing."),
    ],
    min_mean: Annotated[
        str | None, typer.Option(metavar="X", help="A threshold to ask about. [default: the run's own]")
    ] = None,
    min_worst: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    min_scenario_mean: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the figures on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Say how often runs in which nothing changed would disagree, about thresholds and with each other."""
    from harness.arguments import share
    from harness.baselines import read_run
    from harness.console import console, emit, lasting_stdout
    from harness.errors import Exit
    from harness.identical import identical_runs
    from harness.renderers import aa_summary

    given = {
        "--min-mean": min_mean, "--min-worst": min_worst, "--min-scenario-mean": min_scenario_mean,
    }  # fmt: skip
    lines = {name: share(text, name) for name, text in given.items() if text is not None}
    report = identical_runs([read_run(name) for name in runs], lines)
    if json:
        emit(report.model_dump_json(indent=2))
    else:
        with lasting_stdout():
            aa_summary.render(report, console(color=not no_color))
    return Exit.HOLDS
