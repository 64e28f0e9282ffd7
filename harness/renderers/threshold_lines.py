"""A threshold in words: whether it holds, how sure that is, and what would make it surer."""

from collections.abc import Iterator

from harness.console import one_line
from harness.run_report import Certainty, ThresholdResult

SHOWN_BLAME = 5


def threshold_lines(result: ThresholdResult) -> Iterator[str]:
    """The outcome, and a second line where a confidence was asked for."""
    name = result.name.lstrip("-").replace("-", " ")
    if result.actual is None:
        yield f"{name}: nothing was scored"
        return
    yield f"{name} {result.required:g} {_outcome(result, result.actual)}"
    if result.certainty is not None:
        told = _unseen if result.name == "--min-worst" else _certainty
        yield f"  {told(result.certainty)}"


def _outcome(result: ThresholdResult, actual: float) -> str:
    if result.not_decided:
        return f"was not decided: {actual:.4g} so far"
    if result.inconclusive:
        return f"INCONCLUSIVE: {actual:.4g}"
    if result.held:
        return f"holds: {actual:.4g}"
    blame = ", ".join(one_line(scenario, 40) for scenario in result.blame[:SHOWN_BLAME])
    more = f" and {len(result.blame) - SHOWN_BLAME} more" if len(result.blame) > SHOWN_BLAME else ""
    short = result.required - actual
    return f"FAILED: {actual:.4g}, short by {short:.4g}; below it: {blame}{more}"


def _certainty(found: Certainty) -> str:
    rough = f" (rough: {found.rough})" if found.rough else ""
    seen = f"; {found.detectable:.3f} below the line would be found 4 times in 5" if found.detectable else ""
    interval = f"{found.level * 100:.4g} % interval {found.low:.4f} to {found.high:.4f}{rough}"
    return f"{interval}{seen}; {found.advice}"


def _unseen(found: Certainty) -> str:
    """Its interval is about a share of trials, not about the score it stands beside."""
    rough = f" (rough: {found.rough})" if found.rough else ""
    up_to = f"up to {found.high * 100:.3g} % of trials may be below the line and were not seen"
    return f"{found.level * 100:.4g} % sure: {up_to}{rough}; a worst trial is a fact of this run"
