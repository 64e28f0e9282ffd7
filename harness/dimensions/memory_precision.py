"""Is what the reply says of the person true to what is remembered?"""

from harness.dimension import Numbers, Score
from harness.turn_view import TurnView


def score(turn: TurnView, numbers: Numbers) -> Score | None:
    """Needs memories. Only numbers can contradict one; doubt that is admitted caps the score."""
    if not turn.context.memories:
        return None
    unsure = turn.says("uncertainty")
    found = numbers.score_from_baseline(
        contradiction=any(memory.contradicted for memory in turn.memories),
        certain_and_unsure=unsure and turn.says("overconfident"),
    )
    if unsure and found.value > numbers.levels["admits_uncertainty"]:
        return numbers.level("admits_uncertainty")
    return found
