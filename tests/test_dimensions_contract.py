"""Every file of the dimensions folder has one shape, and what is added from outside fits in."""

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness import dimension, evaluate_turn, plugins
from harness.dimension import EvidenceNumbers, Numbers, Score, dimensions, read_numbers
from harness.errors import SynthesisError
from harness.phrases import load_phrases
from harness.turn_evaluation import TurnContext
from harness.turn_view import TurnView

FOLDER = Path(plugins.__file__).parent / "dimensions"
OURS = plugins.own("dimensions")
TEXTS = ("Is it far? I am 30 years old.", "I found it! You're 31 years old. [object Object]", "It is far.")


def test_the_folder_is_the_registry() -> None:
    files = sorted(file.stem for file in FOLDER.glob("*.py") if not file.name.startswith("_"))
    assert list(OURS) == files == sorted(file.stem for file in FOLDER.glob("*.toml"))
    assert sorted(each.name for each in dimensions()) == sorted(plugins.names("dimensions"))


@pytest.mark.parametrize("name", OURS)
def test_a_dimension_has_the_shape_of_a_dimension(name: str) -> None:
    module = plugins.module("dimensions", name)
    assert module.__doc__
    assert module.__doc__.strip().endswith("?"), "its docstring is the question it asks"
    assert list(inspect.signature(module.score).parameters) == ["turn", "numbers"]
    assert module.score.__annotations__["turn"] is TurnView
    assert module.score.__annotations__["numbers"] is Numbers
    assert module.score.__annotations__["return"] in (Score, Score | None)
    assert module.score.__doc__


@pytest.mark.parametrize("name", OURS)
def test_no_number_stands_in_its_code(name: str) -> None:
    """Weights, amounts and thresholds are data; 0, 1 and 2 are how things are counted."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]
    assert set(found) <= {0, 1, 2}


@pytest.mark.parametrize("name", OURS)
def test_its_numbers_are_all_used(name: str) -> None:
    """An amount, level or limit that no code names would be a number that means nothing."""
    numbers = read_numbers(f"harness.dimensions.{name}")
    code = (FOLDER / f"{name}.py").read_text("utf-8")
    named = [*numbers.amounts, *numbers.limits, *(set(numbers.levels) - {"baseline"})]
    assert [each for each in named if each not in code] == []
    assert numbers.issue is not None
    assert ("baseline" in numbers.levels) is ("baseline" in code)


@pytest.mark.parametrize("name", OURS)
def test_it_scores_a_full_turn_and_an_empty_one(name: str) -> None:
    each = next(each for each in dimensions() if each.name == name)
    full = TurnContext.model_validate(
        {
            "stance": "cautious",
            "memories": [{"content": "User is 30 years old"}],
            "tool_invocations": [{"status": "success"}],
            "is_harmful_request": True,
        }
    )
    score = each.score(TurnView(TEXTS, full, load_phrases("en")), each.numbers)
    assert score is not None
    assert 0 <= score.value <= 1
    empty = each.score(TurnView(("", "", ""), TurnContext(), load_phrases("en")), each.numbers)
    assert empty is None or 0 <= empty.value <= 1


def test_no_pattern_matches_nothing() -> None:
    """What nothing can cancel is taken to stand where the set says so; an empty one would everywhere."""
    assert [rule.entry.id for rule in load_phrases("en").lexicon.rules if rule.pattern.search("")] == []


def test_every_group_of_phrases_is_asked_for() -> None:
    code = "".join(file.read_text("utf-8") for file in [*FOLDER.glob("*.py"), FOLDER.parent / "turn_view.py"])
    unasked = {group for group in load_phrases("en").groups if f'"{group}"' not in code}
    assert unasked == set()


def test_a_group_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(
        SynthesisError, match=r'turn_quality/en.toml: no entry has the group "nope"\n  fix: add'
    ):
        TurnView(TEXTS, TurnContext(), load_phrases("en")).says("nope")


OUTSIDE = '''"""Does the reply rhyme?"""

def score(turn, numbers):
    return numbers.score_from_baseline(rhymes=turn.reply.text.endswith("me."))
'''
NUMBERS = """
default = 0.5
weight = 0.7
[levels]
baseline = 0.4
[amounts]
rhymes = 0.6
[issue]
below = 0.5
category = "sound"
message = "it does not rhyme"
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package from elsewhere that brings the dimension "rhyme"."""
    (tmp_path / "verses").mkdir()
    (tmp_path / "verses" / "__init__.py").write_text("")
    (tmp_path / "verses" / "rhyme.py").write_text(OUTSIDE)
    (tmp_path / "verses" / "rhyme.toml").write_text(NUMBERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    points = [EntryPoint("rhyme", "verses.rhyme", "harness.dimensions")]
    monkeypatch.setattr(
        plugins,
        "entry_points",
        lambda group, name=None: [
            point for point in points if point.group == group and name in (None, point.name)
        ],
    )
    for cached in (plugins.names, plugins.module, dimension.dimensions):
        cached.cache_clear()
    yield tmp_path / "verses"
    monkeypatch.undo()
    for cached in (plugins.names, plugins.module, dimension.dimensions):
        cached.cache_clear()
    for name in ("verses", "verses.rhyme"):
        sys.modules.pop(name, None)


def test_a_dimension_from_outside_is_scored_and_changes_no_overall_score(outside: Path) -> None:
    turn = evaluate_turn("", "It is late in the night.")
    assert tuple(turn.scores)[-1] == "rhyme"
    assert turn.scores["rhyme"] == 0.4
    assert [issue.category for issue in turn.issues] == ["accuracy/completeness", "sound"]
    assert turn.overall == pytest.approx((0.15 * turn.scores["identity_correctness"] + 0.05 * 0.65) / 0.2)


def test_a_project_can_give_it_a_weight(outside: Path) -> None:
    weights = {"rhyme": 0.1, "factual_accuracy": 0.0}
    turn = evaluate_turn("", "You rhyme with me.", settings={"weights": weights})
    assert turn.overall == pytest.approx((0.15 * 0.85 + 0.05 * 0.65 + 0.1 * 1.0) / 0.3, abs=1e-6)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "rhyme.toml",
            None,
            r"verses.rhyme: no readable numbers: .*\n  fix: write rhyme.toml beside rhyme.py",
        ),
        ("rhyme.toml", "default = ", r"verses.rhyme: no readable numbers"),
        (
            "rhyme.toml",
            "wieght = 1\ndefault = 1",
            r'rhyme.toml: unknown key "wieght"\n  fix: did you mean "weight"\?',
        ),
        ("rhyme.toml", "weight = 1", r'rhyme.toml: "default" is missing'),
        ("rhyme.py", "x = 1", r"verses.rhyme: no function score\n  fix: define score\(turn, numbers\)"),
    ],
)
def test_a_dimension_of_the_wrong_shape_is_a_clear_error(
    outside: Path, file: str, text: str | None, message: str
) -> None:
    if text is None:
        (outside / file).unlink()
    else:
        (outside / file).write_text(text)
    with pytest.raises(SynthesisError, match=message):
        evaluate_turn("", "")


def test_evidence_has_one_threshold() -> None:
    for wrong in ({"text": "x"}, {"text": "x", "above": 0.5, "from": 0.5}):
        with pytest.raises(ValueError, match='give one of "above" and "from"'):
            EvidenceNumbers.model_validate(wrong)
