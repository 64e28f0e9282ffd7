"""`synthesis eval`: scenarios × seeds, recorded, scored, held to thresholds."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.compare_report import CompareReport
    from harness.decide import RunOutcome
    from harness.evaluate import Evaluation
    from harness.evaluation_request import EvaluationRequest
    from harness.live import LiveDisplay

Text = str | None


def run(  # noqa: PLR0913, PLR0917 - every option of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...", help="Scenario files or folders. [default: the project's, or bundled]"
        ),
    ] = None,
    seeds: Annotated[
        Text, typer.Option(metavar="N|LIST", help="5 is seeds 1 to 5; 3,7,11 just those.")
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only scenarios whose name matches. Repeatable."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Only scenarios with this tag. Repeatable.")
    ] = None,
    min_mean: Annotated[
        Text, typer.Option(metavar="X", help="Exit 2 if the mean over all trials is below.")
    ] = None,
    min_worst: Annotated[Text, typer.Option(metavar="X", help="Exit 2 if any trial is below.")] = None,
    min_scenario_mean: Annotated[
        Text, typer.Option(metavar="X", help="Exit 2 if any scenario's mean is below.")
    ] = None,
    confidence: Annotated[
        Text, typer.Option(metavar="X", help="Decide by intervals of this level; exit 3 if still open.")
    ] = None,
    stop: Annotated[
        Text, typer.Option(metavar="decided", help="Start no trial that cannot change the outcome.")
    ] = None,
    max_errors: Annotated[
        Text, typer.Option(metavar="N", help="Trials that may end in an error. [default: 0]")
    ] = None,
    baseline: Annotated[
        Text, typer.Option(metavar="NAME", help="Compare with a baseline or an earlier run.")
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit 2 if it is worse than that beyond chance.")
    ] = False,
    max_drop: Annotated[
        Text, typer.Option(metavar="X", help="Exit 2 if the mean fell by more since then.")
    ] = None,
    max_scenario_drop: Annotated[
        Text, typer.Option(metavar="X", help="Exit 2 if any scenario's mean fell by more.")
    ] = None,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Score the baseline again where it was not scored alike.")
    ] = False,
    jobs: Annotated[Text, typer.Option(metavar="N", help="Trials at once. [default: 8]")] = None,
    engine: Annotated[
        Text,
        typer.Option(
            metavar="NAME", help="local, processes[:N] or dask[:ADDRESS]: where trials run. [default: local]"
        ),
    ] = None,
    timeout: Annotated[Text, typer.Option(metavar="SECONDS", help="For one trial. [default: 300]")] = None,
    model: Annotated[
        Text,
        typer.Option(
            metavar="PROVIDER:NAME",
            envvar="SYNTHESIS_MODEL",
            help="Who answers where a scenario names nobody.",
        ),
    ] = None,
    base_url: Annotated[Text, typer.Option(metavar="URL", help="The server of that model.")] = None,
    override_subject: Annotated[
        bool, typer.Option("--override-subject", help="--model answers in every scenario.")
    ] = False,
    judge_model: Annotated[
        Text,
        typer.Option(
            metavar="PROVIDER:NAME",
            envvar="SYNTHESIS_JUDGE_MODEL",
            help="Who judges where a criterion or its scenario names nobody.",
        ),
    ] = None,
    judge_base_url: Annotated[Text, typer.Option(metavar="URL", help="The server of that judge.")] = None,
    max_cost: Annotated[
        Text, typer.Option(metavar="X", help="Stop when models have cost this, by the project's prices.")
    ] = None,
    max_tokens: Annotated[
        Text, typer.Option(metavar="N", help="Stop when models have used this many tokens.")
    ] = None,
    record: Annotated[Text, typer.Option(metavar="DIR", help="Keep every answer of a model.")] = None,
    replay: Annotated[
        Text, typer.Option(metavar="DIR", help="Take answers from there; nothing is sent.")
    ] = None,
    require_sandbox: Annotated[
        Text,
        typer.Option(metavar="LEVEL", help="Refuse less than limits, landlock or bubblewrap for agents."),
    ] = None,
    out: Annotated[
        Text, typer.Option(metavar="DIR", help="Where the run goes. [default: runs/<time>]")
    ] = None,
    resume: Annotated[Text, typer.Option(metavar="DIR", help="Go on with an earlier run.")] = None,
    keep_workspaces: Annotated[
        Text, typer.Option(metavar="always|failed|never", help="Which workspaces stay. [default: always]")
    ] = None,
    recursive: Annotated[bool, typer.Option("--recursive", help="Look into folders of folders.")] = False,
    data_only: Annotated[
        bool,
        typer.Option("--data-only", envvar="SYNTHESIS_DATA_ONLY", help="Refuse everything that is code."),
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first error or trial below --min-worst.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Print the plan and run nothing.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the report on standard output, nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
) -> int:
    """Run scenarios across seeds, score every trial and hold the scores to thresholds."""
    from harness.baseline_arguments import BaselineArguments
    from harness.evaluation_request import EvaluationRequest
    from harness.model_arguments import ModelArguments

    request = EvaluationRequest(
        paths=tuple(paths or ()),
        seeds=seeds,
        scenarios=tuple(scenario or ()),
        tags=tuple(tag or ()),
        min_mean=min_mean,
        min_worst=min_worst,
        min_scenario_mean=min_scenario_mean,
        max_errors=max_errors,
        confidence=confidence,
        stop=stop,
        jobs=jobs,
        engine=engine,
        timeout=timeout,
        out=out,
        resume=resume,
        keep_workspaces=keep_workspaces,
        recursive=recursive,
        data_only=data_only,
        fail_fast=fail_fast,
        baseline=BaselineArguments(baseline, fail_on_regression, max_drop, max_scenario_drop, rescore),
        models=ModelArguments(
            model=model,
            base_url=base_url,
            override_subject=override_subject,
            judge_model=judge_model,
            judge_base_url=judge_base_url,
            max_cost=max_cost,
            max_tokens=max_tokens,
            record=record,
            replay=replay,
            require_sandbox=require_sandbox,
        ),
    )
    if list_only:
        return _list(request)
    return _evaluate(request, json=json, quiet=quiet, color=not no_color)


def _list(request: "EvaluationRequest") -> int:
    from harness.console import complain, counted, emit, one_line

    resolved = request.resolve(complain, offline=True)
    for note in resolved.notes:
        complain(note)
    for scenario, seeds in resolved.plan.rows:
        numbers = ",".join(map(str, seeds[:10])) + (",…" if len(seeds) > 10 else "")
        emit(f"{one_line(scenario.name, 60)}  seeds {numbers}  {one_line(scenario.file)}")
    rows, size = counted(len(resolved.plan.rows), "scenario"), counted(resolved.plan.size, "trial")
    emit(f"{rows}, {size}; nothing was run")
    return 0


def _evaluate(request: "EvaluationRequest", *, json: bool, quiet: bool, color: bool) -> int:
    from harness.console import complain, console, emit, lasting_stdout
    from harness.decide import outranking
    from harness.live import LiveDisplay
    from harness.renderers import run_summary
    from harness.spread import opened_evaluation

    resolved = request.resolve(complain)
    if not quiet:
        for note in resolved.notes:
            complain(note)
    resolved.prepare(complain)
    display = LiveDisplay(quiet=quiet)
    with opened_evaluation(resolved, display) as evaluation:
        outcome = _run(evaluation, display)
    if json:
        emit(outcome.report.read_text("utf-8").removesuffix("\n"))
    elif not quiet or outcome.decision.exit:
        with lasting_stdout():
            again = request.again(outcome.report.parent)
            run_summary.render(outcome, console(color=color), again)
    # Last, so that a comparison that fails takes nothing of the run with it.
    comparison = request.compare(outcome, complain)
    return outranking(outcome.decision.exit, _told(comparison, color=color, quiet=quiet, json=json))


def _told(comparison: "CompareReport | None", *, color: bool, quiet: bool, json: bool) -> int:
    """Show a comparison as its run is shown; gives its exit code."""
    from harness.console import console, lasting_stdout
    from harness.renderers import compare_summary

    if comparison is None:
        return 0
    if not json and (not quiet or comparison.exit_code):
        with lasting_stdout():
            compare_summary.render(comparison, console(color=color))
    return comparison.exit_code


def _run(evaluation: "Evaluation", display: "LiveDisplay") -> "RunOutcome":
    """Whatever ends a run that was under way, its report is written."""
    import asyncio

    from harness.interrupts import Interrupts

    interrupts = Interrupts(evaluation.stop, display.note)
    with interrupts.heard():
        try:
            asyncio.run(_run_and_tick(evaluation, display))
        except BaseException as error:
            display.close()
            if not evaluation.under_way:
                raise
            with interrupts.deaf():
                outcome = evaluation.finish()
            if not isinstance(error, KeyboardInterrupt):
                raise
            return outcome
        display.close()
        with interrupts.deaf():
            return evaluation.finish()


async def _run_and_tick(evaluation: "Evaluation", display: "LiveDisplay") -> None:
    import asyncio

    ticker = asyncio.create_task(display.tick())
    try:
        await evaluation.run()
    finally:
        ticker.cancel()
