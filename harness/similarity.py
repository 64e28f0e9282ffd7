"""How alike two texts are: a bag of words, unless an embedding adapter was set."""

import math
from collections.abc import Sequence
from typing import Protocol

from harness.text import token_cosine_similarity


class EmbeddingAdapter(Protocol):
    """Turns a text into a vector; `name` goes into reports, so that scores can be told apart."""

    @property
    def name(self) -> str:
        """What produced the vectors, with its version."""

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text; the same text gives the same vector."""


BAG_OF_WORDS = "bag-of-words"

_adapter: EmbeddingAdapter | None = None


def set_embedding_adapter(adapter: EmbeddingAdapter | None) -> None:
    """Use this adapter for similarity in this process; None goes back to the bag of words."""
    global _adapter  # noqa: PLW0603 - the one switch this module is about
    _adapter = adapter


def similarity_name() -> str:
    """What measures similarity at present."""
    return BAG_OF_WORDS if _adapter is None else _adapter.name


def similarity(left: str, right: str) -> float:
    """From 0 to 1, rounded so that the last bits of a platform's arithmetic reach no report."""
    if _adapter is None:
        return round(token_cosine_similarity(left, right), 6)
    one, two = _adapter.embed(left), _adapter.embed(right)
    size = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in two))
    if not size:
        return 0.0
    return round(min(1.0, max(0.0, math.fsum(x * y for x, y in zip(one, two, strict=True)) / size)), 6)
