"""Does the reply speak in one steady voice: first person, of a fair length, in whole sentences?"""

from harness.dimension import Numbers, Score
from harness.turn_view import TurnView

_OPENERS = " \t\"'“‘«([{*_#>-•"
_CLOSERS = " \t\"'”’»)]}*_"
_ENDS = frozenset(".!?…:;。！？")


def score(turn: TurnView, numbers: Numbers) -> Score:
    """Always applies; reads the reply only."""
    limits = numbers.limits
    return numbers.score_from_baseline(
        first_person=turn.says("first-person"),
        fair_length=limits["shortest"] <= turn.reply.length <= limits["longest"],
        well_formed=_share_well_formed(turn) >= limits["well_formed_share"],
        serialization_error=turn.says("serialization-error"),
        brief_dismissal=turn.dismisses(limits["brief_under"]),
    )


def _share_well_formed(turn: TurnView) -> float:
    sentences = [text for text in turn.reply.sentences if any(map(str.isalnum, text))]
    return sum(map(is_well_formed, sentences)) / len(sentences) if sentences else 0.0


def is_well_formed(sentence: str) -> bool:
    """Begins with no small letter, and ends with a mark or a small letter; scripts without case always do.

    A number or a name in capitals may end a sentence, but only one that is closed with a mark.
    """
    inside = sentence.lstrip(_OPENERS).rstrip(_CLOSERS)
    if not inside or inside[0].islower():
        return False
    last = inside[-1]
    return last in _ENDS or (last.isalpha() and not last.isupper())
