"""Whether a message lets something vulnerable be seen; the words are `topic_pivot`'s."""

from functools import cache, lru_cache

from harness import lexicon
from harness.folded import Folded, words_in
from harness.records import Hit

_EVERYDAY = ("good_news", "away_kitchen")
_NEUTRAL = ("away_leisure", "away_shopping", "away_office", "away_reference", "away_outside")
"""Word lists that a language may lack, as it may lack `trouble_sign`."""


GROUP, TOLD_PLAINLY = "vulnerability", "told-plainly"


@lru_cache(maxsize=16)
def vulnerability(user: Folded, language: str) -> tuple[Hit, ...]:
    """Every sign of distress, loss, fear, shame or conflict in what the person wrote."""
    words = lexicon.load("topic_pivot", language)
    return tuple(words.hits(user, GROUP, side="user")) or _told_plainly(user, language)


def _told_plainly(user: Folded, language: str) -> tuple[Hit, ...]:
    """Someone tells of people: with a sign that something is amiss, or with nothing of everyday talk in it.

    People who hurt often name no feeling: they tell what happened, and leave it at that.
    """
    words = word_sets(language)
    everything = set(user.words)
    if not words["everyday"].isdisjoint(everything):
        return ()
    bare = words["neutral"].isdisjoint(everything) and "!" not in user.text
    for (start, end), line in zip(user.sentences, user.lines, strict=True):
        said = words_in(line)
        asks = user.text[end - 1] == "?" or not said or said[0] in words["ask_opener"]
        amiss = bare or not words["trouble_sign"].isdisjoint(said)
        if amiss and not asks and not words["person_word"].isdisjoint(said):
            first, last = user.origin(start, end)
            return (Hit(TOLD_PLAINLY, GROUP, user.original[first:last], first, last, "user"),)
    return ()


@cache
def word_sets(language: str) -> dict[str, frozenset[str]]:
    """The words of a language by what they tell of a message."""
    words = lexicon.load("topic_pivot", language)
    telling = (words.listed(name, needed_to="see who is told of") for name in ("person_word", "person_noun"))
    ordinary = words.listed("ordinary", needed_to="tell everyday talk from a disclosure")
    pleasant = words.listed("pleasant", needed_to="tell good tidings from a disclosure")
    return {
        "ask_opener": frozenset(words.listed("ask_opener", needed_to="tell a request from a disclosure")),
        "trouble_sign": frozenset(words.listed("trouble_sign")),
        "person_word": frozenset().union(*telling),
        "everyday": frozenset(ordinary).union(*map(words.listed, _EVERYDAY)),
        "neutral": frozenset(pleasant).union(*map(words.listed, _NEUTRAL)),
    }
