"""One turn as every dimension reads it: what is asked about its texts is worked out once, and only then."""

import re
from functools import lru_cache
from typing import NamedTuple

from harness.content_words import content_stems, split_words, stem
from harness.folded import Folded
from harness.lazy import Lazy
from harness.phrases import Phrases, Search
from harness.proper_nouns import proper_nouns
from harness.quantities import Quantity, contradicted, number_reader
from harness.text import fold
from harness.turn_evaluation import TurnContext

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_DIGIT = re.compile(r"\d")
_AFTER_SENTENCE = " \"')]!"


class TextView:
    """One text of a turn; half characters, which no report could hold, are replaced by U+FFFD."""

    def __init__(self, text: str, phrases: Phrases, voice: str) -> None:
        self.text = text if text.isascii() else _HALF_CHARACTER.sub("\ufffd", text)
        self._phrases = phrases
        self._voice = voice

    @Lazy
    def folded(self) -> Folded:
        """The text in plain lower case, one sentence a line."""
        return fold(self.text)

    @Lazy
    def length(self) -> int:
        """In characters, without the blanks around the text."""
        return len(self.text.strip())

    @Lazy
    def words(self) -> list[str]:
        """All words, folded."""
        return split_words(self.folded.text)

    @Lazy
    def word_set(self) -> frozenset[str]:
        """Each word once."""
        return frozenset(self.words)

    @Lazy
    def bare_words(self) -> frozenset[str]:
        """Each word without its possessive, as names are given."""
        return frozenset([word.removesuffix("'s") for word in self.word_set])

    @Lazy
    def stems(self) -> frozenset[str]:
        """The stem of each word, stop words and all."""
        return frozenset(map(stem, self.word_set))

    @Lazy
    def quantities(self) -> list[Quantity]:
        """Every number, with what it counts and what it is about."""
        spelt = self._phrases.number_words & self.word_set
        if not spelt and not _DIGIT.search(self.folded.text):
            return []
        numbered = (
            line
            for line in self.folded.text.split("\n")
            if _DIGIT.search(line) or (spelt and not spelt.isdisjoint(split_words(line)))
        )
        return number_reader(self._phrases, self._voice).read(numbered)

    @Lazy
    def proper_nouns(self) -> set[str]:
        """Names, as far as capitals within a sentence show them; in lower case."""
        return proper_nouns(self.text, self._phrases.listed("stop"))

    @Lazy
    def questions(self) -> list[str]:
        """The folded sentences that ask."""
        if "?" not in self.folded.text:
            return []
        lines = self.folded.text.split("\n")
        return [line for line in lines if line.rstrip(_AFTER_SENTENCE).endswith("?")]

    @Lazy
    def sentences(self) -> list[str]:
        """The sentences as written."""
        if not self.folded.edits:
            return [self.text[start:end] for start, end in self.folded.sentences]
        spans = (self.folded.origin(start, end) for start, end in self.folded.sentences)
        return [self.text[start:end] for start, end in spans]


class TurnView:
    """What the person wrote, what the assistant answered, what it should have answered, and the context."""

    def __init__(self, texts: tuple[str, str, str], context: TurnContext, phrases: Phrases) -> None:
        user, reply, golden = texts
        self.user = TextView(user, phrases, "memory")
        self.reply = TextView(reply, phrases, "reply")
        self.golden = TextView(golden, phrases, "reply")
        self.context = context
        self.phrases = phrases

    @Lazy
    def _search(self) -> Search:
        return Search(self.phrases, self.reply.folded)

    def says(self, group: str) -> bool:
        """Whether the reply, in its own words, says something of this group of phrases."""
        return self._search.finds(group)

    @Lazy
    def memories(self) -> list["Remembered"]:
        """Every memory, with whether the reply contradicts it."""
        return [self._remembered(memory.content) for memory in self.context.memories]

    def _remembered(self, content: str) -> "Remembered":
        terms, known = memory_facts(content, self.phrases)
        return Remembered(terms, bool(known) and contradicted(known, self.reply.quantities) is not None)

    @Lazy
    def yes_or_no(self) -> bool:
        """Whether the person asked something that "no" answers."""
        return any(asks_yes_or_no(question, self.phrases) for question in self.user.questions)

    def dismisses(self, brief_under: float) -> bool:
        """Whether the reply is this brief and turns the person away; "No." to a plain question does not."""
        if self.reply.length >= brief_under:
            return False
        return self.says("dismissal") or (self.says("bare-no") and not self.yes_or_no)


class Remembered(NamedTuple):
    """What a memory says, as stems, and whether the reply gives another number for what it counts."""

    terms: frozenset[str]
    contradicted: bool


@lru_cache(maxsize=256)
def memory_facts(content: str, phrases: Phrases) -> tuple[frozenset[str], list[Quantity]]:
    """What a memory says, without the frame ("the user likes …") it says it in, and its numbers.

    Remembered, because the same memories come with every turn of a conversation.
    """
    view = TextView(content, phrases, "memory")
    return frozenset(content_stems(view.word_set, phrases.framing)), view.quantities


def asks_yes_or_no(question: str, phrases: Phrases) -> bool:
    """Whether a folded question begins with a verb that asks for yes or no."""
    return question.partition(" ")[0] in phrases.listed("asks_yes_or_no")
