"""A user's Python: what lies beside it can be imported, and nothing else changes for anyone."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scenario_files import load, one_problem, synthesis, tree

from harness.resources import bundled

SCENARIO = """
scenarios = [{"name": NAME, "prompt": "hi", "rubric": [{"terminated": True}],
    "subject": {"type": "scripted", "replies": ["hello"]}}]
"""


@pytest.fixture(autouse=True)
def modules_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("sys.path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def folder_with(folder: Path, name: str, **files: str) -> Path:
    folder.mkdir()
    (folder / "s.py").write_text(f"from {name} import NAME\n" + SCENARIO)
    for stem, content in files.items():
        (folder / f"{stem}.py").write_text(content)
    return folder


def test_what_lies_beside_it_is_imported_and_is_no_scenario_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    folder = folder_with(tmp_path / "a", "_words", _words="NAME = 'helped'\n")
    assert [found.name for found in load(folder)] == ["helped"]
    assert tree(folder) == ["_words.py", "s.py"], "compiled code must not be left beside the scenarios"
    assert not sys.dont_write_bytecode


def test_each_folder_gets_its_own_of_two_files_with_one_name(tmp_path: Path) -> None:
    one = folder_with(tmp_path / "one", "_words", _words="NAME = 'one'\n")
    two = folder_with(tmp_path / "one" / "two", "_words", _words="NAME = 'two'\n")
    assert [found.name for path in (two, one, two) for found in load(path)] == ["two", "one", "two"]


def test_a_file_beside_it_hides_no_module_of_python_s_afterwards(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "a", "_words", _words="NAME = 'a'\n", this="scenarios = []\n")
    load(folder)
    assert "this" not in sys.modules
    assert sys.path[0] != str(folder)
    assert sys.path[-1] == str(folder)


def test_an_import_inside_a_function_finds_it_later(tmp_path: Path) -> None:
    (tmp_path / "_late.py").write_text("REPLY = 'late hello'\n")
    (tmp_path / "s.py").write_text(
        "def choose(scenario, seed):\n    from _late import REPLY\n"
        "    return {'type': 'scripted', 'replies': [REPLY]}\n"
        "scenarios = [{'name': 'a', 'prompt': 'hi', 'subject': choose, 'rubric': [{'terminated': True}]}]\n"
    )
    (found,) = load(tmp_path)
    assert found.subject_for(1).model_dump()["replies"] == ("late hello",)


def test_a_file_without_scenarios_is_told_how_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("NAME = 'x'\n")
    assert "let its name begin with _" in one_problem(tmp_path)


def test_data_only_trusts_what_came_with_the_package_and_nothing_that_links_out_of_it(tmp_path: Path) -> None:
    python = sorted(bundled("scenarios").glob("*.py"))
    assert python
    assert {found.file for found in load(*python, data_only=True)} == set(map(str, python))
    done = synthesis("eval", "--list", cwd=tmp_path, env={"SYNTHESIS_DATA_ONLY": "1"})
    assert (done.returncode, "is code: it runs" in done.stderr) == (0, True), done.stderr
    (tmp_path / "copy.py").write_bytes(python[0].read_bytes())
    assert "a .py file is code" in one_problem(tmp_path / "copy.py", data_only=True)
