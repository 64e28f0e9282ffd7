"""Folders are registries: every checker has one shape, and names from outside cannot take ours over."""

import inspect
import types
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness import plugins
from harness.errors import SynthesisError
from harness.lexicon import Lexicon
from harness.records import CheckResult, Turn
from harness.settings import CheckSettings

CHECKERS = plugins.own("checkers")
TURN = Turn(
    user="My husband left and I can't stop crying.", assistant="You should get over it. Anyway, pottery!"
)


def test_the_folder_is_the_registry() -> None:
    folder = Path(plugins.__file__).parent / "checkers"
    files = sorted(file.stem for file in folder.glob("*.py") if not file.name.startswith("_"))
    assert list(CHECKERS) == files
    assert plugins.names("checkers")[: len(files)] == tuple(files)


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_has_the_shape_of_a_checker(name: str) -> None:
    module = plugins.module("checkers", name)
    assert module.__doc__
    assert module.__doc__.strip().endswith(".")
    parameters = list(inspect.signature(module.check).parameters.values())
    assert [parameter.name for parameter in parameters] == ["turn", "settings"]
    assert parameters[1].default == CheckSettings()
    assert parameters[1].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert module.check.__annotations__["turn"] is Turn
    assert list(inspect.signature(module.words).parameters) == ["language"]
    assert isinstance(module.words("en"), Lexicon)
    assert module.words("en").name == f"{name}/en.toml"


@pytest.mark.parametrize("name", CHECKERS)
def test_a_result_is_a_check_result_that_can_be_condensed(name: str) -> None:
    module = plugins.module("checkers", name)
    kind = module.check.__annotations__["return"]
    assert issubclass(kind, CheckResult)
    assert kind is not CheckResult
    assert kind.__doc__ != CheckResult.__doc__
    result = module.check(TURN, CheckSettings())
    assert type(result) is kind
    assert result.status in ("passed", "failed", "not_applicable")
    assert result.passed is (result.status != "failed")
    assert result.reason
    assert "condensed" in vars(kind)
    assert all(isinstance(key, str) for key in result.condensed())
    for hit in result.spans:
        text = TURN.user if hit.side == "user" else TURN.assistant
        assert text[hit.start : hit.end] == hit.text


@pytest.mark.parametrize("name", CHECKERS)
@pytest.mark.parametrize("assistant", ["", " ", "\x00", "😀", "\u200b", "'" * 50, "- \n- \n", "\ud800 alone"])
def test_a_checker_takes_any_text(name: str, assistant: str) -> None:
    """An empty reply, nothing but marks, or half a character is judged and never an exception."""
    check = plugins.module("checkers", name).check
    for user in ("", TURN.user, assistant):
        assert check(Turn(user=user, assistant=assistant), CheckSettings()).status in (
            "passed",
            "failed",
            "not_applicable",
        )


@pytest.mark.parametrize("name", CHECKERS)
def test_a_language_without_a_lexicon_is_an_error_that_lists_those_there_are(name: str) -> None:
    with pytest.raises(SynthesisError, match=rf'{name}: no lexicon for language "xx"\n  fix: use one of: en'):
        plugins.module("checkers", name).words("xx")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SynthesisError, match=r'unknown name "nope"\n  fix: use one of: agency_language, '):
        plugins.module("checkers", "nope")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Entry points of another package: one checker, one that wants our name, one that is no module."""
    points = [
        EntryPoint("zz_checker", "email.message", "harness.checkers"),
        EntryPoint("topic_pivot", "email.message", "harness.checkers"),
        EntryPoint("aa_function", "email.message:Message", "harness.checkers"),
    ]
    monkeypatch.setattr(
        plugins,
        "entry_points",
        lambda group, name=None: [
            point for point in points if point.group == group and name in (None, point.name)
        ],
    )
    monkeypatch.setattr(plugins, "names", plugins.names.__wrapped__)
    monkeypatch.setattr(plugins, "module", plugins.module.__wrapped__)
    return plugins


def test_other_packages_come_after_ours(outside: types.ModuleType) -> None:
    assert outside.names("checkers") == (*CHECKERS, "aa_function", "zz_checker")
    assert outside.module("checkers", "zz_checker").__name__ == "email.message"


def test_a_name_of_ours_cannot_be_taken_over(outside: types.ModuleType) -> None:
    assert outside.module("checkers", "topic_pivot").__name__ == "harness.checkers.topic_pivot"


def test_an_entry_point_has_to_name_a_module(outside: types.ModuleType) -> None:
    with pytest.raises(SynthesisError, match=r'"aa_function" points at type, not at a module\n  fix: '):
        outside.module("checkers", "aa_function")
