"""Numbers with what they count and what they are about, so that only like is compared with like.

"30 years old" is contradicted by "50 years old" of the same person, not by "3 tips" and not by the age of
someone else.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, takewhile

from harness.content_words import stem
from harness.lazy import Lazy
from harness.phrases import Phrases

_FIGURE = r"(?:[$€£¥]|(?<![\w.,]))\d+(?::\d\d(?![\w:])|(?:,\d{3})*(?:\.\d+)?)(?:%|[^\W\d_]{1,4}(?!\w))?"
_TOKEN = re.compile(rf"[^\W\d_]+(?:'[^\W\d_]+)*|{_FIGURE}|[,;:()]")
_ASCII_TOKEN = re.compile(rf"[a-z]+(?:'[a-z]+)*|{_FIGURE}|[,;:()]")
_NUMBER = re.compile(r"([$€£¥]?)(\d[\d,.]*)(?::(\d\d))?(.*)")
_LONGEST_NUMBER = 15
MOST_NUMBERS = 300
"""Of one text; each is compared with each of another, so that without end to them time would have none."""

_NEAR = 8
"""Words on each side of a number that say what it is about."""

_PERSON = "<person>"
"""Stands for the person a memory and a reply are both about; no word of a text can be this."""

_AGE = "<age>"


class Quantity:
    """A number at a place among the words of its sentence, and what it counts ("year", "$")."""

    def __init__(self, value: float, unit: str, about: Callable[[], frozenset[str] | None]) -> None:
        self.value = value
        self.unit = unit
        self._about = about

    @Lazy
    def about(self) -> frozenset[str] | None:
        """The stems of the words around it that say what it is about; None where it is only supposed."""
        return self._about()


def contradicted(known: Iterable[Quantity], said: Sequence[Quantity]) -> Quantity | None:
    """The first known number for which something else is said.

    Where the known number is among those said of the same matter, the others are taken for further facts.
    """
    for fact in known:
        alike = [other for other in said if other.unit == fact.unit]
        if all(other.value == fact.value for other in alike):
            continue
        values = {other.value for other in alike if _same_matter(fact.about, other.about)}
        if values and fact.value not in values:
            return fact
    return None


def _same_matter(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    """By the words around both; where one has none but the person, the other must be of the person too."""
    if one is None or other is None:
        return False
    if not one or not other:
        return True
    ours, theirs = one - {_PERSON}, other - {_PERSON}
    if ours and theirs:
        return not ours.isdisjoint(theirs)
    return _PERSON in one and _PERSON in other


class NumberReader:
    """Reads folded sentences that speak of the person in one voice: a memory's "user", a reply's "you"."""

    def __init__(self, phrases: Phrases, voice: str) -> None:
        self._person = phrases.listed(f"{voice}_person")
        self._possessive = phrases.listed(f"{voice}_possessive")
        self._clause = phrases.listed("clause")
        self._silent = phrases.framing | self._person | self._possessive | self._clause
        self._old, self._aged = phrases.listed("old"), phrases.listed("aged")
        self._joins, self._ordinal = phrases.listed("joins_numbers"), phrases.listed("ordinal")
        self._supposing = phrases.listed("supposing")
        small = {word: float(value) for value, word in enumerate(phrases.lexicon.listed("small_numbers"))}
        self._digits = {word: value for word, value in small.items() if 0 < value < 10}
        self._tens = {word: 10.0 * (place + 2) for place, word in enumerate(phrases.lexicon.listed("tens"))}
        self._words = {word: value for word, value in small.items() if value > 1} | self._tens

    def read(self, sentences: Iterable[str]) -> list[Quantity]:
        """The numbers, but for ordinals and the word "one"; of very many only the first."""
        found = (each for sentence in sentences for each in self._read(sentence))
        return list(islice(found, MOST_NUMBERS))

    def _read(self, sentence: str) -> Iterator[Quantity]:
        words = (_ASCII_TOKEN if sentence.isascii() else _TOKEN).findall(sentence)
        values: dict[int, tuple[float, str]] = {}
        for place, word in enumerate(words):
            if word in self._words or not word[0].isalpha():
                found = self._value(words, place)
                if found is not None:
                    values[place] = found
        units: dict[int, str] = {}
        for place in reversed(values):
            units[place] = values[place][1] or self._unit(words, place, units)
        for place, (value, _) in values.items():
            yield Quantity(value, units[place], partial(self._matters, words, place, units[place]))

    def _value(self, words: Sequence[str], place: int) -> tuple[float, str] | None:
        """A number and the unit written together with it; "twenty-five" is one number, at its last word."""
        word = words[place]
        if word in self._words:
            if word in self._tens and self._digits.keys() & words[place + 1 : place + 2]:
                return None
            tens = self._tens.get(words[place - 1], 0.0) if place and word in self._digits else 0.0
            return tens + self._words[word], ""
        match = _NUMBER.fullmatch(word)
        if match is None or len(word) > _LONGEST_NUMBER:
            return None
        money, digits, minutes, suffix = match.groups()
        if suffix in self._ordinal:
            return None
        if minutes:
            return int(digits) * 60.0 + int(minutes), ":"
        return float(digits.replace(",", "")), money or stem(suffix)

    def _unit(self, words: Sequence[str], place: int, later: dict[int, str]) -> str:
        """The word after the number, or what a number joined to it counts, else the last one that tells."""
        after = words[place + 1 : place + 3]
        if place + 1 in later:
            return later[place + 1]
        if place + 2 in later and after[0] in self._joins:
            return later[place + 2]
        if after[1:] and after[1] in self._old:
            return _AGE
        if after and after[0] not in self._silent:
            return stem(after[0])
        before = reversed(words[max(0, place - _NEAR) : place])
        named = next((word for word in before if word not in self._silent), "")
        return _AGE if named in self._aged else stem(named)

    def _matters(self, words: Sequence[str], place: int, unit: str) -> frozenset[str] | None:
        """The words of the clause, or of all that is near where the clause has none; None if supposed."""
        before = words[max(0, place - _NEAR) : place][::-1]
        after = words[place + 1 : place + 1 + _NEAR]
        clause = list(takewhile(self._goes_on, before))
        if not self._supposing.isdisjoint(clause):
            return None
        near = self._matter(clause, list(takewhile(self._goes_on, after)), unit)
        return near or self._matter(before, after, unit)

    def _goes_on(self, word: str) -> bool:
        return word not in self._clause

    def _matter(self, before: Sequence[str], after: Sequence[str], unit: str) -> frozenset[str]:
        counted = 2 if unit == _AGE and after[1:] and after[1] in self._old else 0
        told = {
            stem(word)
            for word in (*before, *after[counted:])
            if word not in self._silent and word not in self._aged and word[0].isalpha()
        }
        if self._of_the_person(before, after):
            told.add(_PERSON)
        return frozenset(told - {unit})

    def _of_the_person(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """By the nearest word before the number: "you" is the person, "your brother" is not."""
        for distance, word in enumerate(before):
            if word in self._person:
                return True
            if word in self._possessive:
                return distance == 0
        return not self._person.isdisjoint(after)


@cache
def number_reader(phrases: Phrases, voice: str) -> NumberReader:
    """The reader of a voice, made once."""
    return NumberReader(phrases, voice)
