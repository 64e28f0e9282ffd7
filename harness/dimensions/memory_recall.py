"""Does the reply use what is remembered?"""

from harness.dimension import Numbers, Score, bounded
from harness.turn_view import TurnView


def score(turn: TurnView, numbers: Numbers) -> Score | None:
    """Needs memories that say something. The words of a memory that is contradicted do not count as used."""
    terms = {term for memory in turn.memories for term in memory.terms}
    if not terms:
        return None
    used = {term for memory in turn.memories if not memory.contradicted for term in memory.terms}
    used &= turn.reply.stems
    if not used:
        return numbers.level("unused")
    total = numbers.levels["baseline"] + len(used) * numbers.amounts["term_used"]
    return bounded(min(numbers.levels["most"], total))
