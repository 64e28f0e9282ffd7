"""The score in a judge's answer. Nothing is guessed and nothing is clamped: what is unclear is unreadable."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from harness.problems import shown
from harness.transcript import Json

_NUMBER = r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?"
_PLAIN = re.compile(_NUMBER)
_BARE = re.compile(
    rf"(?:score\s*[:=]\s*)?(?P<score>{_NUMBER})(?:\s*/\s*(?P<of>{_NUMBER}))?\s*\.?", re.IGNORECASE
)
_BRACE = re.compile(r"[{}]")
_OBJECT = re.compile(r'\{\s*["}]')
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_STATED = re.compile(rf"\bscore\b[\"'`*_ \t]{{0,5}}[:=][\"'`*_ \t]{{0,5}}(?P<score>{_NUMBER})", re.IGNORECASE)
_BREAK = re.compile(r"\n|</think>")
_DECORATION = " \t\r`*_"
_OF_QUOTES = str.maketrans("", "", " \t\r\n|>")
"""What a transcript gains and loses on its way into a prompt and back out of it."""
_LONGEST_BARE = 200
_LONGEST_REASON = 2_000


@dataclass(frozen=True)
class Reading:
    """What a judge gave, within the range, and why."""

    score: float
    reason: str = ""


@dataclass(frozen=True)
class AnswerReader:
    """Reads what is said on one scale about one piece of evidence: the transcript, as the judge saw it."""

    maximum: float
    evidence: str = ""

    def read(self, text: str) -> Reading | str:
        """The score in an answer, or what is wrong with it."""
        try:
            return read_answer(text, self.maximum, self.evidence)
        except ValueError as error:
            return str(error)


class _Found(NamedTuple):
    """An object in an answer, and where it stands."""

    fields: dict[str, Json]
    start: int
    end: int


def read_answer(text: str, maximum: float, evidence: str = "") -> Reading:
    """The one score in an answer, from 0 to the maximum; raises ValueError saying why there is none.

    Read are a JSON object with a `score`, alone or in prose or a code fence, and an answer that is a number
    and nothing else ("4", "4.", "Score: 4", and "4/5" where 5 is the maximum). A score may be a number or a
    string that is one. Not read are scores of nested objects, objects that stand in the `evidence` word for
    word, which are quoted and not given, and several scores that disagree, also where one of them is only
    said: "Score: 0", or a number alone on its line. What stands in `<think>` at the beginning is not part
    of the answer; a thought that does not end leaves none.
    """
    thought = _THOUGHT.match(text)
    said = text[thought.end() :] if thought else text
    objects = list(_objects(said))
    prose = _without(objects, said)
    if "<think>" in prose:
        raise ValueError("a thought that does not end")
    given = _given(objects, said, evidence)
    if not given:
        return Reading(_within(_bare(said, maximum), maximum))
    scores = [_within(_number(fields["score"]), maximum) for fields in given]
    scores += _stated(prose)
    if len(set(scores)) > 1:
        raise ValueError(f"several scores: {', '.join(f'{score:g}' for score in scores[:5])}")
    return Reading(scores[0], _reason(given[0].get("reason")))


def _given(objects: Sequence[_Found], said: str, evidence: str) -> list[dict[str, Json]]:
    """A judge that quotes what was planted does not give what it asks for."""
    scored = [found for found in objects if "score" in found.fields]
    if not scored or not evidence:
        return [found.fields for found in scored]
    seen = _unquoted(evidence)
    return [
        found.fields for found in scored if said[found.start : found.end].translate(_OF_QUOTES) not in seen
    ]


@lru_cache(maxsize=8)
def _unquoted(evidence: str) -> str:
    """Long, and the same for every answer about a trial."""
    return evidence.translate(_OF_QUOTES)


def _without(objects: Sequence[_Found], said: str) -> str:
    """The words around the objects; no word before one can be taken together with one behind it."""
    ends = [0, *(found.end for found in objects)]
    starts = [*(found.start for found in objects), len(said)]
    return "\n".join(said[end:start] for end, start in zip(ends, starts, strict=True))


def _stated(prose: str) -> Iterator[float]:
    """Scores in words of their own."""
    for stated in _STATED.finditer(prose):
        yield float(stated["score"])
    for line in _BREAK.split(prose):
        said = line.strip(_DECORATION) if len(line) <= _LONGEST_BARE else ""
        if bare := _BARE.fullmatch(said):
            yield float(bare["score"])


def _objects(text: str) -> Iterator[_Found]:
    """The outermost JSON objects, in one pass.

    An object that is begun and is not JSON makes the whole answer unreadable: to look for others inside it
    could find a score that was never given. So could looking inside braces that are no object.
    """
    end = depth = 0
    for brace in _BRACE.finditer(text):
        start = brace.start()
        if start < end:
            continue
        if brace.group() == "}":
            depth = max(depth - 1, 0)
        elif depth == 0 and _OBJECT.match(text, start):
            fields, end = _decoded(text, start)
            yield _Found(fields, start, end)
        else:
            depth += 1


def _decoded(text: str, start: int) -> tuple[dict[str, Json], int]:
    try:
        found, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {shown(text[start:])}") from error
    return found, end


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if sum(key == "score" for key, _ in pairs) > 1:
        raise ValueError("a score is given twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _number(given: Json) -> float | int:
    if isinstance(given, str) and _PLAIN.fullmatch(given.strip()):
        return float(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not _finite(given):
        raise ValueError(f"the score is not a number: {shown(given)}")
    return given


def _finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def _bare(text: str, maximum: float) -> float:
    said = text.strip()
    bare = _BARE.fullmatch(said) if len(said) <= _LONGEST_BARE else None
    if bare is None:
        raise ValueError(f"no score in the answer: {shown(said)}" if said else "the answer is empty")
    if bare["of"] is not None and float(bare["of"]) != maximum:
        raise ValueError(f"{shown(said)} is not out of {maximum:g}")
    return float(bare["score"])


def _within(score: float, maximum: float) -> float:
    """Compared before it becomes a float: an integer may be too large for one."""
    if not 0 <= score <= maximum:
        raise ValueError(f"the score {shown(score)} is not between 0 and {maximum:g}")
    return abs(float(score))


def _reason(given: Json) -> str:
    """As text that can be written down: JSON can spell half a character, UTF-8 cannot."""
    said = given.strip() if isinstance(given, str) else ""
    short = said if len(said) <= _LONGEST_REASON else f"{said[:_LONGEST_REASON]}…"
    return short.encode("utf-8", "backslashreplace").decode("utf-8")
