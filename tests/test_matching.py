"""What is found quickly is what is found plainly: verdicts and spans, on texts made to be awkward."""

import json
import random
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from plain_checks import forget, plainly

from harness import lexicon, matching, plugins
from harness.check import check_one, prepare_checks
from harness.lexicon import Lexicon, parse
from harness.records import Turn
from harness.resources import bundled
from harness.settings import CheckSettings
from harness.text import fold

CHECKERS = plugins.own("checkers")
SETTINGS = CheckSettings()
TEXTS = 20_000
SHARES = 8
"""The generated texts are shared out, so that they can be tested side by side."""
ODD = [
    "😀", "👍🏽", "❤️", "\ud800", "\udfff", "\u0130", "ſ", "\u212a", "\u200b", "\u00a0", "…", "—", "–", "‼",
    "1️⃣", "\t", "\r\n", "“", "”", "’", "«", "```", "**", "__", "~~", "#", "- ", "\n", "\n\n", "1. ", "2) ",
    "<", ">", "ＦＩＮＥ", "é", "\x1e", "\x00", "  ", "...", "?!", "'", '"', "(", ")", "Dr. ", "e.g. ", "x² ",
    "中文。", "אבג", "\u202e",
]  # fmt: skip


def sentences() -> list[str]:
    """What every rule is tested with, so that every rule fires, and what people and assistants say."""
    found = [
        example
        for name in CHECKERS
        for rule in lexicon.load(name).rules
        for example in (*rule.entry.match, *rule.entry.no_match)
    ]
    for pack in ("evals", "fairness", "planted"):
        for line in (bundled("data") / f"{pack}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            found += [row["user"], row["assistant"]]
    return found


def awkward(rng: random.Random, pool: Sequence[str]) -> str:
    """A few sentences, some of them cut, glued, stretched or strewn with odd characters."""
    parts = []
    for _ in range(rng.randint(1, 4)):
        part = rng.choice(pool)
        change = rng.random()
        if change < 0.2:
            place = rng.randrange(len(part) + 1)
            part = part[:place] + rng.choice(ODD) + part[place:]
        elif change < 0.3:
            part = part.upper()
        elif change < 0.35:
            words = part.split()
            place = rng.randrange(len(words) + 1)
            part = " ".join([*words[:place], *["and so on"] * rng.choice((1, 30, 130)), *words[place:]])
        elif change < 0.45:
            part = part[: rng.randrange(len(part) + 1)] + rng.choice(pool)
        elif change < 0.5:
            part = f"{rng.choice(ODD)}{part}{rng.choice(ODD)}"
        parts.append(part)
    return rng.choice((" ", "\n", "\n- ", " — ", ". ")).join(parts)


def turns(share: int) -> Iterator[Turn]:
    rng, pool = random.Random(f"turns {share}"), sentences()
    for _ in range(TEXTS // SHARES // 2):
        yield Turn(user=awkward(rng, pool), assistant=awkward(rng, pool))


def verdicts(turn: Turn) -> list[object]:
    return [msgspec.to_builtins(check_one(name, turn, SETTINGS)) for name in CHECKERS]


@pytest.mark.parametrize("share", range(SHARES))
def test_the_quick_way_finds_what_the_plain_way_finds(share: int) -> None:
    """Half of the turns are looked at beforehand in batches, as a file's are, the others one by one."""
    generated = list(turns(share))
    forget()
    quick = []
    for start in range(0, len(generated), 100):
        batch = generated[start : start + 100]
        if start % 200:
            prepare_checks(CHECKERS, batch, SETTINGS)
        quick += [verdicts(turn) for turn in batch]
    with plainly():
        for turn, found in zip(generated, quick, strict=True):
            assert found == verdicts(turn), (turn.user, turn.assistant)


def test_every_rule_fires_among_the_generated_texts() -> None:
    rules = {(name, rule.entry.id) for name in CHECKERS for rule in lexicon.load(name).rules}
    pool = sentences()
    for name in CHECKERS:
        words = lexicon.load(name)
        groups = words.groups
        for example in pool:
            folded = fold(example)
            rules -= {(name, hit.rule) for hit in words.hits(folded, *groups)}
    assert rules == set()


def entry(identity: str, pattern: str, **more: object) -> str:
    fields = {"id": identity, "group": "g", "pattern": pattern, "why": "w", "match": ["m"], "no_match": ["n"]}
    return "[[entry]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in (fields | more).items())


def lexicon_of(*entries: str) -> Lexicon:
    return parse(('version = "1"\n' + "\n".join(entries)).encode(), "guide/en.toml")


def found(words: Lexicon, text: str) -> list[tuple[str, str]]:
    return [(hit.rule, hit.text) for hit in words.hits(fold(text), "g")]


def test_a_rule_sees_one_sentence_at_a_time_unless_a_line_break_stands_in_it() -> None:
    words = lexicon_of(
        entry("a", "one[^x]{0,9}two"), entry("b", "one\\.\\ntwo"), entry("c", "one[^\\n]{0,9}two|two")
    )
    assert found(words, "One. Two.") == [("b", "One. Two"), ("c", "Two")]
    assert found(words, "One, two.") == [("a", "One, two"), ("c", "One, two")]


def test_a_match_that_would_leave_its_sentence_hides_none_that_does_not() -> None:
    """Joined, "one two" would be found only across the break; each sentence by itself has its own."""
    words = lexicon_of(entry("a", "one\\W{0,3}(?:two\\W{0,3}){1,2}"))
    assert found(words, "So one two. Two more. One two.") == [("a", "one two."), ("a", "One two.")]
    words.learn([fold("One two. Two one"), fold("one\nTwo")], "g")
    assert found(words, "One two. Two one.") == [("a", "One two.")]


def test_what_is_learnt_is_bounded_and_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "REMEMBERED", 10)
    words = lexicon_of(entry("a", "go"))
    for number in range(100):
        assert found(words, f"Go {number}. Stay. Go. And {number}") == [("a", "Go"), ("a", "Go")]
        assert len(words._set(("g",))._known) <= 20 + 4


def test_a_sentence_that_is_known_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = lexicon_of(entry("a", "go"))
    words.learn([fold("Go now. Stay")], "g")
    searched: list[str] = []
    search = matching.RuleSet._search

    def noted(self: matching.RuleSet, lines: list[str]) -> dict[str, tuple[matching.Place, ...]]:
        searched.extend(lines)
        return search(self, lines)

    monkeypatch.setattr(matching.RuleSet, "_search", noted)
    assert found(words, "Stay. Go now. Go.") == [("a", "Go"), ("a", "Go")]
    assert searched == ["stay.", "go."]
    words.learn([fold("Go. Stay"), fold("so")], "g")
    assert searched == ["stay.", "go.", "so"]


@pytest.mark.parametrize("much", [1, 10**6])
def test_large_lots_and_small_ones_find_the_same(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MUCH", much)
    words = lexicon_of(entry("a", "go", unless=["not <"]), entry("b", "é"))
    for text in ("Go. Do not go.", "Gó é, go.", "Stay. Go on, é."):
        assert found(words, text) == found(
            lexicon_of(entry("a", "go", unless=["not <"]), entry("b", "é")), text
        )
    assert found(words, "Stay. Do not go. Go on, é.") == [("a", "Go"), ("b", "é")]


def test_long_sentences_are_searched_and_not_kept() -> None:
    words = lexicon_of(entry("a", "go"))
    assert len(found(words, "go " * 300)) == 300
    assert words._set(("g",))._known == {}
    words.learn([fold("go " * 300)], "g")
    assert len(found(words, "go " * 300)) == 300


@pytest.mark.parametrize(("much", "cancelled"), [(296, True), (297, False)])
def test_what_cancels_is_seen_as_far_as_it_reaches_from_where_a_hit_begins(
    much: int, cancelled: bool
) -> None:
    """300 characters on each side: those after are counted from the beginning of the hit, too."""
    words = lexicon_of(entry("a", "go", unless=["> z+x", "xz{2}z+ <"]))
    assert matching.REACH == 300
    for text in (f"go {'z' * much}x", f"x{'z' * (much + 2)} go"):
        assert found(words, text) == ([] if cancelled else [("a", "go")]), text
