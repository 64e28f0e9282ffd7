"""The public names: adding or losing one is a decision, so it is written down here."""

import importlib
import subprocess
import sys

import pytest

import harness

NAMES = [
    "EmbeddingAdapter",
    "SynthesisError",
    "TurnContext",
    "TurnEvaluation",
    "TurnSettings",
    "__version__",
    "check_agency",
    "check_pivot",
    "check_reassurance",
    "check_turn",
    "compare_turns",
    "evaluate_turn",
    "evaluate_turn_async",
    "evaluate_turns",
    "extract_anchor",
    "format_artifact",
    "load_cases",
    "run_all_cases",
    "run_case",
    "set_embedding_adapter",
    "token_cosine_similarity",
    "write_report",
]


def test_the_public_names_are_these() -> None:
    assert sorted(harness.__all__) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_can_be_had(name: str) -> None:
    found = getattr(importlib.import_module("harness"), name)
    assert isinstance(found, str) or found.__name__ == name


def test_what_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'harness' has no attribute 'nothing'"):
        _ = harness.nothing


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, harness; print(sorted({'pydantic', 're2', 'rich', 'typer'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_one_of_the_project() -> None:
    from importlib.metadata import version

    assert harness.__version__ == version("synthesis-harness")
