"""Personal details taken out of texts before they are written: what is found, and what stands there instead.

Patterns are RE2 or read each character a bounded number of times, so no text can make them slow.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

import re2

from harness.errors import SynthesisError
from harness.json_file import read_regular
from harness.problems import shown
from harness.secrets import key_spans

Kind = Literal["key", "credentials", "email", "card", "phone", "listed"]
KINDS: tuple[Kind, ...] = ("key", "credentials", "email", "card", "phone", "listed")
"""In the order in which they win where two begin at the same place."""
_EMAIL = re2.compile(r"[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+")
_CREDENTIALS = re2.compile(
    r"(?i)[a-z][a-z0-9+.-]{0,30}://([^\s/?#\"'<>]+)@[a-z0-9\[]"
    r"|[?&;#](?:api_?key|auth|key|pass(?:word)?|sig|(?:[a-z0-9]{1,20}[_-]){0,3}(?:secret|signature|token))"
    r"=([^\s&#\"'<>]+)"
)
_DIGITS = re.compile(r"[0-9]+")
_CARD_BREAK = frozenset(" -.\u00a0")
_CARD_SHAPES = ((4, 4, 4, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 2), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4))
_BREAK = r"[ .\-/\x{a0}\x{2011}]"
_PHONE = re2.compile(
    rf"(?:^|[^\p{{L}}\p{{N}}+])("
    rf"\+[1-9](?:[0-9]|{_BREAK}?\(0?[0-9]{{0,4}}\)|{_BREAK}[0-9(]){{5,24}}[0-9]"  # +49 (0)30 123 456
    rf"|00[1-9](?:[0-9]|{_BREAK}[0-9]){{7,24}}"  # 0049 30 123456
    rf"|(?:1{_BREAK})?(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}{_BREAK})[2-9][0-9]{{2}}{_BREAK}[0-9]{{4}}"
    rf"|\(?0[1-9][0-9]{{0,4}}\)?(?:{_BREAK}?[0-9]){{6,10}}"  # 020 7946 0958, 07700 900123
    r")"
)
_LONGEST_PHONE = 15
"""Digits, by the international plan; more of them behind a number are another number."""
_DATE = re2.compile(r"^[0-3]?[0-9][./ -][01]?[0-9][./ -](?:19|20)?[0-9]{2}(?:[^0-9]|$)")
_PAIRS = re.compile(r"0[1-9]([ .-])[0-9]{2}(?:\1[0-9]{2}){3}")
"""06 12 34 56 78: its beginning may well be a day."""
_WORD = re.compile(r"\w+")
_GAP = 3
"""Characters that may stand between two words of a listed term: `Dr. Jane  Doe`."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One place that is taken out; offsets are code points."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class Redaction:
    """What is looked for; `terms` are the user's own, each as its words in lower case."""

    terms: tuple[tuple[str, ...], ...] = ()

    def find(self, text: str) -> list[Detail]:
        """Everything to take out, in order; places that overlap become one of the first one's kind."""
        found = sorted(self._found(text), key=lambda each: (each.start, KINDS.index(each.kind), -each.end))
        joined: list[Detail] = []
        for each in found:
            last = joined[-1] if joined else Detail(0, 0, "key")
            if each.start < last.end and (last.kind, each.kind) == ("credentials", "email"):
                continue  # what stands before a host looks like an address with it
            if each.start < last.end:
                joined[-1] = Detail(last.start, max(last.end, each.end), last.kind)
            else:
                joined.append(each)
        return joined

    def text(self, text: str) -> str:
        """The text with a word in brackets where something was."""
        return without(text, self.find(text))

    def _found(self, text: str) -> Iterator[Detail]:
        yield from (Detail(start, end, "key") for start, end in key_spans(text))
        if "://" in text or "=" in text:
            for url in _CREDENTIALS.finditer(text):
                start, end = url.span(1 if url.group(1) is not None else 2)
                yield Detail(start, end, "credentials")
        if "@" in text:
            yield from (Detail(found.start(), found.end(), "email") for found in _EMAIL.finditer(text))
        yield from _cards(text)
        yield from _phones(text)
        yield from self._listed(text)

    @cached_property
    def _by_first_word(self) -> dict[str, list[tuple[str, ...]]]:
        found: dict[str, list[tuple[str, ...]]] = {}
        for term in sorted(self.terms, key=lambda term: (-len(term), term)):
            found.setdefault(term[0], []).append(term)
        return found

    def _listed(self, text: str) -> Iterator[Detail]:
        """Whole words of any script; `_WORD` reads the text once, whatever the length of the list."""
        if not self.terms:
            return
        places = [word.span() for word in _WORD.finditer(text)]
        words = [text[start:end].casefold() for start, end in places]
        for number, word in enumerate(words):
            for term in self._by_first_word.get(word, ()):
                last = number + len(term) - 1
                near = all(
                    places[each + 1][0] - places[each][1] <= _GAP
                    for each in range(number, min(last, len(words) - 1))
                )
                if near and tuple(words[number : last + 1]) == term:
                    yield Detail(places[number][0], places[last][1], "listed")
                    break


def without(text: str, details: Sequence[Detail], start: int = 0, end: int | None = None) -> str:
    """A piece of a text without the details found in the whole of it."""
    end = len(text) if end is None else end
    if not details or start >= end:
        return text[start:end]
    pieces: list[str] = []
    place = start
    for each in details:
        if each.end <= start or each.start >= end:
            continue
        pieces += [text[place : max(place, each.start)], f"[{each.kind}]"]
        place = each.end
    pieces.append(text[place:end])
    return "".join(pieces)


def read_terms(path: Path) -> tuple[tuple[str, ...], ...]:
    """The user's list: one term a line; empty lines are left out."""
    try:
        lines = read_regular(path).decode("utf-8-sig").splitlines()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise SynthesisError(what, where=str(path), fix="check the file given with --redact-list") from error
    except UnicodeDecodeError as error:
        raise SynthesisError("not UTF-8", where=str(path), fix="save the list as UTF-8") from error
    terms: dict[tuple[str, ...], None] = {}
    for number, line in enumerate(lines, 1):
        words = tuple(word.casefold() for word in _WORD.findall(line))
        if line.strip() and not words:
            what = f'"{shown(line.strip())}" has no letter or digit to be found by'
            raise SynthesisError(what, where=f"{path}:{number}", fix="remove the line")
        if words:
            terms[words] = None
    return tuple(terms)


def _cards(text: str) -> Iterator[Detail]:
    """Numbers that add up as those of payment cards do, in one piece or in the groups cards have."""
    groups = [found.span() for found in _DIGITS.finditer(text)]
    for number, (start, end) in enumerate(groups):
        if 13 <= end - start <= 19 and _is_card(text[start:end]):
            yield Detail(start, end, "card")
        if end - start == 4:
            for shape in _CARD_SHAPES:
                run = groups[number : number + len(shape)]
                if _has_shape(text, run, shape) and _is_card("".join(text[a:b] for a, b in run)):
                    yield Detail(start, run[-1][1], "card")
                    break


def _has_shape(text: str, run: Sequence[tuple[int, int]], shape: Sequence[int]) -> bool:
    return [end - start for start, end in run] == list(shape) and all(
        right - left == 1 and text[left] in _CARD_BREAK for (_, left), (right, _) in pairwise(run)
    )


def _is_card(digits: str) -> bool:
    """By Luhn's sum; numbers of cards begin with 2 to 6."""
    doubled = [2 * int(digit) for digit in digits[-2::-2]]
    total = sum(map(int, digits[-1::-2])) + sum(value - 9 if value > 9 else value for value in doubled)
    return digits[0] in "23456" and total % 10 == 0


def _phones(text: str) -> Iterator[Detail]:
    """Not what goes on with letters or digits, and not a date that begins with a nought."""
    if _DIGITS.search(text) is None:
        return
    for found in _PHONE.finditer(text):
        start, end = found.span(1)
        digits = [place for place in range(start, end) if text[place].isdigit()]
        if len(digits) > _LONGEST_PHONE and text.startswith(("+", "00"), start):
            yield Detail(start, digits[_LONGEST_PHONE - 1] + 1, "phone")
        elif 9 <= len(digits) <= _LONGEST_PHONE and not _goes_on(text, end) and not _is_date(text[start:end]):
            yield Detail(start, end, "phone")


def _is_date(text: str) -> bool:
    return _DATE.search(text) is not None and _PAIRS.fullmatch(text) is None


def _goes_on(text: str, end: int) -> bool:
    """Into a longer name or number; `x12` is an extension."""
    after = text[end : end + 2]
    extension = after[:1] in ("x", "X") and after[1:].isdigit()
    return (after[:1].isalnum() or after[:1] == "_") and not extension
