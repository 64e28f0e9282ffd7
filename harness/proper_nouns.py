"""Names in a text, as far as capitals show them."""

import re

_ASCII_CAPITALISED = re.compile(r"\b[A-Z][A-Za-z0-9]*(?:'[A-Za-z0-9]+)*")
_CAPITALISED = re.compile(r"(?<![^\W_])[^\W\d_a-zß-öø-ÿ][^\W_]*(?:['’][^\W_]+)*")
_OPENING = " \t*_\"'“‘«([{"
_STARTS = frozenset(".!?:;…\n\r•-–—#>|/。！？")
"""Marks after which a capital proves nothing: a sentence, a quotation or a list item begins."""

_MOST_CAPITALS = 0.5
"""In a text where more of the words than this have capitals, titles and shouting, capitals show nothing."""

_SHORT_TITLE = 3


def proper_nouns(text: str, stop: frozenset[str]) -> set[str]:
    """Capitalised words that do not begin a sentence, in lower case; stop words ("I", "The") aside."""
    found, capitals = set(), 0
    pattern = _ASCII_CAPITALISED if text.isascii() else _CAPITALISED
    for match in pattern.finditer(text):
        word = match.group()
        if not word[0].isupper():
            continue
        capitals += 1
        folded = word.replace("’", "'").removesuffix("'s").lower()
        if folded not in stop and not _begins(text, match.start()):
            found.add(folded)
    if found and capitals > _MOST_CAPITALS * len(text.split(None, 2 * capitals)):
        return set()
    return found


def _begins(text: str, place: int) -> bool:
    """Whether the word at this place begins a sentence; after "Dr." or "J." it does not."""
    before = place - 1
    while before >= 0 and text[before] in _OPENING:
        before -= 1
    if before < 0:
        return True
    if text[before] != ".":
        return text[before] in _STARTS
    title = text[max(0, before - _SHORT_TITLE - 1) : before].split()[-1:]
    return not (title and title[0][0].isupper() and len(title[0]) <= _SHORT_TITLE)
