"""What a person's message is about, and how far each sentence of a reply keeps to it.

Every word of a sentence falls into one kind. `taken`: the person used it (in any form, or the same
number). `field`: it belongs to the same matter, say money or illness. `feeling`: it names what people
feel. `person`: a pronoun for someone they spoke of. `away`: a thing of kitchen, shop, screen or office.
`new`: any other word that is not common. A sentence's balance is 2 for each taken word and 1 for each of
field, feeling and person, less 2 for each away and 1 for each new: below nought it speaks of other things.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from harness import lexicon
from harness.text import WORD, Folded

_DIGITS = re.compile(r"\d{1,6}")
_ENDINGS = (("ings", ""), ("ing", ""), ("ies", "y"), ("ied", "y"), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""))
_NEUTRAL = ("common_word", "abstract_word", "talking", "number_word", "tens_word")


@dataclass(frozen=True)
class Matter:
    """What can be taken up: stems, numbers and fields of a message, and whether others appear in it."""

    stems: frozenset[str]
    numbers: frozenset[int]
    fields: frozenset[str]
    persons: bool


@dataclass(frozen=True)
class Tie:
    """One sentence, in folded offsets, with its words counted by kind."""

    start: int
    end: int
    taken: int
    field: int
    feeling: int
    person: int
    away: int
    new: int

    @property
    def balance(self) -> int:
        """Below nought where the sentence speaks of other things."""
        return 2 * self.taken + self.field + self.feeling + self.person - 2 * self.away - self.new

    @property
    def tied(self) -> bool:
        """Whether anything at all holds the sentence to the matter."""
        return self.taken + self.field + self.feeling + self.person > 0


def balance(ties: Iterable[Tie]) -> int:
    """The balance of several sentences together."""
    return sum(tie.balance for tie in ties)


def matter_of(user: Folded, language: str) -> Matter:
    """What the person's message gives a reply to take up."""
    said = WORD.findall(user.text)
    known = _vocabulary(language)
    kinds = [known.word(word) for word in said if word not in known.function]
    return Matter(
        stems=frozenset(kind.stem for kind in kinds),
        numbers=frozenset(known.numbers(said)),
        fields=frozenset(field for kind in kinds for field in kind.fields),
        persons=not known.persons.isdisjoint(said),
    )


def ties(matter: Matter, reply: Folded, language: str) -> list[Tie]:
    """Every sentence of the reply that has a word in it, counted."""
    known = _vocabulary(language)
    return [
        _tie(matter, start, end, said, known)
        for start, end in reply.sentences
        if (said := WORD.findall(reply.text, start, end))
    ]


def _tie(matter: Matter, start: int, end: int, said: Sequence[str], known: "_Vocabulary") -> Tie:
    counts = dict.fromkeys(("taken", "field", "feeling", "away", "new", "neutral"), 0)
    words = {known.word(word) for word in said if word not in known.function}
    for word in words:
        if word.stem in matter.stems:
            counts["taken"] += 1
        elif not word.fields.isdisjoint(matter.fields):
            counts["field"] += 1
        else:
            counts[word.kind] += 1
    if matter.numbers:
        counts["taken"] += len(known.numbers(said) & matter.numbers)
    person = sum(word in known.pronouns for word in said) if matter.persons else 0
    del counts["neutral"]
    return Tie(start=start, end=end, person=person, **counts)


@dataclass(frozen=True)
class _Word:
    stem: str
    kind: str
    fields: frozenset[str]


class _Vocabulary:
    """The word lists of a language, looked up by word."""

    def __init__(self, lists: dict[str, tuple[str, ...]]) -> None:
        self.function = frozenset(lists["function_word"])
        self.pronouns = frozenset(lists["third_person"])
        self.persons = self.pronouns | frozenset(lists["person_noun"])
        self._same = {word: name for name in lists if name.startswith("same_") for word in lists[name]}
        self._fields: dict[str, set[str]] = {}
        for name in lists:
            if name.startswith("field_"):
                for word in lists[name]:
                    self._fields.setdefault(self._stem(word), set()).add(name)
        self._feeling = frozenset(map(_singular, lists["feeling"]))
        self._away = frozenset(
            _singular(word) for name in lists if name.startswith("away_") for word in lists[name]
        )
        self._neutral = frozenset(_singular(word) for name in _NEUTRAL for word in lists[name])
        units = {word: value for value, word in enumerate(lists["number_word"])}
        self._numbers = units | {word: 10 * value for value, word in enumerate(lists["tens_word"])}
        self.word = lru_cache(maxsize=1 << 15)(self._word)

    def _word(self, word: str) -> _Word:
        stem, form = self._stem(word), _singular(word)
        if form in self._feeling:
            kind = "feeling"
        elif form in self._away:
            kind = "away"
        else:
            kind = "neutral" if form in self._neutral else "new"
        return _Word(stem, kind, frozenset(self._fields.get(stem, ())))

    def _stem(self, word: str) -> str:
        bare = word.partition("'")[0]
        return self._same.get(bare) or _stem(bare)

    def numbers(self, said: Sequence[str]) -> set[int]:
        """The numbers said, in figures or in words; "sixty one" gives 61 too. One is no number to go by."""
        found: set[int] = set()
        tens = 0
        for word in said:
            figure = _DIGITS.match(word)
            value = int(figure.group()) if figure else self._numbers.get(word)
            if value is None:
                tens = 0
                continue
            found.add(tens + value if value < 10 else value)
            tens = value if value in range(20, 100, 10) else 0
        return found - {0, 1}


def _singular(word: str) -> str:
    bare = word.partition("'")[0]
    return bare[:-1] if len(bare) > 3 and bare[-1] == "s" and bare[-2] != "s" else bare


def _stem(word: str) -> str:
    """A rough stem: enough to see that "hiding" takes up "hid it", not a linguist's."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


@cache
def _vocabulary(language: str) -> _Vocabulary:
    return _Vocabulary(lexicon.load("topic_pivot", language).words)
