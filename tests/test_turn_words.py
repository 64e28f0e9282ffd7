"""Names and stems, one by one."""

import pytest

from harness.content_words import content_stems, stem
from harness.phrases import load_phrases
from harness.proper_nouns import proper_nouns

STOP = load_phrases("en").listed("stop")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("the road to Ghent and on to New York", {"ghent", "new", "york"}),
        ("Nobody knows. Everyone guesses! Somebody waits? Perhaps: Never", set()),
        ("we met the old Dr. Brown in the town of St. Ives", {"dr", "brown", "st", "ives"}),
        ("we met in May, and The man and I saw it", set()),
        ("This Is The Best Way To Ghent", set()),
        ("go to **Ghent** or (Bruges)", {"ghent", "bruges"}),
        ("she said: “Stay here” and left", set()),
        ("this is Ghent's mill in Saint-Denis", {"ghent", "saint"}),
        ("on the list:\n- Bread from the shop\n- Milk from the farm", set()),
        ("er wohnt in Österreich bei Łódź", {"österreich", "łódź"}),
        ("NASA is what it is, and it is run by the state", set()),
        ("it is run by NASA and by the state", {"nasa"}),
        ("in the camelCase word", set()),
        ("", set()),
    ],
)
def test_proper_nouns(text: str, names: set[str]) -> None:
    assert proper_nouns(text, STOP) == names


@pytest.mark.parametrize(
    "forms",
    [
        ("hike", "hikes", "hiking", "hiked"),
        ("dog", "dogs", "dog's"),
        ("party", "parties"),
        ("run", "runs", "running"),
        ("plan", "planned", "planning"),
        ("glass", "glasses"),
        ("dress", "dresses"),
        ("paint", "painting", "painted"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("art", "party"), ("red", "r"), ("sing", "s"), ("bus", "bu"), ("30", "3"), ("off", "of")],
)
def test_other_words_do_not(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_stop_words_and_single_letters_carry_no_meaning() -> None:
    assert content_stems(["the", "x", "7", "猫", "cats"], STOP) == {"7", "猫", "cat"}
