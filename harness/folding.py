"""The passes of folding: each makes one thing plain, and is remembered so that there is a way back."""

import re

from harness.characters import INVISIBLE, PICTURE, plain
from harness.folded import Edit, Folded

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


def folded(text: str) -> Folded:
    """A text as `harness.text.fold` gives it."""
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
