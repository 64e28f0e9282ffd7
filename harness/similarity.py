"""How alike two texts are: a bag of words, or embeddings where settings or a caller ask for them."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal, Protocol

from harness.text import fold, token_cosine_similarity

Measure = Literal["bag-of-words", "embeddings"]
BAG_OF_WORDS: Final = "bag-of-words"


class EmbeddingAdapter(Protocol):
    """Turns a text into a vector; `name` goes into reports, so that scores can be told apart."""

    @property
    def name(self) -> str:
        """What produced the vectors, with its version."""

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text, which comes folded; the same text gives the same vector."""


_adapter: EmbeddingAdapter | None = None


def set_embedding_adapter(adapter: EmbeddingAdapter | None) -> None:
    """Use this adapter in this process, whatever the settings say; None goes back to what they say."""
    global _adapter  # noqa: PLW0603 - the one switch this module is about
    _adapter = adapter


def is_bag_of_words(measure: Measure) -> bool:
    """Whether similarity is measured without any vectors under this setting."""
    return _adapter is None and measure == BAG_OF_WORDS


def similarity_name(measure: Measure = BAG_OF_WORDS) -> str:
    """What measures similarity under this setting; raises where it is not installed."""
    adapter = _adapter_for(measure)
    return BAG_OF_WORDS if adapter is None else adapter.name


def similarity(left: str, right: str, measure: Measure = BAG_OF_WORDS) -> float:
    """From 0 to 1, rounded so that the last bits of a platform's arithmetic reach no report.

    An adapter gets folded text too: curly quotes or capitals must not move a verdict.
    """
    adapter = _adapter_for(measure)
    if adapter is None:
        return round(token_cosine_similarity(left, right), 6)
    one, two = adapter.embed(fold(left).text), adapter.embed(fold(right).text)
    size = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in two))
    if not size:
        return 0.0
    return round(min(1.0, max(0.0, math.fsum(x * y for x, y in zip(one, two, strict=True)) / size)), 6)


def _adapter_for(measure: Measure) -> EmbeddingAdapter | None:
    if _adapter is not None or measure == BAG_OF_WORDS:
        return _adapter
    return _minilm()


@cache
def _minilm() -> EmbeddingAdapter:
    from harness.embeddings import MiniLM

    return MiniLM()
