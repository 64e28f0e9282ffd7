"""Text made comparable, with a way back to the original: folding, sentences, tokens, cosine.

Folding gives every pattern one plain view of a text: lower case, straight quotes, single spaces, no
emphasis marks, no zero-width characters, and **one sentence a line**. So in a pattern `^` is where a
sentence begins, `$` is where it ends, and a gap written with `.` never leaves its sentence.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from harness.characters import INVISIBLE, PICTURE, plain
from harness.folded import Edit, Folded

LONG = 20_000
"""Characters from which on a text, with all its edits, is too large to keep many of."""

REMEMBERED = 2048
"""Shorter texts that are kept folded: those of one batch are folded once and looked at by every checker."""

_ITEM = "\x1e"
"""A line break before a list item, until folding is done."""

_LOWER = "".join(char for code in (*range(0x590), *range(0x1E00, 0x2000)) if (char := chr(code)).islower())

_CRLF = re.compile("\r\n")
_EMOJI = re.compile(f"{PICTURE}+")
_EMOJI_BEFORE_MARK = re.compile(
    rf"""(?<!{PICTURE})(?:(?<![ .!?;:])[ ]*+{PICTURE}++(?:[ ]++{PICTURE}++)*+|{PICTURE}++)"""
    r"""(?=[.,!?;:]|["')\]](?!\w))"""
)
"""Leaves no blank before the mark, and takes none that parts it from a sentence before."""

_KEYCAP = re.compile("[0-9#*]\u20e3")
_KEYCAP_ITEM = re.compile(r"^[ ]*+[0-9]\u20e3[.):]?[ ]*+", re.M)
_SPELT_OUT = {
    mark: (re.compile(mark), plain)
    for mark, plain in {"…": "...", "‼": "!!", "⁇": "??", "⁈": "?!", "⁉": "!?"}.items()
}
_LONG_DASH = re.compile("[–—―]+")
_DOUBLE_HYPHEN = re.compile(r"(?<=\w)--(?=\w)|(?<=[ ])-{2,3}(?=[ ])")

_WRAPPED = re.compile(rf"\n(?<=[\w,'\"]\n)[ ]*(?=[{_LOWER}])")
"""A line broken for width: nothing ended before it and it goes on in lower case."""

_TRAILING = re.compile(r"(?<![ ])[ ]+(?=\n)")

_NESTED = r"(?:[-*+•][ ]+|\[[ x]\][ ]+)?"
_BULLET = rf"(?:[-*+•·–—›]|\(?\d{{1,2}}[.)])[ ]+{_NESTED}"
_FIRST_BULLET = re.compile(rf"\A[ \n]*{_BULLET}")
_NEXT_BULLET = re.compile(rf"\n{_BULLET}")
_INLINE_BULLET = re.compile(r"[ ](?=[(\d])(?<=[:;.,!?\w)][ ])\(?\d{1,2}[.)][ ]+(?=[^\W\d])")
_ITEM_ONE = re.compile(r"1(?<!\w1)[.)][ ]")
"""Numbers within a line are a list only where it begins at 1; otherwise they are ages and dates."""

_FIRST_HEADING = re.compile(rf"\A[ \n]*\#{{1,6}}[ ]+{_NESTED}")
_NEXT_HEADING = re.compile(rf"\n\#{{1,6}}[ ]+{_NESTED}")

_EMPHASIS = re.compile(r"\*+|_(?<![^\W_]_)_{0,2}|_{1,3}(?![^\W_])|~~")
_SPACES = re.compile("[ ][ ]+")
_BREAK = re.compile("[ ]\n[ \n]*|\n[ \n]+")
_ITEM_BREAK = re.compile(f"[ \n]?{_ITEM}[ \n{_ITEM}]+|[ \n]{_ITEM}")
_START = re.compile(rf"\A[ \n{_ITEM}]+")

_SENTENCE_END = re.compile(
    r"""
    [ ](?<=[.!?"')\]][ ])
    (?:(?<=[.!?][ ])|(?<=[.!?]["')\]][ ])|(?<=[.!?]["')\]]{2}[ ])|(?<=[.!?]["')\]]{3}[ ]))
    (?<!\b[^\W\diI][.][ ])
    (?i:(?<!\b(?:dr|mr|ms|st|vs)[.][ ])(?<!\b(?:mrs|etc)[.][ ])(?<!\bprof[.][ ])(?<!\bapprox[.][ ]))
    """,
    re.X,
)
"""The space after a mark that ends a sentence; after an abbreviation or a letter, "I" aside, it does not."""


class _Editor:
    """A text under edit, and the edits so far that changed where things stand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.edits: list[Edit] = []

    def replace(self, pattern: re.Pattern[str], replacement: str) -> None:
        text, count = pattern.subn(replacement, self.text)
        if count:
            self.edits.append(Edit(self.text, pattern, replacement))
            self.text = text


def _folded(text: str) -> Folded:
    editor = _Editor(text)
    if "\r\n" in text:
        editor.replace(_CRLF, "\n")
    editor.text = plain(editor.text)
    unusual = "" if editor.text.isascii() else "".join(set(editor.text))
    if unusual:
        _fold_unusual(editor, unusual)
    _fold_lists(editor)
    if unusual and _LONG_DASH.search(unusual):
        editor.replace(_LONG_DASH, " - ")
    if unusual and _EMOJI.search(unusual):
        editor.replace(_EMOJI_BEFORE_MARK, "")
        editor.replace(_EMOJI, " ")
    _fold_marks(editor)
    _fold_blanks(editor)
    starts_with_item = editor.text.startswith(_ITEM)
    if editor.text[:1] in (" ", "\n", _ITEM):
        editor.replace(_START, "")
    lines = _SENTENCE_END.sub("\n", editor.text).rstrip(f" \n{_ITEM}")
    items = [place + 1 for place, char in enumerate(lines) if char == _ITEM] if _ITEM in lines else []
    if starts_with_item:
        items.insert(0, 0)
    return Folded(text, lines.replace(_ITEM, "\n").lower(), tuple(items), tuple(editor.edits))


class _Fold:
    """`fold`, which remembers the last few short texts, and of long ones no more than an exchange."""

    def __init__(self) -> None:
        self._short = lru_cache(maxsize=REMEMBERED)(_folded)
        self._long = lru_cache(maxsize=2)(_folded)

    def __call__(self, text: str) -> Folded:
        """One sentence a line, in plain lower-case characters, with a map back to the original."""
        return self._short(text) if len(text) <= LONG else self._long(text)

    def cache_clear(self) -> None:
        """Forget every text."""
        self._short.cache_clear()
        self._long.cache_clear()


fold = _Fold()


def _fold_unusual(editor: _Editor, unusual: str) -> None:
    """What is not seen goes; marks in one character are spelt out; a number in a box begins an item."""
    if INVISIBLE.search(unusual):
        editor.replace(INVISIBLE, "")
    for mark in _SPELT_OUT.keys() & set(unusual):
        editor.replace(*_SPELT_OUT[mark])
    if "\u20e3" in unusual:
        editor.replace(_KEYCAP_ITEM, "- ")
        editor.replace(_KEYCAP, " ")


def _fold_lists(editor: _Editor) -> None:
    """Lines broken for width are joined; bullets and heading marks become line breaks."""
    numbered = _ITEM_ONE.search(editor.text)
    if _FIRST_BULLET.match(editor.text):
        editor.replace(_FIRST_BULLET, _ITEM)
    if _FIRST_HEADING.match(editor.text):
        editor.replace(_FIRST_HEADING, "")
    if "\n" in editor.text:
        if " \n" in editor.text:
            editor.replace(_TRAILING, "")
        editor.replace(_WRAPPED, " ")
        _fold_breaks(editor)
        editor.replace(_NEXT_BULLET, _ITEM)
        editor.replace(_NEXT_HEADING, "\n")
    if numbered:
        editor.replace(_INLINE_BULLET, _ITEM)


def _fold_marks(editor: _Editor) -> None:
    """Dashes written with hyphens become one; emphasis goes."""
    if "--" in editor.text:
        editor.replace(_DOUBLE_HYPHEN, " - ")
    if "*" in editor.text or "_" in editor.text or "~~" in editor.text:
        editor.replace(_EMPHASIS, "")


def _fold_blanks(editor: _Editor) -> None:
    """One space between words, one break between lines."""
    if "  " in editor.text:
        editor.replace(_SPACES, " ")
    _fold_breaks(editor)
    if _ITEM in editor.text:
        editor.replace(_ITEM_BREAK, _ITEM)


def _fold_breaks(editor: _Editor) -> None:
    if "\n\n" in editor.text or " \n" in editor.text or "\n " in editor.text:
        editor.replace(_BREAK, "\n")


def words(text: str) -> list[str]:
    """The words of a text, folded, with inner apostrophes kept."""
    return fold(text).words


def extract_anchor(text: str) -> str:
    """The first one or two sentences of a reply, as written."""
    folded = fold(text)
    if not folded.sentences:
        return ""
    last = folded.sentences[:2][-1]
    start, end = folded.origin(folded.sentences[0][0], last[1])
    return text[start:end].strip()


def token_cosine_similarity(left: str, right: str) -> float:
    """Cosine of two bags of unigrams and bigrams, from 0 (nothing shared) to 1."""
    one, two = fold(left).words, fold(right).words
    pairs_one, pairs_two = list(pairwise(one)), list(pairwise(two))
    shared = _shared(one, two) + _shared(pairs_one, pairs_two)
    if not shared:
        return 0.0
    squares = [_square(grams) for grams in (one, pairs_one, two, pairs_two)]
    return min(1.0, shared / math.sqrt((squares[0] + squares[1]) * (squares[2] + squares[3])))


def _shared(one: Sequence[object], two: Sequence[object]) -> int:
    """The product of two bags: how often each thing is in one times how often it is in the other."""
    both = set(one).intersection(two)
    if not both:
        return 0
    here, there = Counter(one), Counter(two)
    return sum([here[gram] * there[gram] for gram in both])


def _square(grams: Sequence[object]) -> int:
    """A bag times itself; where nothing comes twice that is their number."""
    if len(set(grams)) == len(grams):
        return len(grams)
    return sum([count * count for count in Counter(grams).values()])
