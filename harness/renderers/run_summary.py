"""A run in the terminal: a row per scenario, the worst trials and what cost them, thresholds, what next."""

import shlex
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from harness.console import counted, one_line, plain
from harness.decide import RunOutcome
from harness.errors import Exit
from harness.renderers.threshold_lines import threshold_lines
from harness.repeats import pass_all_k, pass_at_k, passes
from harness.run_directory import REPORT
from harness.run_report import RunSummary
from harness.score import ScoredTrial
from harness.spending import Usage
from harness.summarize import ScenarioScores, mean, stdev, worst

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_SCENARIOS = 50
SHOWN_TRIALS = 5
SHOWN_PROMPTS = 3
SHOWN_FLAKY = 8
SHOWN_K = 3
_STOPPED = {
    "model": "no model could be asked",
    "max-cost": "--max-cost is reached",
    "max-tokens": "--max-tokens is reached",
}


def render(outcome: RunOutcome, console: "Console", again: str | None = None) -> None:
    """Worst things first where there is no room for all; `again` is what to type to go on with the run."""
    console.print(_table(outcome.rows))
    _print_worst(outcome.rows, console)
    summary = outcome.summary
    if summary.dimensions:
        console.print(_dimension_table(summary))
    if summary.flaky:
        console.print(_flaky(summary.flaky), style="yellow")
    console.print(_headline(summary), style="bold")
    _print_decision(outcome, console)
    if summary.not_run == 0 and summary.stopped == "interrupted":
        console.print("interrupted, but every trial had finished")
    if _unfinished(outcome):
        console.print(_incomplete(summary), style="red")
    elif summary.errors:
        console.print(f"{counted(summary.errors, 'error')}, accepted", style="yellow")
    elif not summary.scored:
        console.print("NOTHING SCORED: no criterion applied to any trial", style="red")
    for line in _about_models(outcome):
        console.print(line, style="dim")
    console.print(f"report: {plain(str(outcome.report))}", style="dim")
    console.print(f"next: {_next(outcome, again)}", style="dim")


def _print_decision(outcome: RunOutcome, console: "Console") -> None:
    for result in outcome.decision.thresholds:
        style = "green" if result.held else "red" if result.failed else "yellow"
        for line in threshold_lines(result):
            console.print(line, style=style)
    if outcome.summary.stopped == "decided" and outcome.decision.exit != Exit.FATAL:
        were = "was" if outcome.summary.not_run == 1 else "were"
        saved = f"{outcome.summary.not_run} of {counted(outcome.summary.trials, 'trial')} {were} not needed"
        console.print(f"decided early: {saved}")


def _unfinished(outcome: RunOutcome) -> bool:
    """Whether there is reason to go on with the run: errors that were accepted are none."""
    return not outcome.summary.complete and outcome.decision.exit == Exit.FATAL


def _table(rows: Sequence[ScenarioScores]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("scenario", overflow="fold")
    k = _shown_k(rows)
    passing = (f"pass@{k}", f"pass^{k}") if k else ()
    headings = ("trials", "mean", "worst", "stdev", *passing, "errors")
    for heading in headings:
        table.add_column(heading, justify="right")
    shown = rows
    if len(rows) > SHOWN_SCENARIOS:
        by_mean = sorted(rows, key=lambda row: (-row.errors, mean(row.scores) if row.scores else 2.0))
        shown = by_mean[:SHOWN_SCENARIOS]
    for row in shown:
        scores = row.scores
        style = "red" if row.errors else "yellow" if scores and min(scores) < 1 else ""
        table.add_row(
            one_line(row.scenario.name, 60), f"{len(row.trials)}/{len(row.planned)}", _number(mean(scores)),
            _number(worst(scores)), _number(stdev(scores)), *_passing(scores, k), str(row.errors),
            style=style,
        )  # fmt: skip
    if len(rows) > SHOWN_SCENARIOS:
        table.add_row(f"… and {len(rows) - SHOWN_SCENARIOS} more, none worse", *[""] * len(headings))
    return table


def _shown_k(rows: Sequence[ScenarioScores]) -> int:
    """Three, or as many trials as every scenario has; 0 where one alone says nothing about k."""
    fewest = min((len(row.scores) for row in rows if row.scores), default=0)
    return min(SHOWN_K, fewest) if fewest > 1 else 0


def _passing(scores: Sequence[float], k: int) -> tuple[str, ...]:
    """The chances that one of k trials passes and that all do."""
    if not k:
        return ()
    if not scores:
        return ("–", "–")
    trials, passed = len(scores), passes(scores)
    return _number(pass_at_k(trials, passed, k)), _number(pass_all_k(trials, passed, k))


def _dimension_table(summary: RunSummary) -> "Table":
    """In the order of the report: critical issues first."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("dimension")
    for heading in ("turns", "mean", "worst", "critical", "errors", "warnings"):
        table.add_column(heading, justify="right")
    for name, found in summary.dimensions.items():
        style = "red" if found.critical or found.error else "yellow" if found.warning else ""
        figures = (_number(found.mean), _number(found.worst))
        counts = (str(found.critical), str(found.error), str(found.warning))
        table.add_row(one_line(name, 40), str(found.turns), *figures, *counts, style=style)
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _print_worst(rows: Sequence[ScenarioScores], console: "Console") -> None:
    scored = [
        (trial.score, row.scenario.name, trial)
        for row in rows
        for trial in row.trials
        if trial.score is not None and trial.score < 1
    ]
    lowest = sorted(scored, key=lambda item: (item[0], item[1], item[2].seed))[:SHOWN_TRIALS]
    errors = [(row.scenario.name, trial) for row in rows for trial in row.trials if trial.status == "error"]
    for name, trial in errors[:SHOWN_TRIALS]:
        console.print(f"{one_line(name, 60)} seed {trial.seed}: error", style="red")
        console.print(f"    {one_line(trial.report().error or '')}")
    if lowest:
        console.print("worst trials:")
    for score, name, trial in lowest:
        console.print(f"  {one_line(name, 60)} seed {trial.seed}: {score:.2f}", style="yellow")
        _print_lost(trial, console)


def _print_lost(trial: ScoredTrial, console: "Console") -> None:
    for criterion in trial.report().criteria:
        if criterion.score is not None and criterion.score < criterion.max_score:
            cost = f"−{criterion.max_score - criterion.score:.3g} of {criterion.max_score:g}"
            console.print(f"    {one_line(criterion.name, 60)} ({cost}): {one_line(criterion.reason)}")


def _flaky(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:SHOWN_FLAKY])
    more = f" and {len(names) - SHOWN_FLAKY} more" if len(names) > SHOWN_FLAKY else ""
    return f"flaky, passing under some seeds only: {shown}{more}"


def _headline(summary: RunSummary) -> str:
    return (
        f"{summary.scored} of {counted(summary.trials, 'trial')} scored: mean {_number(summary.mean)}, "
        f"worst {_number(summary.worst)}; {summary.passed} reached every point"
    )


def _incomplete(summary: RunSummary) -> str:
    why = [f"{counted(summary.errors, 'trial')} ended in an error"] if summary.errors else []
    if summary.not_run:
        were = "was" if summary.not_run == 1 else "were"
        stopped = f" ({_STOPPED.get(summary.stopped, summary.stopped)})" if summary.stopped else ""
        why.append(f"{summary.not_run} {were} not run{stopped}")
    return f"INCOMPLETE: {', '.join(why)}"


def _about_models(outcome: RunOutcome) -> Iterator[str]:
    """What was asked of models, under which prompts, and what held the programs of agents."""
    summary = outcome.summary
    for what, usage in (("models", summary.usage), ("judges", summary.judge_usage)):
        if usage is not None:
            yield f"{what}: {_usage(usage)}"
    prompts = {prompt for row in outcome.rows if (prompt := row.scenario.system_sent) is not None}
    if summary.usage is not None and prompts:
        digests = sorted(sha256(prompt.encode()).hexdigest()[:12] for prompt in prompts)
        more = f" and {len(digests) - SHOWN_PROMPTS} more" if len(digests) > SHOWN_PROMPTS else ""
        yield f"system prompts by sha256: {', '.join(digests[:SHOWN_PROMPTS])}{more}"
    if summary.sandbox is not None:
        yield f"sandbox: {summary.sandbox}"


def _usage(usage: Usage) -> str:
    tokens = (usage.input_tokens, usage.output_tokens)
    counted_tokens = "tokens unknown" if None in tokens else f"{tokens[0]} tokens in, {tokens[1]} out"
    cost = "cost unknown" if usage.cost is None else f"cost {usage.cost:.4g}"
    return f"{counted(usage.requests, 'request')}, {counted_tokens}, {cost}"


def _next(outcome: RunOutcome, again: str | None) -> str:
    folder = shlex.quote(str(outcome.report.parent))
    if _unfinished(outcome):
        command = plain(again or f"synthesis eval --resume {folder}")
        return f"{command}   # repeats only what did not finish"
    if outcome.report.name != REPORT:
        report = shlex.quote(str(outcome.report))
        return f"synthesis compare {plain(report)} RUN   # with a run that was scored alike"
    return f"synthesis score {plain(folder)}   # scores again, after a change of rubric or words"
