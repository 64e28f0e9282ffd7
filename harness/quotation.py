"""What stands in quotation marks is someone else's: blanked out, so that only the speaker's words count.

Works on folded text: all marks are straight, and a fence of code is three apostrophes.
"""

import re

_LETTER = re.compile("[^\n]")

MASK = "~"
"""Stands for each character of a quotation where only the speaker's own words count."""


def _quotation(mark: str, reach: int) -> str:
    """What stands between two marks at most `reach` apart; a mark inside a word is neither end."""
    opens = rf"{mark}(?<![^\W_]{mark})(?<![\"']{mark})(?=\S)"
    closes = rf"{mark}(?<=\S{mark})(?![^\W_])"
    return rf"{opens}(?:[^{mark}]|(?!{closes})(?!{opens}){mark}){{0,{reach - 1}}}+{closes}"


_ELISION = r"'(?:cause|cos|coz|til|till|em|n|bout|round|twas|tis|s)\b"
_QUOTATION = re.compile(
    rf"""'''(?s:.*?)(?:'''|\Z)|{_quotation('"', 600)}|(?!{_ELISION}){_quotation("'", 300)}"""
)


_OPENING = re.compile(r"'(?<![^\W_]')|\"|'''")
"""Apostrophes inside words open nothing, and most texts have no others."""


def mask_quotations(text: str) -> str:
    """Blank out what stands in quotation marks, unless the whole text is one quotation."""
    if not _OPENING.search(text):
        return text
    whole = len(text)

    def mask(match: re.Match[str]) -> str:
        quoted = match.group()
        if len(quoted) == whole:
            return quoted
        return _LETTER.sub(MASK, quoted) if "\n" in quoted else MASK * len(quoted)

    return _QUOTATION.sub(mask, text)
