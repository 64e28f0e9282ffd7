"""What a person's message is about, and how far each sentence of a reply keeps to it.

Every word of a sentence falls into one kind. `taken`: the person used it (in any form, or the same
number). `field`: it belongs to the same matter, say money or illness. `feeling`: it names what people
feel. `person`: a pronoun for someone they spoke of. `away`: a thing of kitchen, shop, screen or office.
`new`: any other word that is not common. A sentence's balance is 2 for each word taken and 1 for
each of field, feeling and person, less 3 for each away and 1 for each new: below nought it speaks of other
things. A sentence that speaks neither to nor of anyone is likelier a lecture on a word that was picked up:
in it a word taken gives 1 and a new one takes 2.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from harness import lexicon
from harness.disclosure import vulnerability
from harness.folded import LONG_SENTENCE, WORD, Folded, words_in
from harness.lexicon import Lexicon
from harness.records import Hit

_CLAUSE = re.compile(r"[^\n,;]+")
_DIGITS = re.compile(r"\d{1,6}")
SHORT = 6
"""Up to so many words a sentence may be a fragment that means someone without saying so."""
VOWELS, KEPT_DOUBLE = "aeiou", "aeioulsz"
"""Letters that stay double where an ending goes: "telling" gives "tell", but "running" gives "run"."""
_NEUTRAL = ("abstract_word", "plain_word", "talking", "number_word", "tens_word")
"""Word lists that a language may lack, as it may lack those for numbers, endings, fields and other things."""


class Matter(NamedTuple):
    """What can be taken up: stems, numbers and fields of a message, and whether others appear in it."""

    stems: frozenset[str]
    numbers: frozenset[int]
    fields: frozenset[str]
    persons: bool


class Counts(NamedTuple):
    """The words of a sentence by kind; `personal` where it speaks to or of someone."""

    taken: int
    field: int
    feeling: int
    person: int
    away: int
    new: int
    personal: bool

    def balance(self) -> int:
        """Below nought where the sentence speaks of other things."""
        taken, new = (2 * self.taken, self.new) if self.personal else (self.taken, 2 * self.new)
        return taken + self.field + self.feeling + self.person - 3 * self.away - new


class Tie(NamedTuple):
    """One sentence, in folded offsets, with its words counted and weighed."""

    start: int
    end: int
    counts: Counts
    balance: int

    @property
    def personal(self) -> bool:
        """Whether the sentence speaks to or of someone."""
        return self.counts.personal

    @property
    def tied(self) -> bool:
        """Whether anything at all holds the sentence to the matter."""
        counts = self.counts
        return counts.taken + counts.field + counts.feeling + counts.person > 0


def balance(ties: Iterable[Tie]) -> int:
    """The balance of several sentences together."""
    return sum(tie.balance for tie in ties)


def matter_of(user: Folded, disclosed: Sequence[Hit], language: str) -> Matter:
    """What the person's message gives a reply to take up: not the task that a disclosure came along with."""
    known = vocabulary(language)
    parts = [part.span() for part in _CLAUSE.finditer(user.text)]
    shown = _Spans(disclosed)
    told = [part for part in parts if not _asks(user, part, known) or shown.touch(*user.origin(*part))]
    said = [word for start, end in told or parts for word in WORD.findall(user.text, start, end)]
    kinds = [word for word in map(known.word, said) if word.kind != "function"]
    return Matter(
        stems=frozenset(kind.stem for kind in kinds),
        numbers=frozenset(known.numbers(said)),
        fields=frozenset(field for kind in kinds for field in kind.fields),
        persons=not known.persons.isdisjoint(said),
    )


def _asks(user: Folded, part: tuple[int, int], known: "Vocabulary") -> bool:
    """Whether a clause is a request or a question, or has no word in it."""
    first = WORD.search(user.text, *part)
    return first is None or first.group() in known.openers or user.text[part[1] - 1] == "?"


class _Spans:
    """Places in a text, to be asked which stretches they touch."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        places = sorted((hit.start, hit.end) for hit in hits)
        self._starts = [start for start, _ in places]
        self._reach = list(accumulate((end for _, end in places), max))

    def touch(self, start: int, end: int) -> bool:
        before = bisect_left(self._starts, end)
        return before > 0 and self._reach[before - 1] > start


@lru_cache(maxsize=16)
def ties(user: Folded, reply: Folded, language: str) -> tuple[Tie, ...]:
    """Every sentence of the reply that has a word in it, weighed against what the person disclosed."""
    known = vocabulary(language)
    matter = matter_of(user, vulnerability(user, language), language)
    found = []
    for (start, end), line in zip(reply.sentences, reply.lines, strict=True):
        said = known.said(line)
        if said is not None:
            counts = _count(matter, said)
            found.append(Tie(start, end, counts, counts.balance()))
    return tuple(found)


def _count(matter: Matter, said: "_Said") -> Counts:
    """A word that is taken up counts as nothing else, and one of the same field not by its kind."""
    apart = taken = said.stems & matter.stems
    field = 0
    if said.fielded and matter.fields:
        shared = [stem for stem, of in said.fielded if stem not in taken and not of.isdisjoint(matter.fields)]
        if shared:
            field, apart = len(shared), taken.union(shared)
    numbers = said.numbers and matter.numbers and said.numbers & matter.numbers
    return Counts(
        len(taken) + len(numbers),
        field,
        _without(said.feeling, apart),
        said.pronouns if matter.persons else 0,
        _without(said.away, apart),
        _without(said.new, apart),
        said.personal,
    )


def _without(stems: frozenset[str], apart: frozenset[str]) -> int:
    return len(stems - apart) if stems and apart else len(stems)


class _Said(NamedTuple):
    """The words of a sentence, sorted once: stems by kind, and those that belong to a field."""

    stems: frozenset[str]
    fielded: tuple[tuple[str, frozenset[str]], ...]
    feeling: frozenset[str]
    away: frozenset[str]
    new: frozenset[str]
    numbers: frozenset[int]
    pronouns: int
    personal: bool


class _Word(NamedTuple):
    stem: str
    kind: str
    fields: frozenset[str]


class Vocabulary:
    """The word lists of a language, looked up by word."""

    def __init__(self, words: Lexicon) -> None:
        lists = words.words
        self.endings = tuple(ending.partition(":")[::2] for ending in words.listed("ending"))
        self.verbal = words.listed("verbal_ending")
        self.plural = words.listed("plural_ending")
        self.function = frozenset(words.listed("function_word", needed_to="see what a message is about"))
        self.pronouns = frozenset(words.listed("third_person", needed_to="see whom a reply speaks of"))
        personal = words.listed("personal_word", needed_to="see whom a reply speaks to")
        self.personal = self.pronouns.union(personal)
        self.openers = frozenset(words.listed("ask_opener", needed_to="tell a request from a disclosure"))
        self.persons = self.pronouns.union(
            words.listed("person_noun", needed_to="see whom a message is about")
        )
        self.same = {word: name for name in lists if name.startswith("same_") for word in lists[name]}
        self.fields: dict[str, set[str]] = {}
        for name, listed in lists.items():
            for word in listed if name.startswith("field_") else ():
                self.fields.setdefault(self._stem(word), set()).add(name)
        feeling = words.listed("feeling", needed_to="see that a reply speaks of what is felt")
        self.feeling = frozenset(map(self._singular, feeling))
        self.away = frozenset(
            self._singular(word) for name in lists if name.startswith("away_") for word in lists[name]
        )
        common = words.listed("common_word", needed_to="tell what a reply brings in from everyday words")
        plain = (word for name in _NEUTRAL for word in words.listed(name))
        self.neutral = self.function.union(map(self._singular, (*common, *plain)))
        units = {word: value for value, word in enumerate(words.listed("number_word"))}
        self.numerals = units | {word: 10 * value for value, word in enumerate(words.listed("tens_word"))}
        self.word = lru_cache(maxsize=1 << 14)(self._word)
        self._short = lru_cache(maxsize=1 << 12)(self._said)

    def said(self, sentence: str) -> _Said | None:
        """The words of a sentence, sorted; None where it has none."""
        return self._short(sentence) if len(sentence) < LONG_SENTENCE else self._said(sentence)

    def _said(self, sentence: str) -> _Said | None:
        said = words_in(sentence)
        if not said:
            return None
        words = {word.stem: word for word in map(self.word, said) if word.kind != "function"}
        kinds: dict[str, list[str]] = {"feeling": [], "away": [], "new": [], "neutral": []}
        for stem, word in words.items():
            kinds[word.kind].append(stem)
        return _Said(
            stems=frozenset(words),
            fielded=tuple((stem, word.fields) for stem, word in words.items() if word.fields),
            feeling=frozenset(kinds["feeling"]),
            away=frozenset(kinds["away"]),
            new=frozenset(kinds["new"]),
            numbers=frozenset(self.numbers(said)),
            pronouns=sum(word in self.pronouns for word in said),
            personal=len(said) <= SHORT or not self.personal.isdisjoint(said),
        )

    def _word(self, word: str) -> _Word:
        stem, form = self._stem(word), self._singular(word)
        if word in self.function:
            kind = "function"
        elif form in self.feeling:
            kind = "feeling"
        elif form in self.away:
            kind = "away"
        else:
            kind = "neutral" if form in self.neutral else "new"
        return _Word(stem, kind, frozenset(self.fields.get(stem, ())))

    def _stem(self, word: str) -> str:
        bare = word.partition("'")[0]
        return self.same.get(bare) or self.same.get(self._singular(bare)) or self._cut(bare)

    def _singular(self, word: str) -> str:
        bare = word.partition("'")[0]
        for ending in self.plural:
            if len(bare) > 2 + len(ending) and bare.endswith(ending) and not bare.endswith("ss"):
                return bare[: -len(ending)]
        return bare

    def _cut(self, word: str) -> str:
        """A rough stem: enough to see that "moving" takes up "moved", not a linguist's."""
        for ending, instead in self.endings:
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                word = word[: -len(ending)] + instead
                break
        else:
            return word[:-1] if len(word) > 4 and word[-1] == "e" else word
        if word[-1] == word[-2] and word[-1] not in KEPT_DOUBLE:
            return word[:-1]
        return f"{word}e" if len(word) == 3 and ending in self.verbal and word[1] in VOWELS else word

    def numbers(self, said: Sequence[str]) -> set[int]:
        """The numbers said, in figures or in words; "sixty one" gives 61 too. One is no number to go by."""
        found: set[int] = set()
        tens = 0
        for word in said:
            figure = _DIGITS.match(word)
            value = int(figure.group()) if figure else self.numerals.get(word)
            if value is None:
                tens = 0
                continue
            found.add(tens + value if value < 10 else value)
            tens = value if value in range(20, 100, 10) else 0
        return found - {0, 1}


@cache
def vocabulary(language: str) -> Vocabulary:
    """Made once for each language."""
    return Vocabulary(lexicon.load("topic_pivot", language))
