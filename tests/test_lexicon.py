"""The lexicon loader refuses what is wrong and names file, entry and fix; hits point into the original."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.errors import SynthesisError
from harness.lexicon import Lexicon, load, parse
from harness.matching import MOST_HITS, Rule
from harness.text import fold

ENTRY = """
[[entry]]
id = "promised-wellbeing"
group = "guarantee"
pattern = '''\\byou(?:'ll| will) be (?:fine|okay)\\b'''
why = "Promises an outcome."
match = ["You'll be fine."]
no_match = ["Will you be okay?"]
"""


def lexicon_of(*entries: str, head: str = "") -> Lexicon:
    return parse(f'version = "1"\n{head}\n{"".join(entries)}'.encode(), "guide/en.toml")


def entry(*, identity: str = "a-rule", pattern: str, unless: Sequence[str] = (), group: str = "g") -> str:
    guards = ", ".join(f"'''{text}'''" for text in unless)
    return (
        f"[[entry]]\nid = '{identity}'\ngroup = '{group}'\npattern = '''{pattern}'''\nunless = [{guards}]\n"
        "why = 'w'\nmatch = ['m']\nno_match = ['n']\n"
    )


def found(words: Lexicon, text: str, group: str = "g") -> list[tuple[str, int, int]]:
    return [(hit.text, hit.start, hit.end) for hit in words.hits(fold(text), group)]


def complaint(source: str | bytes) -> str:
    raw = source if isinstance(source, bytes) else source.encode()
    with pytest.raises(SynthesisError) as caught:
        parse(raw, "guide/en.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("replaced", "by", "said", "fix"),
    [
        ("why =", "wy =", '"wy": Extra inputs', 'remove "wy"; the known keys are id, group, pattern'),
        ("why =", "wy =", '"why": Field required', 'add "why"'),
        ('["You\'ll be fine."]', "[]", '"match": ', 'give "match" at least one example'),
        ('["Will you be okay?"]', "[]", '"no_match": ', 'give "no_match" at least one example'),
        ('no_match = ["Will you be okay?"]', "", '"no_match": ', 'give "no_match" at least one example'),
        ('group = "guarantee"', "group = 3", '"group": ', 'correct "group"'),
        ("be (?:fine", "be.*(?:fine", "unbounded gap '.*'", "write the gap's size, as in .{0,30}"),
        ("be (?:fine", "be.+?(?:fine", "unbounded gap '.+'", "write the gap's size"),
        ("be (?:fine", "be.{2,}(?:fine", "unbounded gap '.{2,}'", "write the gap's size"),
        ("be (?:fine", "be[^,]*(?:fine", "unbounded gap '[^,]*'", "write the gap's size"),
        ("be (?:fine", "be[\\s\\S]*(?:fine", "unbounded gap", "write the gap's size"),
        ("be (?:fine", "be(?:\\w+ )*(?:fine", "unbounded gap ')*'", "write the gap's size"),
        ("be (?:fine", "be[\\w ]+(?:fine", "unbounded gap", "write the gap's size"),
        ("be (?:fine", "be[a-z ]{3,}(?:fine", "unbounded gap '[a-z ]{3,}'", "write the gap's size"),
        ("be (?:fine", "be[\\w\\s]*(?:fine", "unbounded gap", "write the gap's size"),
        ("be (?:fine", "be\\\\.*(?:fine", "unbounded gap '.*'", "write the gap's size"),
        ("be (?:fine", "be {w1}(?:fine", 'no word list "w1"', "define it under [words]; known: none"),
        ("be (?:fine", "be {Abc}(?:fine", 'no word list "Abc"', "define it under [words]; known: none"),
        (
            '["You\'ll be fine."]',
            '["You\'ll be fine.", " "]',
            '"match.1": ',
            'give "match" at least one example',
        ),
        ("be (?:fine", "be (?:fine(", "does not compile: missing )", "mend the pattern"),
        ("be (?:fine", "(?!not)be (?:fine", "does not compile: ", "mend the pattern"),
        ("be (?:fine", "be {mood}(?:fine", 'no word list "mood"', "define it under [words]; known: none"),
        ("why =", "unless = ['@question']\nwhy =", 'no guard "@question"', "define it under [guards]"),
        ("why =", "unless = ['(']\nwhy =", "'(' does not compile", "mend the pattern"),
        ("why =", "unless = ['(', ')']\nwhy =", "'(' does not compile", "mend the pattern"),
    ],
)
def test_a_mistake_is_named_with_file_entry_and_fix(replaced: str, by: str, said: str, fix: str) -> None:
    assert replaced in ENTRY
    message = complaint('version = "1"\n' + ENTRY.replace(replaced, by))
    assert "guide/en.toml: entry promised-wellbeing: " in message
    assert said in message
    assert f"fix: {fix}" in message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (ENTRY, '"version": Field required\n  fix: add "version"'),
        ('version = "1"', '"entry": Field required\n  fix: add "entry"'),
        ('version = "1"\nentry = []', '"entry": '),
        ('version = "1"\nentry = 3', '"entry": '),
        ('version = "1"\nentry = [3]', "guide/en.toml: entry number 1: "),
        ('version = "1"\nword = {}\n' + ENTRY, 'remove "word"; the known keys are version, words, guards'),
        ('version = "1"\n[[entry]]\ngroup = "g"\n', "guide/en.toml: entry number 1: "),
        ("version = ", "not readable as TOML"),
        (b"version = '\xff'", "not readable as TOML"),
        ("a = " + "[" * 5000, "not readable as TOML"),
        ('version = "1"\nguards = { bad = "(" }\n' + ENTRY, "guide/en.toml: guard @bad: the pattern '('"),
        (
            'version = "1"\nwords = { none = [] }\n' + ENTRY,
            'fix: give "words.none" at least one word, or remove',
        ),
        ('version = "1"\nwords = { bad = ["("] }\n' + ENTRY, "guide/en.toml: word list bad: the pattern"),
        (
            'version = "1"\nwords = { one = ["{two}"], two = ["{one}"] }\n' + ENTRY,
            "guide/en.toml: word list one: a word list is made of itself",
        ),
    ],
)
def test_a_mistake_outside_the_entries_is_named_too(source: str | bytes, said: str) -> None:
    message = complaint(source)
    assert message.startswith("guide/en.toml")
    assert said in message
    assert "fix: " in message


@pytest.mark.parametrize("identity", ["Upper", "two words", "", "under_score", "-a", "a--b", "é"])
def test_an_id_is_lower_case_words_with_hyphens(identity: str) -> None:
    assert '"id": ' in complaint('version = "1"\n' + ENTRY.replace("promised-wellbeing", identity))


def test_two_entries_with_one_id_are_refused() -> None:
    message = complaint('version = "1"\n' + ENTRY + ENTRY)
    assert message == (
        "guide/en.toml: entry promised-wellbeing: the id is used twice\n  fix: give each entry its own id"
    )


def test_everything_wrong_is_reported_together() -> None:
    second = ENTRY.replace("promised-wellbeing", "second").replace("be (", "be.*(")
    third = ENTRY.replace("promised-wellbeing", "third").replace("be (", "be {no}(")
    message = complaint('version = "1"\n' + ENTRY + ENTRY + second + third)
    assert [line for line in message.splitlines() if line.startswith("guide")] == [
        "guide/en.toml: entry promised-wellbeing: the id is used twice",
        next(line for line in message.splitlines() if "entry second: unbounded gap" in line),
        'guide/en.toml: entry third: no word list "no"',
    ]


def test_a_file_whose_only_entry_is_wrong_is_not_said_to_have_none() -> None:
    message = complaint('version = "1"\n' + ENTRY.replace('"guarantee"', "3"))
    assert message.count("fix: ") == 1


@pytest.mark.parametrize(
    "gap",
    [
        "\\.+",
        "\\)*",
        "\\w+",
        ".{0,30}",
        "[a-z]*",
        "x*",
        "[.]*",
        "[ ]*",
        "[ ,<>]+",
        "[a-z ]{1,9}",
        "\\p{Greek}+",
    ],
)
def test_a_bounded_gap_or_a_repeated_mark_is_fine(gap: str) -> None:
    assert lexicon_of(entry(pattern=f"a{gap}b")).rules[0].entry.pattern == f"a{gap}b"


def test_a_gap_hidden_in_a_word_list_is_found() -> None:
    source = 'version = "1"\nwords = { gap = [".*"] }\n' + entry(pattern="a{gap}b")
    assert "unbounded gap '.*'" in complaint(source.replace("[.*]", '[".*"]')) or "unbounded" in complaint(
        source
    )


def test_a_word_list_made_of_itself_is_refused() -> None:
    source = 'version = "1"\nwords = { one = ["{two}"], two = ["{one}"] }\n' + entry(pattern="{one}")
    assert "a word list is made of itself\n  fix: let no list under [words] name itself" in complaint(source)


def test_word_lists_may_be_made_of_word_lists() -> None:
    words = lexicon_of(
        entry(pattern="be {good}"), head='words = { good = ["fine", "{great}"], great = ["grand", "super"] }'
    )
    assert [text for text, _, _ in found(words, "be fine be grand be super be bad")] == [
        "be fine",
        "be grand",
        "be super",
    ]


SPELLINGS = {
    "plain": "you'll be fine",
    "typographic": "you\u2019ll be fine",
    "capitals": "YOU'LL BE FINE",
    "no-break space": "you'll\u00a0be\u202ffine",
    "zero-width": "y\u200bou'l\u2060l b\ufeffe fine",
    "soft hyphen": "you'll be fi\u00adne",
    "full width": "ｙｏｕ＇ｌｌ\u3000ｂｅ\u3000ｆｉｎｅ",
    "emoji": "you'll 💛 be❤️fine",
    "emphasis": "you'll _be_ fine",
    "runs of blanks": "you'll \t be   fine",
    "wrapped": "you'll be\nfine",
}


@pytest.mark.parametrize("claim", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("before", ["", "😀  Oh — well… ", "- One\n- ", "\ufeff**"])
def test_a_hit_is_found_however_it_is_written_and_points_into_the_original(claim: str, before: str) -> None:
    written = f"{before}{claim}** \u201cthen\u201d."
    [hit] = lexicon_of(ENTRY).hits(fold(written), "guarantee")
    assert (hit.rule, hit.group, hit.side) == ("promised-wellbeing", "guarantee", "assistant")
    assert (hit.text, hit.start, hit.end) == (claim, len(before), len(before) + len(claim))


def test_every_occurrence_is_a_hit_in_the_order_of_the_text() -> None:
    words = lexicon_of(entry(identity="b", pattern="fine"), entry(identity="a", pattern="so"))
    assert found(words, "So fine, so fine") == [("So", 0, 2), ("fine", 3, 7), ("so", 9, 11), ("fine", 12, 16)]
    hits = words.hits(fold("so fine"), "g", side="user")
    assert [(hit.rule, hit.side) for hit in hits] == [("a", "user"), ("b", "user")]


def test_a_pattern_that_can_match_nothing_makes_no_empty_hits() -> None:
    assert found(lexicon_of(entry(pattern="x?")), "axb") == [("x", 1, 2)]


def test_anchors_are_sentence_ends_and_a_gap_stays_in_its_sentence() -> None:
    words = lexicon_of(entry(pattern="^so|done[.]$|ask.{0,30}both"))
    assert [text for text, _, _ in found(words, "So. So ask. Both are so done. I ask you both?")] == [
        "So",
        "So",
        "done.",
        "ask you both",
    ]


@pytest.mark.parametrize(
    ("unless", "cancelled", "kept"),
    [
        ("not <", "do not go", "do go"),
        ("> away", "go away", "go far"),
        ("\\?$", "will you go?", "you go."),
        ("^maybe", "maybe you go", "you go maybe"),
        ("<go>", "go", "gone go-er"),
    ],
)
def test_unless_cancels_by_what_stands_around_the_hit(unless: str, cancelled: str, kept: str) -> None:
    words = lexicon_of(entry(pattern="\\bgo(?:ne)?\\b", unless=[unless]))
    assert found(words, cancelled) == []
    assert len(found(words, kept)) >= 1


def test_unless_sees_one_sentence_and_each_hit_by_itself() -> None:
    words = lexicon_of(entry(pattern="go", unless=["not <", "> (?:now|@x)"]))
    assert found(words, "Do not. Go. Do not go, go") == [("Go", 8, 10), ("go", 23, 25)]
    assert found(words, "go now, go") == [("go", 8, 10)]


def test_unless_sees_what_is_near_in_an_endless_sentence() -> None:
    words = lexicon_of(entry(pattern="go", unless=["not", "never"]))
    near, far = "x " * 20, "x " * 400
    assert found(words, f"not {near}go") == []
    assert found(words, f"go {near}never") == []
    assert len(found(words, f"not {far}go {far}never")) == 1


def test_evidence_is_bounded_per_rule() -> None:
    """A reply made of one phrase does not make a report of a hundred megabytes."""
    words = lexicon_of(entry(identity="a", pattern="go"), entry(identity="b", pattern="no"))
    hits = words.hits(fold("go " * 1000 + "no"), "g")
    assert [hit.rule for hit in hits] == ["a"] * MOST_HITS + ["b"]


def test_unless_reads_the_view_that_was_matched() -> None:
    words = lexicon_of(entry(pattern="go", unless=["away"]))
    reply = fold('so "away" go')
    assert words.hits(reply, "g") == []
    assert [hit.text for hit in words.hits(reply, "g", view=reply.own)] == ["go"]


def test_a_guard_is_shared_by_name_and_may_use_words() -> None:
    head = 'words = { no = ["not", "never"] }\nguards = { negated = "{no} <" }'
    words = lexicon_of(entry(pattern="go", unless=["@negated"]), head=head)
    assert found(words, "never go, not go, do go") == [("go", 21, 23)]


def test_a_list_is_read_by_name_and_one_that_is_needed_must_be_there() -> None:
    words = lexicon_of(ENTRY, head='words = { kin = ["mum", "dads?"], own = ["my {kin}"] }')
    assert words.listed("kin", needed_to="see who is meant") == ("mum", "dads?")
    assert words.listed("nobody") == ()
    with pytest.raises(SynthesisError) as caught:
        words.listed("nobody", needed_to="see who is meant")
    assert str(caught.value) == (
        'guide/en.toml: no word list "nobody"\n'
        "  fix: add nobody = [...] under [words]: it is needed to see who is meant"
    )
    assert words.any_of("own").search("oh my dads") is not None
    assert words.any_of("own").search("oh my dadsy") is None
    assert words.any_of("nobody").search("anything at all, nobody") is None


def test_hits_of_one_group_only_and_an_unknown_group_is_an_error() -> None:
    words = lexicon_of(
        entry(identity="a", pattern="go", group="one"), entry(identity="b", pattern="go", group="two")
    )
    assert words.groups == ("one", "two")
    assert [hit.rule for hit in words.hits(fold("go"), "two")] == ["b"]
    with pytest.raises(SynthesisError, match=r'guide/en\.toml: no entry has the group "three"'):
        words.hits(fold("go"), "three")


def test_an_unknown_language_lists_those_there_are() -> None:
    with pytest.raises(
        SynthesisError, match=r'topic_pivot: no lexicon for language "xx"\n  fix: use one of: en'
    ):
        load("topic_pivot", "xx")
    with pytest.raises(SynthesisError, match="none there yet"):
        load("no_such_checker")


def test_a_language_cannot_name_a_file_elsewhere() -> None:
    with pytest.raises(SynthesisError, match="no lexicon for language"):
        load("topic_pivot", "../agency_language/en")


def test_version_and_hash_come_from_the_file() -> None:
    words = lexicon_of(ENTRY)
    assert words.version == "1"
    assert len(words.sha256) == 64
    assert words.sha256 != lexicon_of(ENTRY + "\n").sha256


def test_a_lexicon_of_another_package_is_checked_when_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere" / "lexicons" / "kind"
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere" / "__init__.py").touch()
    (folder / "en.toml").write_text('version = "1"\n' + entry(pattern="a.*b"))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SynthesisError, match=r"kind/en\.toml: entry a-rule: unbounded gap"):
        load("kind", "en", "elsewhere")


def test_a_pattern_that_nobody_checked_is_refused_when_it_is_used() -> None:
    rule = Rule(lexicon_of(entry(pattern="a")).rules[0].entry, "(?m:a()", ["(?m:b()"])
    with pytest.raises(SynthesisError, match=r"^entry a-rule: the pattern 'a\(' does not compile"):
        _ = rule.pattern
    with pytest.raises(SynthesisError, match=r"^the pattern 'b\(' does not compile"):
        rule.stands("a", 0, 1)
