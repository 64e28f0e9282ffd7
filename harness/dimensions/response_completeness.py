"""Does the reply answer all that was asked, at some length, and offer to go on?"""

from harness.content_words import content_stems, split_words
from harness.dimension import Numbers, Score
from harness.turn_view import TurnView, asks_yes_or_no


def score(turn: TurnView, numbers: Numbers) -> Score:
    """Always applies. Where nothing was asked, any words leave no question open."""
    return numbers.score_from_baseline(
        detailed=turn.reply.length > numbers.limits["detailed_over"],
        too_brief=turn.reply.length < numbers.limits["brief_under"],
        questions_answered=bool(turn.reply.word_set)
        and all(is_answered(question, turn) for question in turn.user.questions),
        follow_up_offered=turn.says("follow-up-offer"),
    )


def is_answered(question: str, turn: TurnView) -> bool:
    """The reply takes up a word of the folded question, says yes or no, or gives the number asked for."""
    phrases = turn.phrases
    asked = split_words(question)
    terms = content_stems(asked, phrases.listed("stop"))
    if not terms or not terms.isdisjoint(turn.reply.stems):
        return True
    if asks_yes_or_no(question, phrases) and turn.reply.words[0] in phrases.listed("says_yes_or_no"):
        return True
    return bool(phrases.lexicon.any_of("asks_number").match(question)) and bool(turn.reply.quantities)
