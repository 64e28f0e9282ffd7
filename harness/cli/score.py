"""`synthesis score`: recorded transcripts, today's rubric and checkers, no subject and no model called."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer


def run(  # noqa: PLR0913, PLR0917 - every option of the command
    run_dir: Annotated[str, typer.Argument(metavar="RUN_DIR", help="The folder of an earlier run.")],
    rubric: Annotated[
        str | None, typer.Option(metavar="FILE", help="Score everything by this rubric instead.")
    ] = None,
    scenarios: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Where the scenarios lie today; needed where they are code."),
    ] = None,
    min_mean: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    min_worst: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    min_scenario_mean: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    confidence: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    max_errors: Annotated[str | None, typer.Option(metavar="N", help="As for eval.")] = None,
    judge_model: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER:NAME", envvar="SYNTHESIS_JUDGE_MODEL", help="As for eval."),
    ] = None,
    judge_base_url: Annotated[str | None, typer.Option(metavar="URL", help="As for eval.")] = None,
    ask_judges: Annotated[
        bool,
        typer.Option("--ask-judges", help="Ask judges what no judgment is kept of; this uses your key."),
    ] = False,
    max_cost: Annotated[str | None, typer.Option(metavar="X", help="As for eval.")] = None,
    max_tokens: Annotated[str | None, typer.Option(metavar="N", help="As for eval.")] = None,
    data_only: Annotated[
        bool,
        typer.Option("--data-only", envvar="SYNTHESIS_DATA_ONLY", help="Refuse everything that is code."),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report on standard output, nothing else.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Score the transcripts of an earlier run again and write a new report beside the old one.

    No model is asked, unless --ask-judges says so.
    """
    from harness.console import complain, console, emit, lasting_stdout
    from harness.evaluation_request import EvaluationRequest
    from harness.load import LoadOptions
    from harness.model_arguments import ModelArguments
    from harness.renderers import run_summary
    from harness.rescore import RescoreOptions, rescore
    from harness.run_directory import RunDirectory
    from harness.settings import find_settings

    settings = find_settings(Path.cwd())
    request = EvaluationRequest(
        min_mean=min_mean,
        min_worst=min_worst,
        min_scenario_mean=min_scenario_mean,
        max_errors=max_errors,
        confidence=confidence,
    )
    arguments = ModelArguments(
        judge_model=judge_model, judge_base_url=judge_base_url, max_cost=max_cost, max_tokens=max_tokens
    )
    options = RescoreOptions(
        rubric=None if rubric is None else Path(rubric),
        scenarios=tuple(scenarios or ()),
        settings=settings.check,
        prices=settings.prices,
        models=arguments.models(settings, os.environ, settings.eval.jobs),
        thresholds=request.thresholds(settings.eval),
        load=LoadOptions(
            data_only=data_only,
            criteria_only=True,
            judge=arguments.judge_access(os.environ, offline=True),
            turns=settings.turns,
            warn=complain,
        ),
        ask_judges=ask_judges,
        seconds=settings.eval.timeout,
    )
    outcome = rescore(RunDirectory(Path(run_dir)), options)
    if json:
        emit(outcome.report.read_text("utf-8").removesuffix("\n"))
    else:
        with lasting_stdout():
            asking = any(criterion.asks for row in outcome.rows for criterion in row.scenario.criteria)
            command = f"synthesis score {shlex.quote(run_dir)} --ask-judges"
            again = command if asking and not ask_judges else None
            run_summary.render(outcome, console(color=not no_color), again)
    return outcome.decision.exit
