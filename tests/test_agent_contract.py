"""Every file in `gates/` and `mediums/` keeps to the shape the folder promises."""

import ast
import inspect
import re
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from harness import plugins
from harness.box import ShellBox
from harness.confined import ConfinedFolder
from harness.gate import Bench, Gate, description, gate_schema, gate_type
from harness.hands import Hands
from harness.medium import Medium, medium_type
from harness.model import Answer
from harness.record import Recorder, Sink
from harness.sandbox import Sandbox
from harness.transcript import Medium as MediumName

GATES = plugins.own("gates")
MEDIUMS = plugins.own("mediums")
FILES = [("gates", name) for name in GATES] + [("mediums", name) for name in MEDIUMS]


def source(folder: str, name: str) -> str:
    file = plugins.module(folder, name).__file__
    assert file is not None
    return Path(file).read_text("utf-8")


def camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def test_the_folders_hold_what_is_promised() -> None:
    assert {"cast", "done", "list_dir", "read_file", "run", "search", "write_file"} <= set(GATES)
    assert set(MEDIUMS) == set(get_args(MediumName)) == {"bash", "code", "conversation"}


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_a_file_says_what_it_is_in_one_line_and_stays_short(folder: str, name: str) -> None:
    text = source(folder, name)
    first = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    assert first.endswith(".")
    assert len(text.splitlines()) <= 150


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_no_file_runs_code_or_starts_a_program_itself(folder: str, name: str) -> None:
    tree = ast.parse(source(folder, name))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"exec", "eval", "compile", "open", "__import__"}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    taken = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not (imported | taken) & {
        "os",
        "subprocess",
        "pathlib",
        "shutil",
        "socket",
        "importlib",
        "harness.process",
    }


@pytest.mark.parametrize("name", GATES)
def test_a_gate_is_named_like_its_file_and_can_be_called(name: str) -> None:
    kind = gate_type(name)
    assert kind.__name__ == camel_case(name)
    assert re.fullmatch(r"[a-z_]{1,64}", name)
    assert kind.call is not Gate.call
    assert inspect.iscoroutinefunction(kind.call)
    assert list(inspect.signature(kind.call).parameters) == ["self", "bench"]
    assert kind.model_config["extra"] == "forbid"
    assert kind.model_config["frozen"]


@pytest.mark.parametrize("name", GATES)
def test_a_gates_arguments_can_be_told_to_a_model(name: str) -> None:
    kind = gate_type(name)
    Draft202012Validator.check_schema(gate_schema(kind))
    assert description(kind).endswith(".")
    required = [field.is_required() for field in kind.model_fields.values()]
    assert required == sorted(required, reverse=True), "what may be left out comes last"
    assert all(argument.isidentifier() and not hasattr(Gate, argument) for argument in kind.model_fields)


def test_one_gate_ends_the_work_and_one_starts_programs() -> None:
    assert [name for name in GATES if gate_type(name).final] == ["done"]
    assert [name for name in GATES if gate_type(name).contained] == ["run"]


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    """Of an agent that has every gate."""
    sandbox = Sandbox("limits", tmp_path, tmp_path)
    bench = Bench(ConfinedFolder(tmp_path), ShellBox(sandbox, {}))
    sink = Sink(Recorder(tmp_path / "transcript.jsonl"))
    return Hands({name: gate_type(name) for name in GATES}, bench, sink, None, sandbox)


@pytest.mark.parametrize("name", MEDIUMS)
def test_a_medium_is_named_like_its_file_and_can_act(name: str, hands: Hands) -> None:
    kind = medium_type(name)
    assert kind.__name__ == camel_case(name)
    assert issubclass(kind, Medium)
    assert inspect.iscoroutinefunction(kind.act)
    assert inspect.iscoroutinefunction(kind.close)
    made = kind(hands, False)
    assert (made.hands, made.native) == (hands, False)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", MEDIUMS)
def test_a_medium_tells_the_model_of_every_gate_and_how_to_end(name: str, native: bool, hands: Hands) -> None:
    medium = medium_type(name)(hands, native)
    offered = {tool.name for tool in medium.tools()}
    told = {gate for gate in GATES if f"- {gate}(" in medium.brief()}
    assert (offered or told) == set(GATES) - ({"run"} if name == "bash" else set())
    assert not (offered and told)
    assert "done" in medium.brief().splitlines()[-1]
    assert "{" not in medium.brief().replace('{"', ""), "nothing is left to be filled in"


@pytest.mark.parametrize("name", MEDIUMS)
def test_a_medium_leaves_words_as_they_are(name: str, hands: Hands) -> None:
    step = medium_type(name)(hands, False).step(Answer("Only words."))
    assert (step.text, step.code, step.calls) == ("Only words.", None, ())
