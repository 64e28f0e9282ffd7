"""Does the reply take the stance it was asked to take?"""

from harness.dimension import Numbers, Score
from harness.turn_view import TurnView

_DRIFT = {"helpful": (), "cautious": ("overconfident",), "confident": ("hedge", "uncertainty")}
"""The groups of phrases that speak against a stance."""


def score(turn: TurnView, numbers: Numbers) -> Score | None:
    """Needs a stance."""
    stance = turn.context.stance
    if stance is None:
        return None
    return numbers.score_from_baseline(
        stance_words=turn.says(stance),
        lively=stance == "helpful" and _is_lively(turn, numbers),
        drift=any(turn.says(group) for group in _DRIFT[stance]),
        brief_dismissal=turn.dismisses(numbers.limits["brief_under"]),
    )


def _is_lively(turn: TurnView, numbers: Numbers) -> bool:
    """A question or an exclamation shows interest; many of them do not."""
    marks = turn.reply.folded.text.count("!") + turn.reply.folded.text.count("?")
    return 1 <= marks <= numbers.limits["most_marks"]
