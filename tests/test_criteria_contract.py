"""Every file in `criteria/` and `subjects/` keeps to the shape the folder promises."""

import ast
import inspect
from pathlib import Path

import pytest

from harness import plugins
from harness.criterion import Criterion
from harness.rubric import criterion_type, scoring_keys
from harness.subject import Subject
from harness.subject_reader import subject_type

CRITERIA = plugins.own("criteria")
SUBJECTS = plugins.own("subjects")
FILES = [("criteria", name) for name in CRITERIA] + [("subjects", name) for name in SUBJECTS]


def test_the_folders_hold_what_is_promised() -> None:
    assert {
        "child_medium_used", "contains", "expected_result", "forbid_code_contains",
        "gate_used", "judge", "matches", "score", "terminated",
    } <= set(CRITERIA)  # fmt: skip
    assert {"command", "function", "replay", "scripted"} <= set(SUBJECTS)
    assert {"agency_language", "topic_pivot", "unverifiable_reassurance"} <= set(scoring_keys())


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_a_file_says_what_it_is_in_one_line_and_stays_short(folder: str, name: str) -> None:
    module = plugins.module(folder, name)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
    assert first.endswith((".", ")")) or ":" in first
    assert len(source.splitlines()) <= 300


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_has_one_field_named_like_its_file_and_scores(name: str) -> None:
    kind = criterion_type(name)
    keys = [field.alias or key for key, field in kind.model_fields.items()]
    assert keys.count(name) == 1
    field = next(field for key, field in kind.model_fields.items() if (field.alias or key) == name)
    assert field.is_required(), "a criterion is recognised by its scoring key"
    assert kind.score is not Criterion.score
    assert list(inspect.signature(kind.score).parameters) == ["self", "transcript", "settings"]
    assert (kind.ask is not Criterion.ask) is kind.asks
    assert list(inspect.signature(kind.ask).parameters) == ["self", "transcript", "judging"]
    assert kind.__doc__
    assert kind.model_config["extra"] == "forbid"
    assert kind.model_config["frozen"]


@pytest.mark.parametrize("name", CRITERIA)
def test_no_criterion_takes_a_key_that_scores_or_is_shared(name: str) -> None:
    own = {field.alias or key for key, field in criterion_type(name).model_fields.items()} - {name}
    assert not own & set(scoring_keys())
    assert set(Criterion.model_fields) <= own


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_opens_sessions_and_says_who_it_is(name: str) -> None:
    kind = subject_type(name)
    assert kind.open is not Subject.open
    assert "type" not in kind.model_fields, "`type` is the name of the file"
    assert kind.__doc__
    assert kind.model_config["extra"] == "forbid"
    assert kind.model_config["frozen"]


def test_what_runs_code_or_programs_says_so() -> None:
    assert {name for name in SUBJECTS if subject_type(name).code} == {"function"}
    assert "command" in {name for name in SUBJECTS if subject_type(name).starts_programs}


def test_no_name_scores_twice() -> None:
    assert len(set(scoring_keys())) == len(scoring_keys())
    assert "include" not in scoring_keys()
