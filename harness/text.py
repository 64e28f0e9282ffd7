"""Text made comparable, with a way back to the original: folding, sentences, tokens, cosine.

Folding gives every pattern one plain view of a text: lower case, straight quotes, single spaces, no
emphasis marks, no zero-width characters, and **one sentence a line**. So in a pattern `^` is where a
sentence begins, `$` is where it ends, and a gap written with `.` never leaves its sentence.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc\uff07`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d", '"'),
        **dict.fromkeys(
            "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a", " "
        ),
        **dict.fromkeys("\u202f\u205f\u3000\t\v\f", " "),
        **dict.fromkeys("\u2028\u2029\u0085\r", "\n"),
        **dict.fromkeys("\u2010\u2011", "-"),
        **{chr(full): chr(full - 0xFEE0) for full in range(0xFF01, 0xFF5F) if full != 0xFF07},
        "<": "\u2039",
        ">": "\u203a",
    }
)
"""One character for one character: offsets stay as they are. `<` and `>` are kept for marking hits."""

_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff\U000e0000-\U000e007f"

_ABBREVIATION = re.compile(r"(?:\b(?:dr|mr|mrs|ms|st|prof|vs|etc|e\.g|i\.e|a\.m|p\.m|approx)|\b\w)\.$", re.I)

_MARKER = r"(?:[-*+•·–—]|\(?\d{1,2}[.)]|\#{1,6}|›)[ ]+(?:[-*+•][ ]+|\[[ x]\][ ]+)?"

_CANDIDATE = re.compile(rf"[{_INVISIBLE}{_EMOJI}\n\d(.!?…–—―\-*_~`]")
_CANDIDATE_OR_SPACE = re.compile(rf"[{_INVISIBLE}{_EMOJI}\n\d(.!?…–—―\-*_~` ]")
"""Every place where something may have to be rewritten; a class alone, because that is what `re` finds fast."""

_REWRITE = re.compile(
    rf"""
    (?P<invisible>[{_INVISIBLE}]+)
  | (?P<marker>\n[ \n]*{_MARKER})
  | (?P<inline>(?<=[:;.,!?\w)][ ])\(?\d{{1,2}}[.)][ ]+(?=[^\W\d]))
  | (?P<line>\n[ \n]*)
  | (?P<end>(?<![.!?…])[.!?…]++["')\]*_]{{0,6}}[ ]+)
  | (?P<dash>[–—―]+[ ]*|(?<=[ ])-{{1,3}}[ ]+|(?<=\w)--(?=\w))
  | (?P<ellipsis>…)
  | (?P<emphasis>\*{{1,3}}|(?<![^\W_])_{{1,3}}|_{{1,3}}(?![^\W_])|~~)
  | (?P<blank>[{_EMOJI}]+[ {_EMOJI}]*|(?<=[ ])[ ]+)
    """,
    re.X,
)
_FIRST_MARKER = re.compile(rf"\s*{_MARKER}", re.X)

_ELISION = re.compile(r"'(?:cause|cos|coz|til|till|em|n|bout|round|twas|tis|s)\b")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

MASK = "\u25ae"
"""Stands for each character of a quotation where only the speaker's own words count."""


@dataclass(frozen=True)
class Folded:
    """One plain view of `original`; `items` are the folded offsets where list items begin."""

    original: str
    text: str
    starts: tuple[int, ...]
    shifts: tuple[int, ...]
    items: tuple[int, ...]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a folded span stands in the original, in code points."""
        if end <= start:
            place = self._origin(start)
            return place, place
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, position: int) -> int:
        piece = bisect_right(self.starts, position) - 1
        return position + self.shifts[piece]

    @cached_property
    def own(self) -> str:
        """The folded text with quotations blanked out, letter for letter: the speaker's own words."""
        return _mask_quotations(self.text)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of every sentence, in folded offsets."""
        spans, start = [], 0
        for line in self.text.split("\n"):
            if line:
                spans.append((start, start + len(line)))
            start += len(line) + 1
        return tuple(spans)

    def sentence_at(self, position: int) -> tuple[int, int]:
        """The sentence that holds a folded offset."""
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        return start, len(self.text) if end < 0 else end


def fold(text: str) -> Folded:
    """One sentence a line, in plain lower-case characters, with a map back to the original."""
    plain = text.translate(_PLAIN)
    builder = _Builder(plain)
    previous = 0
    if first := _FIRST_MARKER.match(plain):
        builder.mark_item(first.group())
        previous = first.end()
    candidates = _CANDIDATE_OR_SPACE if "  " in plain else _CANDIDATE
    for candidate in candidates.finditer(plain):
        start = candidate.start()
        if start >= previous and (match := _REWRITE.match(plain, start)):
            builder.keep(previous, start)
            _rewrite(match, builder)
            previous = match.end()
    builder.keep(previous, len(plain))
    return builder.done(text)


class _Builder:
    """Collects pieces of folded text and where each came from."""

    def __init__(self, plain: str) -> None:
        self._plain = plain
        self._pieces: list[str] = []
        self._starts: list[int] = [0]
        self._shifts: list[int] = [0]
        self._items: list[int] = []
        self._length = 0
        self._last = "\n"

    def keep(self, start: int, end: int) -> None:
        """Copy a stretch as it is, lower-cased; a letter whose lower case is longer stays."""
        if start >= end:
            return
        piece = self._plain[start:end]
        lower = piece.lower()
        if len(lower) != len(piece):
            lower = "".join(low if len(low := char.lower()) == 1 else char for char in piece)
        self._push(lower, start)

    def put(self, piece: str, origin: int) -> None:
        """Write a separator unless the text already ends in one."""
        if self._last == "\n" and piece.isspace():
            return
        if self._last == " " and piece[0] in " \n":
            self._pieces[-1] = self._pieces[-1][:-1]
            self._length -= 1
        self._push(piece, origin)

    def mark_item(self, marker: str) -> None:
        """Note that a list item begins here; a heading is not one."""
        if "#" not in marker:
            self._items.append(self._length)

    def ends_with_abbreviation(self, stop: str) -> bool:
        """Whether the word before a full stop is one that does not end a sentence."""
        tail = (self._pieces[-1] if self._pieces else "")[-12:] + stop
        return _ABBREVIATION.search(tail) is not None

    def _push(self, piece: str, origin: int) -> None:
        shift = origin - self._length
        if shift != self._shifts[-1]:
            if self._starts[-1] >= self._length:
                self._starts.pop()
                self._shifts.pop()
            self._starts.append(self._length)
            self._shifts.append(shift)
        self._pieces.append(piece)
        self._length += len(piece)
        self._last = piece[-1]

    def done(self, original: str) -> Folded:
        return Folded(
            original, "".join(self._pieces), tuple(self._starts), tuple(self._shifts), tuple(self._items)
        )


def _rewrite(match: re.Match[str], builder: _Builder) -> None:
    kind, start = match.lastgroup, match.start()
    if kind in ("marker", "inline"):
        builder.put("\n", start)
        builder.mark_item(match.group())
    elif kind == "line":
        builder.put(" " if _wrapped(match) else "\n", start)
    elif kind == "end":
        _end_sentence(match, builder)
    elif kind == "dash":
        builder.put(" - ", start)
    elif kind == "ellipsis":
        builder.put("...", start)
    elif kind == "blank":
        builder.put(" ", start)


def _end_sentence(match: re.Match[str], builder: _Builder) -> None:
    mark = match.group().rstrip(" ").replace("*", "").replace("_", "")
    start, end = match.span()
    if mark.startswith("…") and match.string[end : end + 1].islower():
        builder.put("... ", start)
    elif mark == "." and builder.ends_with_abbreviation(mark):
        builder.keep(start, end)
    else:
        builder.keep(start, start + len(mark))
        builder.put("\n", end - 1)


def _wrapped(match: re.Match[str]) -> bool:
    """A line broken for width: nothing ended before it and it goes on in lower case."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return match.group().count("\n") == 1 and after.islower() and (before.isalnum() or before in ",'\"")


def _mask_quotations(text: str) -> str:
    """Blank out what stands in quotation marks, unless the whole text is one quotation."""
    spans = [match.span() for match in _FENCED.finditer(text)]
    spans += _quotations(text, '"', 600) + _quotations(text, "'", 300)
    bare = text.strip(" \n")
    pieces, previous = [], 0
    for start, end in sorted(spans):
        if start >= previous and end - start < len(bare):
            quoted = text[start:end]
            blank = "\n".join(MASK * len(line) for line in quoted.split("\n"))
            pieces += [text[previous:start], blank]
            previous = end
    return "".join([*pieces, text[previous:]])


def _quotations(text: str, mark: str, reach: int) -> list[tuple[int, int]]:
    """Pairs of one quotation mark at most `reach` apart; an apostrophe inside a word is neither end."""
    spans: list[tuple[int, int]] = []
    opened = -1
    position = text.find(mark)
    while position >= 0:
        if opened >= 0 and position - opened <= reach and _closes(text, position):
            spans.append((opened, position + 1))
            opened = -1
        elif _opens(text, position):
            opened = position
        position = text.find(mark, position + 1)
    return spans


def _opens(text: str, position: int) -> bool:
    before, after = text[position - 1 : position], text[position + 1 : position + 2]
    return (
        (not before or not (before.isalnum() or before in "\"'"))
        and bool(after.strip())
        and not _ELISION.match(text, position)
    )


def _closes(text: str, position: int) -> bool:
    before, after = text[position - 1 : position], text[position + 1 : position + 2]
    return bool(before.strip()) and not after.isalnum()


def words(text: str) -> list[str]:
    """The words of a text, folded, with inner apostrophes kept."""
    return WORD.findall(fold(text).text)


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
    one, two = _bag(left), _bag(right)
    shared = sum(count * two[gram] for gram, count in one.items() if gram in two)
    if not shared:
        return 0.0
    size = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in two.values()))
    return min(1.0, shared / size)


def _bag(text: str) -> Counter[str]:
    tokens = words(text)
    bag = Counter(tokens)
    bag.update(f"{first} {second}" for first, second in zip(tokens, tokens[1:], strict=False))
    return bag
