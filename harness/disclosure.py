"""Whether a message lets something vulnerable be seen; the words are `topic_pivot`'s."""

from harness import lexicon
from harness.records import Hit
from harness.text import Folded


def vulnerability(user: Folded, language: str) -> list[Hit]:
    """Every sign of distress, loss, fear, shame or conflict in what the person wrote."""
    return lexicon.load("topic_pivot", language).hits(user, "vulnerability", side="user")
