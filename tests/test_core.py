"""The compiled core says what the checkers say, byte for byte, and leaves to them what it cannot do."""

import gc
import json
import os
import random
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from test_matching import CHECKERS, SETTINGS, SHARES, entry, turns

from harness import lexicon, matching, quick
from harness.cases import CaseReader, CaseRow
from harness.check import check_all, check_one
from harness.check_file import Block, CheckOptions, check_block, check_rows
from harness.checkers import topic_pivot
from harness.collector import without_collector
from harness.errors import SynthesisError
from harness.lexicon import parse
from harness.quick import core_for, core_of, quick_check
from harness.records import Case, Turn
from harness.resources import bundled
from harness.settings import CheckSettings

if TYPE_CHECKING:
    from harness._core import Core

encode = msgspec.json.Encoder().encode
needs_core = pytest.mark.skipif(
    core_for("en") is None and os.environ.get("SYNTHESIS_REQUIRE_CORE") != "1",
    reason="the core is not compiled: there was no compiler when the package was installed",
)


def plain(turn: Turn, settings: CheckSettings = SETTINGS) -> list[tuple[str, bytes, bytes]]:
    results = [check_one(name, turn, settings) for name in CHECKERS]
    return [
        (each.status, encode(each), encode(each.condensed()) if each.status == "failed" else b"")
        for each in results
    ]


def made(description: dict[str, Any]) -> "Core":
    from harness._core import Core

    return Core(description)


@needs_core
@pytest.mark.parametrize("share", range(SHARES))
def test_the_core_gives_what_the_checkers_give(share: int) -> None:
    """On the texts on which the checkers are held to the plain way; few of them are left to Python."""
    left = 0
    for turn in turns(share):
        found = quick_check(turn, CHECKERS, SETTINGS)
        if found is None:
            left += 1
            assert any("\ud800" <= char <= "\udfff" or char == "Σ" for char in turn.user + turn.assistant)
        else:
            assert found == plain(turn), (turn.user, turn.assistant)
    assert left < 200


@needs_core
@pytest.mark.parametrize("pack", ["evals", "fairness", "planted"])
def test_the_core_gives_what_the_checkers_give_on_the_bundled_cases(pack: str) -> None:
    for line in (bundled("data") / f"{pack}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        turn = Turn(user=row["user"], assistant=row["assistant"])
        assert quick_check(turn, CHECKERS, SETTINGS) == plain(turn), row["id"]


@needs_core
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 1.0])
def test_the_threshold_reaches_the_core(threshold: float) -> None:
    settings = CheckSettings(similarity_threshold=threshold)
    turn = Turn(
        user="My dad died in May and I can't sleep.", assistant="Your dad died in May. Buy new shoes."
    )
    assert quick_check(turn, CHECKERS, settings) == plain(turn, settings)


@needs_core
@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\n\n", "~~~", "'", "\x00", "İ", "k" * 40_000, "no. " * 9_000,
        "You'll be fine.", "It will all be \"fine\" again.", "You'll be fine\\.",
        "You must wait in Łódź, Łukasz Ŵŵ.", "you'll be fine " * 3_000, "you must rest, so " * 2_000,
    ],
)  # fmt: skip
def test_texts_at_the_edge_of_things(text: str) -> None:
    for turn in (Turn(user=text, assistant=text), Turn(user="I lost my job.", assistant=text)):
        assert quick_check(turn, CHECKERS, SETTINGS) == plain(turn)


@needs_core
@pytest.mark.parametrize("start", [r"\b", r"a\b"])
def test_many_ways_to_the_same_place_are_one(start: str) -> None:
    """Each group doubles the ways; a core that goes them all is not done while anybody waits."""
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [("a", "g", False, start + "(?:a?|b?)" * 60 + "z", ())]
    core = made({**told, "names": sorted([*told["names"], "a", "g"])})
    assert core.check("Hm.", "a aab", ("agency_language",), 0.45) is not None


@needs_core
def test_what_needs_too_many_steps_is_left_to_the_checkers() -> None:
    """A pattern that begins anywhere and goes on to the end of the word takes the square of its letters."""
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [("a", "g", False, "[a-z]+!", ())]
    core = made({**told, "names": sorted([*told["names"], "a", "g"])})
    assert core.check("Hm.", "z" * 1_000, ("agency_language",), 0.45) is not None
    assert core.check("Hm.", "z" * 30_000, ("agency_language",), 0.45) is None


@needs_core
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"ba*", "b" + "a" * 200),
        (r"ba*\B", "b" + "a" * 200 + " ba ab"),
        (r"ba*c?", "b" + "a" * 200 + "c aba" + "b" * 90),
        (r"[ab]+\b", "a" * 70 + "b" * 70 + "c " + "b" * 150),
        (r"-+(?:!|$)", "-" * 90 + "!" + "-" * 90 + "." + "-" * 90),
        (r"-$|-!", "-------!-------"),
        (r"-", "-------"),
        (r"n't", "n doesn't ann''t n't"),
    ],
)
def test_one_character_again_and_again(pattern: str, text: str) -> None:
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [("a", "g", False, pattern, ())]
    core = made({**told, "names": sorted([*told["names"], "a", "g"])})
    [(_, result, _)] = core.check("Hm.", f"So {text}", ("agency_language",), 0.45) or []
    spans = [(span["start"], span["end"]) for span in json.loads(result)["spans"] if span["rule"] == "a"]
    assert spans == [match.span() for match in re.finditer(pattern, f"So {text}") if match.group()]


MANY = "|".join(f"{chr(0x100 + number)}{'ab'[number % 2]}" for number in range(62))
"""A pattern that tells more than 64 characters apart, which is more than the core's tables have room for."""


@needs_core
def test_a_rule_that_tells_too_many_characters_apart_is_not_for_the_core() -> None:
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [("a", "g", False, MANY, ())]
    with pytest.raises(ValueError, match="a pattern tells too many characters apart"):
        made({**told, "names": sorted([*told["names"], "a", "g"])})


@needs_core
def test_what_cancels_a_rule_may_not_be_for_the_core_either() -> None:
    """Only a text in which the rule matches is left to the checkers."""
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [("a", "g", False, "you must", ("never", MANY))]
    core = made({**told, "names": sorted([*told["names"], "a", "g"])})
    for _ in range(2):
        assert core.check("Hm.", "Take your time.", ("agency_language",), 0.45) is not None
        assert core.check("Hm.", "You must go.", ("agency_language",), 0.45) is None


@needs_core
def test_more_patterns_may_cancel_a_rule_than_are_looked_for_together() -> None:
    told: dict[str, Any] = quick.description("en")
    cancelling = tuple(f"go{number} >" if number % 3 else f"^{number}" for number in range(150))
    told["agency"]["rules"] = [("a", "g", False, "you must go[0-9]* ", cancelling)]
    core = made({**told, "names": sorted([*told["names"], "a", "g"])})
    for number in (0, 1, 2, 63, 64, 65, 128, 148):
        [(_, result, _)] = core.check("Hm.", f"You must go{number} now.", ("agency_language",), 0.45) or []
        cancelled = number % 3 != 0
        assert (b'"rule":"a"' in result) is not cancelled, number


@needs_core
@pytest.mark.parametrize("text", ["z" * 400_000, "?!" * 200_000, "z " * 200_000])
def test_a_text_full_of_places_where_rules_begin_needs_no_room_for_all_of_them(text: str) -> None:
    told: dict[str, Any] = quick.description("en")
    told["agency"]["rules"] = [(f"a{number}", "g", False, r"[z?!]+[0-9]", ()) for number in range(3)]
    names = sorted([*told["names"], "a0", "a1", "a2", "g"])
    core = made({**told, "names": names})
    core.check("Hm.", "z1", ("agency_language",), 0.45)
    before = resident_peak()
    core.check("Hm.", text, ("agency_language",), 0.45)
    assert resident_peak() - before < 24 << 20


def resident_peak() -> int:
    """Of this process since it began; where that cannot be told, nothing is held against it."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_core_that_cannot_be_loaded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    quick.core_for.cache_clear()
    monkeypatch.setitem(sys.modules, "harness._core", ModuleType("harness._core"))
    try:
        with pytest.raises(SynthesisError, match="the compiled core cannot be loaded"):
            core_for("en")
        monkeypatch.setitem(sys.modules, "harness._core", None)
        assert core_for("en") is None
    finally:
        quick.core_for.cache_clear()


@needs_core
@pytest.mark.parametrize(("name", "value"), [("MOST_HITS", 3), ("REACH", 10)])
def test_figures_are_told_to_the_core(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (matching, quick, topic_pivot):
        monkeypatch.setattr(module, name, value, raising=False)
    monkeypatch.setattr(lexicon, "load", cache(lexicon.load.__wrapped__))
    quick.core_for.cache_clear()
    turn = Turn(user="My mum is ill.", assistant="I hope, for what it may be worth, you'll be fine. " * 5)
    try:
        assert quick_check(turn, CHECKERS, SETTINGS) == plain(turn)
        many = Turn(user="My mum is ill.", assistant="You'll be fine. " * 5)
        assert quick_check(many, CHECKERS, SETTINGS) == plain(many)
    finally:
        quick.core_for.cache_clear()


@needs_core
def test_forgetting_changes_nothing() -> None:
    """More new sentences than are remembered, with one that comes back in between."""
    rng = random.Random(7)
    turn = Turn(user="My mum is ill.", assistant="You should call her. She'll be fine. What would help you?")
    expected = plain(turn)
    for _ in range(30):
        many = " ".join(f"word{rng.random()} is new." for _ in range(1_000))
        quick_check(Turn(user="Hm.", assistant=many), CHECKERS, SETTINGS)
        assert quick_check(turn, CHECKERS, SETTINGS) == expected


@needs_core
def test_a_malformed_description_is_an_error_and_no_crash() -> None:
    known: dict[str, Any] = quick.description("en")
    described: list[dict[str, Any]] = [{}, {"names": 3}, {**known, "agency": {}}]
    for each in described:
        with pytest.raises((KeyError, TypeError, ValueError)):
            made(each)


def test_other_measures_and_other_checkers_are_not_for_the_core() -> None:
    assert core_of(CHECKERS, CheckSettings(similarity="embeddings")) is None
    assert core_of(["somebody_elses"], SETTINGS) is None
    assert core_of(CHECKERS, CheckSettings(language="xx")) is None


def rows() -> Iterator[CaseRow]:
    reader = CaseReader("evals", None)
    yield from reader.rows((bundled("data") / "evals.jsonl").read_bytes())
    assert reader.problems == []


def test_lines_of_a_report_are_the_same_with_the_core_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    some = list(rows())
    assert any(row.tags for row in some)
    assert any(row.expected for row in some)
    found = check_rows(some, SETTINGS)
    monkeypatch.setattr(quick, "core_for", lambda language: None)
    assert check_rows(some, SETTINGS) == found


def test_what_the_core_leaves_keeps_its_place() -> None:
    """A capital sigma is for Python alone; here it stands between two cases that are not."""
    case = {"user": "My dad died.", "checks": ["agency_language"]}
    texts = ["You must go.", "You must go, Σ.", "You could go."]
    lines = [
        json.dumps({"id": f"T-{number}", "assistant": text, **case}) for number, text in enumerate(texts)
    ]
    done = check_block(CheckOptions(SETTINGS, "here"), Block(1, "\n".join(lines).encode()))
    results = json.loads(b"[" + done.results + b"]")
    assert [result["id"] for result in results] == ["T-0", "T-1", "T-2"]
    assert [result["pass"] for result in results] == [False, False, True]
    assert [each["id"] for each in json.loads(b"[" + done.failures + b"]")] == ["T-0", "T-1"]


GOOD = {"id": "T-1", "user": "u", "assistant": "a", "checks": ["topic_pivot"]}


@pytest.mark.parametrize(
    "change",
    [
        {}, {"notes": "n", "tags": ["x"], "expected": {"topic_pivot": None}},
        {"expected": {"topic_pivot": False}}, {"id": "T-1\n"}, {"id": "t-1"}, {"id": 1},
        {"user": ""}, {"user": None}, {"assistant": ""}, {"checks": []},
        {"checks": "topic_pivot"}, {"checks": ["topic_pivot", "topic_pivot"]}, {"checks": ["nothing"]},
        {"expected": {"topic_pivot": 1}}, {"expected": {"nothing": True}},
        {"expected": {"agency_language": None}},
        {"tags": "x"}, {"tags": [1]}, {"notes": 3}, {"more": 1}, {"user": "\ud800"},
    ],
)  # fmt: skip
def test_the_quick_reader_takes_what_the_record_takes(change: dict[str, object]) -> None:
    """What it refuses is put to the record, which says why; so the two must never differ."""
    line = json.dumps(GOOD | change).encode()
    quickly, slowly = CaseReader("f", None), CaseReader("f", None)
    row = quickly._right(line)
    case = slowly._case(line, 1)
    assert (row is None) is (case is None)
    if row is not None and case is not None:
        assert Case(**msgspec.structs.asdict(row)) == case


def test_the_row_has_the_fields_of_the_record() -> None:
    assert tuple(Case.model_fields) == CaseRow.__struct_fields__


def test_records_from_the_core_are_those_of_the_checkers() -> None:
    turn = Turn(user="My mum is ill.", assistant="You should call her. She'll be fine.")
    assert check_all(CHECKERS, turn, SETTINGS) == [check_one(name, turn, SETTINGS) for name in CHECKERS]


def test_a_pattern_the_core_does_not_know_leaves_everything_to_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = parse(('version = "1"\n' + entry("a", "\\pL+ go")).encode(), "guide/en.toml")
    agency = quick._agency
    monkeypatch.setattr(quick, "_agency", lambda known: {**agency(known), "rules": quick._rules(words, "g")})
    quick.core_for.cache_clear()
    try:
        assert core_for("en") is None
    finally:
        quick.core_for.cache_clear()


def test_the_collector_is_paused_and_comes_back() -> None:
    assert without_collector(gc.isenabled)() is False
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        without_collector(lambda: 1 // 0)()
    assert gc.isenabled()


@needs_core
def test_sentences_that_come_back_are_remembered_when_others_are_forgotten() -> None:
    """Some fifty thousand that never come back are more than there is room for."""
    core = made(quick.description("en"))

    def check(text: str) -> None:
        assert core.check("Hm.", text, ("agency_language",), 0.45) is not None

    returning = [f"You should call them {number} times." for number in range(200)]
    for number in range(50_000):
        check(f"{returning[number % 200]} Number {number} is one that nobody says again, whatever happens.")
    before = core.searched()
    assert before < 50_000 + 2 * 200 + 10
    for text in returning:
        check(text)
    assert core.searched() == before
