"""Does the reply say what the golden answer says?"""

from harness.dimension import Numbers, Score
from harness.quantities import contradicted
from harness.text import words
from harness.turn_evaluation import Source
from harness.turn_view import TurnView

_IN_ADDRESS = frozenset("/-_%=&")


def score(turn: TurnView, numbers: Numbers) -> Score | None:
    """Needs a golden answer. Of contradicting names and numbers the graver one counts, once."""
    if not turn.golden.length:
        return None
    likeness = text_similarity(turn)
    if turn.says("serialization-error"):
        likeness *= numbers.levels["serialization_error_leaves"]
    other_number = contradicted(turn.golden.quantities, turn.reply.quantities) is not None
    return numbers.score(
        likeness * numbers.levels["similarity_counts"],
        made_up=turn.says("made-up-marker"),
        other_number=other_number,
        other_name=not other_number and _names_another(turn),
        source_cited=any(is_cited(source, turn) for source in turn.context.sources),
    )


def text_similarity(turn: TurnView) -> float:
    """The mean of the ratio of lengths and of the share of words that both texts have."""
    one, other = turn.reply, turn.golden
    if one.text == other.text:
        return 1.0
    ratio = min(one.length, other.length) / max(one.length, other.length)
    either = len(one.word_set | other.word_set)
    shared = len(one.word_set & other.word_set) / either if either else 0.0
    return (ratio + shared) / 2


def _names_another(turn: TurnView) -> bool:
    """A name of the golden answer is missing and one it does not have stands there instead."""
    missing = turn.golden.proper_nouns - turn.reply.bare_words
    return bool(missing) and not turn.reply.proper_nouns <= turn.golden.bare_words


def is_cited(source: Source, turn: TurnView) -> bool:
    """By its address, or by all the words of its title in their order."""
    title = words(source.title)
    if title and turn.reply.word_set.issuperset(title) and _in_order(title, turn.reply.words):
        return True
    address = (source.url.partition("://")[2] or source.url).strip().rstrip("/").lower()
    return bool(address) and _has_address(turn.reply.text.lower(), address)


def _in_order(title: list[str], said: list[str]) -> bool:
    return f" {' '.join(title)} " in f" {' '.join(said)} "


def _has_address(text: str, address: str) -> bool:
    """The whole address: "example.org/ab" does not cite "example.org/a"."""
    place = text.find(address)
    while place >= 0:
        end = place + len(address)
        after = text[end : end + 1]
        if not after.isalnum() and after not in _IN_ADDRESS:
            return True
        place = text.find(address, end)
    return False
