"""Words that carry meaning, cut to a stem, so that "hikes" finds "hiking" and "the" finds nothing."""

from collections.abc import Iterable
from functools import lru_cache

from harness.folded import WORD

_ENDINGS = ("ing", "ed", "es", "s")
_SHORTEST = 3
"""Letters that stay at least, so that "red" and "sing" keep theirs."""

_DOUBLED = frozenset("bdgmnprt")
"""Consonants that English doubles before an ending: running, planned."""


_APART = str.maketrans({char: " " for char in map(chr, range(128)) if not char.isalnum() and char != "'"})


def split_words(folded: str) -> list[str]:
    """The words of a folded text, as `harness.text.WORD` finds them; ASCII is split, which is faster."""
    if not folded.isascii():
        return WORD.findall(folded)
    parted = folded.translate(_APART)
    if "'" not in parted:
        return parted.split()
    pieces = parted.replace("''", " ").split()
    return [word for piece in pieces if (word := piece.strip("'"))]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A folded word without its possessive, its ending and a last e; words with digits stay as they are."""
    word = word.removesuffix("'s")
    if not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > _SHORTEST + 2:
        return word[:-3] + "y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            return _base(word[: -len(ending)])
    return _base(word)


def _base(word: str) -> str:
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] in _DOUBLED:
        return word[:-1]
    return word[:-1] if len(word) > _SHORTEST and word[-1] == "e" else word


def content_stems(words: Iterable[str], stop: frozenset[str]) -> set[str]:
    """The stems of all words that are not stop words; a single Latin letter says nothing, a digit does."""
    return {stem(word) for word in words if word not in stop and not _is_letter(word)}


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha()
