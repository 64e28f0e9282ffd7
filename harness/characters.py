"""Characters that are written in several ways and mean one: tables for folding."""

import re

_NOT_AS_ASCII = (0xFF07, 0xFF1C, 0xFF1E, 0xFF40)
"""Full-width forms whose ASCII form is itself rewritten."""

_PLAIN = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc\uff07\uff40`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d", '"'),
    **dict.fromkeys("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a", " "),
    **dict.fromkeys("\u202f\u205f\u3000\t\v\f\x1c\x1d\x1e\x1f", " "),
    **dict.fromkeys("\u2028\u2029\u0085\r", "\n"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys("<\uff1c", "\u2039"),
    **dict.fromkeys(">\uff1e", "\u203a"),
    **{chr(full): chr(full - 0xFEE0) for full in range(0xFF01, 0xFF5F) if full not in _NOT_AS_ASCII},
    "\u0130": "I",
    **dict.fromkeys(map(chr, range(0xD800, 0xE000)), "\ufffd"),
}
"""One character for one character, so offsets stay as they are. `<` and `>` are kept for marking hits, and
U+0130 is the only letter whose lower case is longer than itself. Lone surrogates, which RE2 cannot read,
become U+FFFD. No value is a key, so the order of replacing does not matter."""

_ASCII_PLAIN = str.maketrans({char: plain for char, plain in _PLAIN.items() if char.isascii()})

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Unicode's Default_Ignorable_Code_Point."""

PICTURE = "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]"
"""Emoji, arrows and signs, one of them; what joins and colours them is invisible."""


def plain(text: str) -> str:
    """Quotes, spaces and full-width forms in plain characters; `translate` is quick for ASCII alone."""
    if text.isascii():
        return text.translate(_ASCII_PLAIN)
    for char in _PLAIN.keys() & set(text):
        text = text.replace(char, _PLAIN[char])
    return text
