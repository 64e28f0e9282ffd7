"""A turn's evaluation against an earlier one."""

from harness.settings import TurnSettings
from harness.turn_evaluation import TurnComparison, TurnEvaluation

_DEFAULTS = TurnSettings()


def compare_turns(
    previous: TurnEvaluation, current: TurnEvaluation, *, settings: TurnSettings = _DEFAULTS
) -> TurnComparison:
    """A pass lost or gained decides; else a change of the overall score beyond the tolerance."""
    both = previous.scores.keys() - {*previous.not_applicable, *current.not_applicable}
    by_dimension = {
        name: round(score - previous.scores[name], 6)
        for name, score in current.scores.items()
        if name in both
    }
    if previous.overall is None or current.overall is None:
        return TurnComparison(
            change="not_comparable", delta=None, pass_changed=False, by_dimension=by_dimension
        )
    delta = round(current.overall - previous.overall, 6)
    pass_changed = previous.passed is not current.passed
    if pass_changed:
        change = "improvement" if current.passed else "degradation"
    elif abs(delta) > settings.changed_beyond:
        change = "improvement" if delta > 0 else "degradation"
    else:
        change = "unchanged"
    return TurnComparison(change=change, delta=delta, pass_changed=pass_changed, by_dimension=by_dimension)
