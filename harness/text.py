"""Text made comparable, with a way back to the original: folding, sentences, tokens, cosine.

Folding gives every pattern one plain view of a text: lower case, straight quotes, single spaces, no
emphasis marks, no zero-width characters, and **one sentence a line**. So in a pattern `^` is where a
sentence begins, `$` is where it ends, and a gap written with `.` never leaves its sentence.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from harness.folded import Folded

LONG = 20_000
"""Characters from which on a text, with all its edits, is too large to keep many of."""

REMEMBERED = 2048
"""Shorter texts that are kept folded: those of one batch are folded once and looked at by every checker."""


def _folded(text: str) -> Folded:
    from harness.folding import folded  # its patterns take time to be made, and the core needs none of them

    return folded(text)


class _Fold:
    """`fold`, which remembers the last few short texts, and of long ones no more than an exchange."""

    def __init__(self) -> None:
        self._short = lru_cache(maxsize=REMEMBERED)(_folded)
        self._long = lru_cache(maxsize=2)(_folded)

    def __call__(self, text: str) -> Folded:
        """One sentence a line, in plain lower-case characters, with a map back to the original."""
        return self._short(text) if len(text) <= LONG else self._long(text)

    def cache_clear(self) -> None:
        """Forget every text."""
        self._short.cache_clear()
        self._long.cache_clear()


fold = _Fold()


def words(text: str) -> list[str]:
    """The words of a text, folded, with inner apostrophes kept."""
    return fold(text).words


def extract_anchor(text: str) -> str:
    """The first one or two sentences of a reply, as written."""
    folded = fold(text)
    if not folded.sentences:
        return ""
    last = folded.sentences[:2][-1]
    start, end = folded.origin(folded.sentences[0][0], last[1])
    return text[start:end].strip()


def token_cosine_similarity(left: str, right: str) -> float:
    """Cosine of two bags of unigrams and bigrams, from 0 (nothing shared) to 1."""
    one, two = fold(left).words, fold(right).words
    pairs_one, pairs_two = list(pairwise(one)), list(pairwise(two))
    shared = _shared(one, two) + _shared(pairs_one, pairs_two)
    if not shared:
        return 0.0
    squares = [_square(grams) for grams in (one, pairs_one, two, pairs_two)]
    return min(1.0, shared / math.sqrt((squares[0] + squares[1]) * (squares[2] + squares[3])))


def _shared(one: Sequence[object], two: Sequence[object]) -> int:
    """The product of two bags: how often each thing is in one times how often it is in the other."""
    both = set(one).intersection(two)
    if not both:
        return 0
    here, there = Counter(one), Counter(two)
    return sum([here[gram] * there[gram] for gram in both])


def _square(grams: Sequence[object]) -> int:
    """A bag times itself; where nothing comes twice that is their number."""
    if len(set(grams)) == len(grams):
        return len(grams)
    return sum([count * count for count in Counter(grams).values()])
