"""Whether a message lets something vulnerable be seen; the words are `topic_pivot`'s."""

from functools import cache

from harness import lexicon
from harness.records import Hit
from harness.text import WORD, Folded

_EVERYDAY = (
    "ordinary",
    "good_news",
    "away_kitchen",
    "away_leisure",
    "away_shopping",
    "away_office",
    "away_reference",
    "away_outside",
)


def vulnerability(user: Folded, language: str) -> list[Hit]:
    """Every sign of distress, loss, fear, shame or conflict in what the person wrote."""
    words = lexicon.load("topic_pivot", language)
    return words.hits(user, "vulnerability", side="user") or _told_plainly(user, language)


def _told_plainly(user: Folded, language: str) -> list[Hit]:
    """A person tells of people, something is amiss in it, and nothing in the message is everyday talk."""
    words = _word_sets(language)
    if words["everyday"].intersection(WORD.findall(user.text)):
        return []
    for start, end in user.sentences:
        sentence = user.text[start:end]
        said = WORD.findall(sentence)
        asks = sentence.endswith("?") or not said or said[0] in words["ask_opener"]
        if not asks and words["person_word"].intersection(said) and words["trouble_sign"].intersection(said):
            first, last = user.origin(start, end)
            text = user.original[first:last]
            return [
                Hit(rule="told-plainly", group="vulnerability", text=text, start=first, end=last, side="user")
            ]
    return []


@cache
def _word_sets(language: str) -> dict[str, frozenset[str]]:
    lists = lexicon.load("topic_pivot", language).words
    sets = {name: frozenset(lists[name]) for name in ("ask_opener", "person_word", "trouble_sign")}
    return {**sets, "everyday": frozenset(word for name in _EVERYDAY for word in lists[name])}
