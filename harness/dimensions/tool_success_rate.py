"""Did the tools work, and does the reply say what they brought?"""

from harness.dimension import Numbers, Score
from harness.turn_view import TurnView


def score(turn: TurnView, numbers: Numbers) -> Score | None:
    """Needs tool invocations. What all tools failed to bring cannot be reported, so it earns nothing."""
    invocations = turn.context.tool_invocations
    if not invocations:
        return None
    succeeded = sum(each.status == "success" for each in invocations)
    if not succeeded:
        return numbers.level("all_failed")
    if succeeded == len(invocations):
        start = numbers.levels["all_succeeded"]
    else:
        rate = succeeded / len(invocations)
        start = numbers.levels["all_failed"] + rate * numbers.levels["share_of_rate"]
    return numbers.score(start, result_reported=turn.says("tool-mention"))
