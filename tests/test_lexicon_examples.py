"""Every entry of every lexicon against its own examples; `pytest -k promised-wellbeing` runs one entry."""

from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from harness.folded import Folded
from harness.lexicon import Lexicon, load, parse
from harness.lexicon_file import Entry
from harness.text import fold

FOLDER = Path(str(resources.files("harness") / "lexicons"))
SHIPPED = sorted((file.parent.name, file.stem) for file in FOLDER.glob("*/*.toml"))
ENTRIES = [
    (checker, language, rule.entry) for checker, language in SHIPPED for rule in load(checker, language).rules
]

LEAST = {
    "agency_language": {"positive": 31, "negative": 17},
    "unverifiable_reassurance": {"mind_reading": 13, "guarantee": 18},
    "topic_pivot": {
        "vulnerability": 51,
        "acknowledgement": 29,
        "follow_up": 14,
        "topic_changer": 1,
        "generic_advice": 1,
        "list_style": 1,
        "small_talk": 1,
    },
    "turn_quality": {
        "first-person": 3,
        "serialization-error": 4,
        "dismissal": 2,
        "bare-no": 1,
        "uncertainty": 3,
        "hedge": 4,
        "overconfident": 2,
        "helpful": 3,
        "cautious": 2,
        "confident": 3,
        "refusal": 6,
        "compliance": 2,
        "tool-mention": 2,
        "follow-up-offer": 2,
        "made-up-marker": 1,
    },
}
OWN_WORDS = {
    ("agency_language", "positive"),
    ("agency_language", "negative"),
    ("unverifiable_reassurance", "mind_reading"),
    ("unverifiable_reassurance", "guarantee"),
    *(("turn_quality", group) for group in LEAST["turn_quality"]),
}
"""Groups that do not see what stands in quotation marks; the others see all of the text."""
USER_SIDE = {("agency_language", "request")}
"""Groups beside those counted, which read what the person wrote."""


def hit_by(words: Lexicon, checker: str, entry: Entry, example: str) -> bool:
    folded: Folded = fold(example)
    view = folded.own if (checker, entry.group) in OWN_WORDS else folded.text
    return any(hit.rule == entry.id for hit in words.hits(folded, entry.group, view=view))


@pytest.mark.parametrize(
    ("checker", "language", "entry"),
    ENTRIES,
    ids=[f"{checker}-{language}-{entry.id}" for checker, language, entry in ENTRIES],
)
def test_examples(checker: str, language: str, entry: Entry) -> None:
    words = load(checker, language)
    missed = [example for example in entry.match if not hit_by(words, checker, entry, example)]
    wrongly = [example for example in entry.no_match if hit_by(words, checker, entry, example)]
    assert missed == [], f"{entry.id} should match"
    assert wrongly == [], f"{entry.id} should not match"


@pytest.mark.parametrize(("checker", "language"), SHIPPED)
def test_nothing_is_wrong_with_any_pattern(checker: str, language: str) -> None:
    """`load` takes it from here that our own are right."""
    proved = parse((FOLDER / checker / f"{language}.toml").read_bytes(), f"{checker}/{language}.toml")
    assert [(rule.searched, rule.unless) for rule in proved.rules] == [
        (rule.searched, rule.unless) for rule in load(checker, language).rules
    ]


@pytest.mark.parametrize(("checker", "language"), SHIPPED)
def test_every_entry_is_in_a_group_its_checker_reads(checker: str, language: str) -> None:
    known = set(LEAST[checker]) | {group for name, group in USER_SIDE if name == checker}
    assert {rule.entry.group for rule in load(checker, language).rules} <= known


@pytest.mark.parametrize(("checker", "language"), SHIPPED)
def test_entries_carry_examples_and_ids_of_their_own(checker: str, language: str) -> None:
    entries = [rule.entry for rule in load(checker, language).rules]
    assert [name for name, count in Counter(entry.id for entry in entries).items() if count > 1] == []
    for entry in entries:
        for example in (*entry.match, *entry.no_match):
            assert example.strip(), f"{entry.id} has an empty example"
        assert not set(entry.match) & set(entry.no_match), f"{entry.id} wants and refuses one example"
        assert entry.why.strip().endswith((".", "?", "!")), f"{entry.id}: why is not a sentence"


def test_english_has_at_least_as_many_entries_per_group_as_promised() -> None:
    assert set(LEAST) == {checker for checker, language in SHIPPED if language == "en"}
    for checker, least in LEAST.items():
        counts = Counter(rule.entry.group for rule in load(checker).rules)
        assert {group: counts[group] for group in least if counts[group] < least[group]} == {}, checker


def test_an_id_means_one_thing_across_checkers() -> None:
    homes: dict[str, set[str]] = {}
    for checker, _, entry in ENTRIES:
        homes.setdefault(entry.id, set()).add(checker)
    assert {name: sorted(home) for name, home in homes.items() if len(home) > 1} == {}
