"""The plain, obvious way to do what the product does quickly: each rule on each sentence, nothing remembered.

`plainly()` puts these in the place of the quick ones, so that a whole verdict can be had both ways.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from unittest.mock import patch

import re2

from harness import disclosure, matter, similarity, text
from harness.checkers import agency_language, topic_pivot, unverifiable_reassurance
from harness.folded import WORD, Folded
from harness.lexicon import Lexicon
from harness.matching import MOST_HITS, REACH, Rule
from harness.matter import Counts, Matter, Tie, matter_of
from harness.records import Hit, Side

CACHED = (
    disclosure.vulnerability,
    matter.ties,
    unverifiable_reassurance._stated,
    unverifiable_reassurance._claimed,
    unverifiable_reassurance._opens_with_pronoun,
    unverifiable_reassurance._speaks_of_own,
)


def forget() -> None:
    """So that neither way is handed what the other worked out."""
    text.fold.cache_clear()
    for each in CACHED:
        each.cache_clear()


@contextmanager
def plainly() -> Iterator[None]:
    """Everything the plain way, within this."""
    forget()
    with (
        patch.object(Lexicon, "hits", hits),
        patch.object(topic_pivot, "ties", ties),
        patch.object(agency_language, "ties", ties),
        patch.object(similarity, "token_cosine_similarity", cosine),
        patch.object(Folded, "origin", origin),
    ):
        yield
    forget()


def hits(
    lexicon: Lexicon, folded: Folded, *groups: str, view: str | None = None, side: Side = "assistant"
) -> list[Hit]:
    """Each rule of the groups, asked about each sentence by itself."""
    seen = folded.text if view is None else view
    found = []
    for rule in lexicon.rules:
        if rule.entry.group in groups:
            for start, end in list(matches(rule, seen))[:MOST_HITS]:
                first, last = origin(folded, start, end)
                text_found = folded.original[first:last]
                found.append(Hit(rule.entry.id, rule.entry.group, text_found, first, last, side))
    return sorted(found, key=lambda hit: (hit.start, hit.end, hit.rule))


def matches(rule: Rule, seen: str) -> Iterator[tuple[int, int]]:
    """Every place where a rule stands, in offsets of the text."""
    offset = 0
    for part in [seen] if "\\n" in rule.entry.pattern.replace("[^?\\n]", "") else seen.split("\n"):
        for match in rule.pattern.finditer(part):
            start, end = match.span()
            if end > start and not cancelled(rule, part, start, end):
                yield offset + start, offset + end
        offset += len(part) + 1


def cancelled(rule: Rule, part: str, start: int, end: int) -> bool:
    near = part[max(0, start - REACH) : start].rpartition("\n")[2]
    after = part[end : max(end, start + REACH)]
    if "\n" in part[start : start + REACH]:
        after = part[end : max(end, part.index("\n", start))]
    marked = f"{near}<{part[start:end]}>{after}"
    return any(re2.search(each, marked) is not None for each in rule.unless)


def origin(folded: Folded, start: int, end: int) -> tuple[int, int]:
    """Through each edit by itself, the last first."""
    if end <= start:
        return (place := origin_of_one(folded, start)), place
    return origin_of_one(folded, start), origin_of_one(folded, end - 1) + 1


def origin_of_one(folded: Folded, position: int) -> int:
    for edit in reversed(folded.edits):
        moved = 0
        for match in re.finditer(edit.pattern, edit.before):
            begins = match.start() + moved
            if position < begins:
                break
            if position < begins + len(edit.replacement):
                position, moved = min(match.start() + position - begins, match.end() - 1), 0
                break
            moved += len(edit.replacement) - (match.end() - match.start())
        position -= moved
    return position


def ties(user: Folded, reply: Folded, language: str) -> tuple[Tie, ...]:
    """Word by word, nothing sorted beforehand."""
    about = matter_of(user, disclosure.vulnerability(user, language), language)
    found = []
    for start, end in reply.sentences:
        said = WORD.findall(reply.text[start:end])
        if said:
            counts = count(about, said, language)
            found.append(Tie(start, end, counts, counts.balance()))
    return tuple(found)


def count(about: Matter, said: list[str], language: str) -> Counts:
    known = matter.vocabulary(language)
    taken = field = 0
    kinds: Counter[str] = Counter()
    words = {word.stem: word for word in map(known._word, said) if word.kind != "function"}
    for stem, word in words.items():
        if stem in about.stems:
            taken += 1
        elif not word.fields.isdisjoint(about.fields):
            field += 1
        else:
            kinds[word.kind] += 1
    return Counts(
        taken=taken + len(known.numbers(said) & about.numbers),
        field=field,
        feeling=kinds["feeling"],
        person=sum(word in known.pronouns for word in said) if about.persons else 0,
        away=kinds["away"],
        new=kinds["new"],
        personal=len(said) <= matter.SHORT or not known.personal.isdisjoint(said),
    )


def cosine(left: str, right: str) -> float:
    """Two bags of words and of pairs of words, multiplied out."""
    one, two = (bag(WORD.findall(text.fold(each).text)) for each in (left, right))
    shared = sum(number * two[gram] for gram, number in one.items())
    if not shared:
        return 0.0
    return min(1.0, shared / math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in two.values())))


def bag(tokens: list[str]) -> Counter[str]:
    return Counter([*tokens, *(f"{first} {second}" for first, second in pairwise(tokens))])
