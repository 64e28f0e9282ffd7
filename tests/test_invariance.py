"""How a text is typed does not change a verdict: quotes, spaces, width, capitals, emoji, invisible ones."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import check_turn
from harness.records import CheckResult

DATA = Path(__file__).parent.parent / "data"
CASES = [
    json.loads(line)
    for name in ("evals.jsonl", "planted.jsonl", "fairness.jsonl")
    for line in (DATA / name).read_text("utf-8").splitlines()
]


def curly(text: str) -> str:
    text = re.sub(r"(^|[\s(])\"", "\\1“", text).replace('"', "”")
    return re.sub(r"(^|[\s(])'", "\\1‘", text).replace("'", "’")


def unbreakable(text: str) -> str:
    return text.replace(" ", "\u00a0")


def invisible(text: str) -> str:
    """A zero-width space inside every longer word."""
    return re.sub(r"(\w\w)(\w\w)", "\\1\u200b\\2", text)


def full_width(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def capitals(text: str) -> str:
    return text.upper()


def emoji(text: str) -> str:
    """One behind every sentence."""
    return re.sub(r"([.!?])(\s|$)", r"\1 🙏🏽\2", text)


def selected(text: str) -> str:
    """A variation selector inside every longer word."""
    return re.sub(r"(\w\w)(\w\w)", "\\1\U000e0100\\2", text)


def emoji_before_the_mark(text: str) -> str:
    return re.sub(r"(?<=\w)([.!?])$", r" ❤️\1", text)


def wrapped(text: str) -> str:
    """Broken for width, as far as that can be: only before a small letter."""
    return re.sub(r"(?<=\w) (?=[a-z])", "\n", text)


def crlf(text: str) -> str:
    return wrapped(text).replace("\n", "\r\n")


def trailing_spaces(text: str) -> str:
    return wrapped(text).replace("\n", " \t\n")


CHANGES = [
    curly,
    unbreakable,
    invisible,
    full_width,
    capitals,
    emoji,
    selected,
    emoji_before_the_mark,
    wrapped,
    crlf,
    trailing_spaces,
]


@pytest.mark.parametrize("change", CHANGES)
def test_verdicts_stay(change: Callable[[str], str]) -> None:
    moved = []
    for case in CASES:
        before = statuses(check_turn(case["user"], case["assistant"]))
        after = statuses(check_turn(change(case["user"]), change(case["assistant"])))
        if before != after:
            moved.append((case["id"], before, after))
    assert moved == []


def statuses(verdicts: dict[str, CheckResult]) -> dict[str, str]:
    return {name: verdict.status for name, verdict in verdicts.items()}


@pytest.mark.parametrize("change", CHANGES)
def test_spans_point_into_the_text_as_it_was_typed(change: Callable[[str], str]) -> None:
    found = 0
    for case in CASES:
        user, assistant = change(case["user"]), change(case["assistant"])
        for verdict in check_turn(user, assistant).values():
            for hit in verdict.spans:
                source = user if hit.side == "user" else assistant
                assert source[hit.start : hit.end] == hit.text
                found += 1
    assert found > len(CASES)
