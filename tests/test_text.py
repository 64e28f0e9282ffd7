"""Folding, the way back to the original, sentences, quotations, tokens and similarity."""

import math
import sys
import time
from copy import deepcopy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.quotation import MASK
from harness.text import LONG, extract_anchor, fold, token_cosine_similarity, words

AWKWARD = st.text(
    st.one_of(
        st.sampled_from(
            list(
                " \n\t.!?…,;:'\"()-–—*_~`#>•123aAbZİ\u200b\u00a0\ufeff\u2019\u201c\u201d😀❤\ufe0fＡ\x1e\ud800"
            )
        ),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("You\u2019ll be \u201cfine\u201d", 'you\'ll be "fine"'),
        ("YOU WILL BE FINE", "you will be fine"),
        ("you\u00a0will\u2009be\u3000fine", "you will be fine"),
        ("you wi\u200bll b\u00ade fi\u2060ne", "you will be fine"),
        ("ＹＯＵ ｗｉｌｌ ｂｅ ｆｉｎｅ！", "you will be fine!"),
        ("you 😀 will❤️be fine 👍🏽", "you will be fine"),
        ("you **will** be _fine_, ~~really~~", "you will be fine, really"),
        ("you will be fine…", "you will be fine..."),
        ("you will \u2014 be\u2013fine", "you will - be - fine"),
        ("you will -- be--fine", "you will - be - fine"),
        ("snake_case stays", "snake_case stays"),
        ("a\u2011b", "a-b"),
        ("  you  will   be\tfine  ", "you will be fine"),
        ("you will be\r\nfine", "you will be fine"),
        ("you will be \t\nfine", "you will be fine"),
        ("will you be fine ❤️?", "will you be fine?"),
        ("you 😀 👍🏽, will be fine🙏...", "you, will be fine..."),
        ("fine!❤️! fine. 😀 fine.😀 fine", "fine!!\nfine.\nfine.\nfine"),
        ('say "you will be fine ❤️" now', 'say "you will be fine" now'),
        ("you 2️⃣ will be #️⃣ fine", "you will be fine"),
        ("you will‼️ be⁇ fine⁈ ok⁉", "you will!!\nbe??\nfine?!\nok!?"),
        ("İyi", "iyi"),
        ("a <b> ＜c＞", "a \u2039b\u203a \u2039c\u203a"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_writing_is_made_plain(written: str, folded: str) -> None:
    assert fold(written).text == folded


@pytest.mark.parametrize(
    ("written", "sentences"),
    [
        ("One. Two! Three? Four", ["one.", "two!", "three?", "four"]),
        ('He said "no." Then left.', ['he said "no."', "then left."]),
        ("Wait... what", ["wait...", "what"]),
        ("Wait… what", ["wait...", "what"]),
        ("Really?! Yes.", ["really?!", "yes."]),
        ("Ask Dr. Who, e.g. at 5 p.m. today. Bye.", ["ask dr. who, e.g. at 5 p.m. today.", "bye."]),
        ("PROF. X and MRS. Y left. OK.", ["prof. x and mrs. y left.", "ok."]),
        ("version 2.5 is out", ["version 2.5 is out"]),
        ("Broken for\nwidth only.", ["broken for width only."]),
        ("So did I. You know. Three.", ["so did i.", "you know.", "three."]),
        ("He is 5. She is 6.", ["he is 5.", "she is 6."]),
        ("Ask J. Smith. Bye.", ["ask j. smith.", "bye."]),
        ("a paragraph\r\n\r\nanother one", ["a paragraph", "another one"]),
        ("A line\nAnother line", ["a line", "another line"]),
        ("A line.\nanother line", ["a line.", "another line"]),
        ("a paragraph\n\nanother paragraph", ["a paragraph", "another paragraph"]),
        ("**Hard.** Next.", ["hard.", "next."]),
        ("Fine. 😀 Next.", ["fine.", "next."]),
        ("Fine.\u200b Next.", ["fine.", "next."]),
        ("One.\r\nTwo.\u2028Three.", ["one.", "two.", "three."]),
    ],
)
def test_one_sentence_a_line(written: str, sentences: list[str]) -> None:
    folded = fold(written)
    assert folded.text.split("\n") == sentences
    assert [folded.text[start:end] for start, end in folded.sentences] == sentences


@pytest.mark.parametrize(
    ("written", "items"),
    [
        ("Try:\n- rest\n- walk", ["rest", "walk"]),
        ("1. rest\n2) walk\n(3) sing", ["rest", "walk", "sing"]),
        ("* rest\n• walk\n+ sing", ["rest", "walk", "sing"]),
        ("- [x] rest\n- [ ] walk", ["rest", "walk"]),
        ("You could: 1. rest 2. walk", ["rest", "walk"]),
        ("  - rest\n\n   - 😀 walk", ["rest", "walk"]),
        ("1️⃣ rest\n2️⃣. walk", ["rest", "walk"]),
        ("# Rest\nand walk", []),
        ("a - b", []),
        ("It was 5. Then 6.", []),
        ("I am 25. I lost my job. My son is 12. He cries.", []),
    ],
)
def test_list_items_are_noted(written: str, items: list[str]) -> None:
    folded = fold(written)
    assert [folded.text[start:].split("\n")[0] for start in folded.items] == items


def test_heading_marks_go_and_the_heading_is_a_sentence() -> None:
    assert fold("Intro\n## Next steps\nRest.").text == "intro\nnext steps\nrest."


@pytest.mark.parametrize(
    "written",
    [
        "Well, you\u2019ll be fine.",
        "Well,  you\u2019ll \u00a0 be fine.",
        "W\u200bell, you\u200b\u2019ll b\u00ade fi\ufeffne.",
        "😀😀 Well… you\u2019ll 🧹 be **fine**.",
        "- Well\n- you'll be\nfine",
        "Well,\r\nyou'll be  \r\nfine.",
        "1️⃣ Well‼️ you'll be ❤️\u00a0fine 😀.",
        "ＷＥＬＬ－ｙｏｕ＇ｌｌ ｂｅ ｆｉｎｅ",
        "İİ — you--ok 1. Well, YOU'LL   be__ fine",
    ],
)
def test_a_span_maps_back_to_what_was_written(written: str) -> None:
    folded = fold(written)
    start = folded.text.index("you'll be fine") if "you'll be fine" in folded.text else 0
    end = folded.text.index("fine", start) + len("fine")
    first, last = folded.origin(start, end)
    assert fold(written[first:last]).text == folded.text[start:end]
    assert last == first + len(written[first:last].strip())


def test_offsets_are_code_points_of_the_original() -> None:
    written = "😀 So,\u200b  you\u2019ll be **fine**"
    folded = fold(written)
    start = folded.text.index("you'll")
    assert folded.origin(start, start + 6) == (written.index("you"), written.index("ll be") + 2)
    assert folded.origin(len(folded.text) - 4, len(folded.text)) == (
        written.index("fine"),
        written.index("fine") + 4,
    )


@given(AWKWARD)
@example("a—b")
@example("a…")
@example("a 😀 b—")
def test_every_letter_maps_back_to_itself(written: str) -> None:
    folded = fold(written)
    for place, char in enumerate(folded.text):
        start, end = folded.origin(place, place + 1)
        assert 0 <= start < end <= len(written)
        if char.isalnum():
            assert fold(written[start:end]).text == char
    places = [folded.origin(place, place + 1)[0] for place in range(len(folded.text))]
    assert places == sorted(places)


@given(AWKWARD)
def test_the_folded_text_is_plain(written: str) -> None:
    text = fold(written).text
    assert text == text.strip(" \n")
    for wrong in (
        "  ",
        " \n",
        "\n ",
        "\n\n",
        "\t",
        "\r",
        "\x1e",
        "\u2019",
        "\u200b",
        "\u00a0",
        "<",
        ">",
        "*",
    ):
        assert wrong not in text
    text.encode("utf-8")


@given(AWKWARD)
def test_sentences_items_and_own_words_fit_the_text(written: str) -> None:
    folded = fold(written)
    assert "\n".join(folded.text[start:end] for start, end in folded.sentences) == folded.text
    assert set(folded.items) <= {start for start, _ in folded.sentences} | {0}
    assert len(folded.own) == len(folded.text)
    assert all(mine in (char, MASK) for mine, char in zip(folded.own, folded.text, strict=True))
    assert [i for i, char in enumerate(folded.own) if char == "\n"] == [
        i for i, char in enumerate(folded.text) if char == "\n"
    ]


def test_no_character_changes_length_when_made_plain() -> None:
    longer = [chr(code) for code in range(sys.maxunicode + 1) if len(chr(code).lower()) != 1]
    assert longer == ["\u0130"]


@pytest.mark.parametrize(
    ("written", "hidden"),
    [
        ('You said "you should go" to him', '"you should go"'),
        ("You said \u201cyou should go\u201d to him", '"you should go"'),
        ("You said \u2018you should go\u2019 to him", "'you should go'"),
        ("You said 'you shouldn't go' to him", "'you shouldn't go'"),
        ("Send this:\n```\nYou should go\n```\nOr not", "'''\nyou should go\n'''"),
        ('"One line.\nAnother line," she said', '"one line.\nanother line,"'),
    ],
)
def test_quotations_are_not_the_speakers_own_words(written: str, hidden: str) -> None:
    folded = fold(written)
    start = folded.text.index(hidden)
    masked = "".join("\n" if char == "\n" else MASK for char in hidden)
    assert folded.own == folded.text[:start] + masked + folded.text[start + len(hidden) :]


@pytest.mark.parametrize(
    "written",
    [
        "I'm sure you're fine, it's the dogs' bowl",
        "'cause you should see the dogs' bowl, 'til the cats' too",
        '"You should go."',
        'you should "go',
        "6' tall and 5\" wide",
        'he said "' + "x" * 700 + '" then',
        "he said '" + "x " * 200 + "' then",
    ],
)
def test_what_is_no_quotation_stays(written: str) -> None:
    folded = fold(written)
    assert folded.own == folded.text


@pytest.mark.parametrize(
    ("position", "reach", "around"),
    [
        (0, 99, "one two."),
        (3, 99, "one two."),
        (8, 99, "one two."),
        (9, 99, "six ten"),
        (12, 99, "six ten"),
        (4, 2, "e tw"),
        (12, 2, "ix t"),
    ],
)
def test_the_sentence_around_a_place_within_reach(position: int, reach: int, around: str) -> None:
    folded = fold("One two. Six ten")
    start, end = folded.sentence_at(position, reach)
    assert folded.text[start:end] == around


@pytest.mark.parametrize(
    ("reply", "anchor"),
    [
        ("That is **hard**. I'm here. Anyway, pottery.", "That is **hard**. I'm here."),
        ("  One only  ", "One only"),
        ("", ""),
        ("😀", ""),
        ("Dr. No called? Yes!\n- more", "Dr. No called? Yes!"),
    ],
)
def test_the_anchor_is_the_first_two_sentences_as_written(reply: str, anchor: str) -> None:
    assert extract_anchor(reply) == anchor


IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180f\u200b\u200f\u202a\u202e\u2060\u2065\u206f\u3164\ufe00\ufe0f"
    "\ufeff\uffa0\ufff0\ufff8\U0001bca0\U0001bca3\U0001d173\U0001d17a\U000e0000\U000e007f\U000e0100\U000e01ef\U000e0fff"
)


@pytest.mark.parametrize("char", IGNORABLE, ids=[f"U+{ord(char):04X}" for char in IGNORABLE])
def test_what_unicode_says_to_ignore_leaves_no_trace(char: str) -> None:
    assert fold(f"fi{char}ne{char}").text == "fine"


def test_of_long_texts_only_those_of_one_exchange_are_kept() -> None:
    fold.cache_clear()
    long, longer, longest = ("a" * (LONG + more) for more in (1, 2, 3))
    kept = fold(long)
    fold(longer)
    assert fold(long) is kept
    fold(longer)
    fold(longest)
    assert fold(long) is not kept


def test_short_texts_are_kept_until_cleared() -> None:
    fold.cache_clear()
    first, *_ = kept = [fold("a" * (LONG - less)) for less in range(16)]
    assert fold("a" * LONG) is first
    fold.cache_clear()
    assert fold("a" * LONG) is not first
    assert len({id(one) for one in kept}) == 16


def test_words_keep_inner_apostrophes() -> None:
    assert words("Don\u2019t, I'd 'quote' 3 times_over!") == ["don't", "i'd", "quote", "3", "times", "over"]


def test_similarity_counts_unigrams_and_bigrams() -> None:
    # left: a, b, "a b"; right: a, c, "a c": one of three grams each is shared.
    assert token_cosine_similarity("a b", "a c") == pytest.approx(1 / 3)
    # left: a twice, b, "a a", "a b": 4+1+1+1; right: a, b, "a b": 3; shared 2+1+1.
    assert token_cosine_similarity("a a b", "a b") == pytest.approx(4 / math.sqrt(7 * 3))
    assert token_cosine_similarity("one two", "three four") == 0.0
    assert token_cosine_similarity("", "three") == 0.0
    assert token_cosine_similarity("I\u2019m SAD!", "i'm sad") == pytest.approx(1.0)


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_symmetric_and_bounded(left: str, right: str) -> None:
    value = token_cosine_similarity(left, right)
    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(token_cosine_similarity(right, left))


HOSTILE = {
    "ends": "a. ", "numbers": " 1.", "bullets": "* ", "marks": "!", "newlines": "\n", "items": "\n- ",
    "wrapped": "a\n", "dashes": "a—", "hyphens": " --", "ellipses": "… ", "underscores": "_", "blanks": "a  ",
    "zero-width": "a\u200b", "emoji": "a😀 ", "apostrophes": "'", "quotations": "'a' ", "fences": "```",
    "stops and quotes": '."', "inline lists": "1. a ", "headings": "\n# ", "capital I": "İ",
    "trailing": "a   \n", "crlf": "a\r\n", "emoji and blanks": "😀  ", "keycaps": "1\ufe0f\u20e3",
    "spaces": " ", "emoji and marks": "😀.", "blank lines": " \n",
}  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_megabyte_is_folded_in_proportion_to_its_length(piece: str) -> None:
    """Processor time, with room for a slow machine: what is not linear takes minutes."""
    text = piece * (1_000_000 // len(piece))
    before = time.process_time()
    folded = fold(text)
    assert len(folded.own) == len(folded.text)
    folded.origin(0, 1)
    assert time.process_time() - before < 2.0


def test_the_way_back_does_not_depend_on_the_order_of_asking() -> None:
    written = "A\u200b  b — c\n- d 😀 e"
    forwards = fold(written)
    backwards = deepcopy(forwards)
    places = range(len(forwards.text))
    there = [forwards.origin(place, place + 1) for place in places]
    back = [backwards.origin(place, place + 1) for place in reversed(places)]
    assert there == list(reversed(back))
