"""Gates do what they say in the workspace, and say clearly what they refuse."""

import asyncio
from pathlib import Path

import pytest
from sandboxes import sandbox

from harness import plugins
from harness.box import ShellBox
from harness.confined import ConfinedFolder
from harness.gate import Bench, Gate, GateError, description, gate_fields, gate_schema, gate_type
from harness.sandbox import strongest
from harness.transcript import Json

NAMES = plugins.own("gates")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    box = sandbox(strongest(), tmp_path, seconds=20, output=1000)
    (tmp_path / "workspace" / "note.txt").write_bytes(b"alpha\r\nbeta\n")
    (tmp_path / "workspace" / "sub").mkdir()
    (tmp_path / "workspace" / "sub" / "inner.txt").write_bytes("gämma beta\n".encode())
    (tmp_path / "workspace" / "binary").write_bytes(b"beta\xff\x00")
    return Bench(ConfinedFolder(tmp_path / "workspace"), ShellBox(box, {}))


def call(bench: Bench, name: str, **arguments: Json) -> Json:
    return asyncio.run(gate_type(name).model_validate(arguments).call(bench))


def refused(bench: Bench, name: str, **arguments: Json) -> str:
    with pytest.raises(GateError) as caught:
        call(bench, name, **arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_can_be_offered_as_a_tool(name: str) -> None:
    kind = gate_type(name)
    assert kind.call is not Gate.call
    assert description(kind).endswith(".")
    assert 10 < len(description(kind)) < 110
    schema = gate_schema(kind)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert tuple(schema["properties"]) == gate_fields(kind)
    assert "title" not in str(schema)


def test_the_folder_holds_what_is_promised() -> None:
    assert {"list_dir", "read_file", "run", "search", "write_file"} <= set(NAMES)
    assert gate_fields(gate_type("write_file")) == ("path", "text")
    assert gate_fields(gate_type("search")) == ("pattern", "path")


def test_an_argument_may_be_called_title() -> None:
    class Titled(Gate):
        """Take a title."""

        title: str

        async def call(self, bench: Bench) -> Json:
            return self.title

    assert gate_schema(Titled)["properties"] == {"title": {"type": "string"}}


def test_reading(bench: Bench) -> None:
    assert call(bench, "read_file", path="note.txt") == "alpha\r\nbeta\n"
    assert refused(bench, "read_file", path="binary") == '"binary" is not UTF-8 text (byte 4)'
    assert "leads out" in refused(bench, "read_file", path="../private/x")
    bench.files.write("large", b"x" * (2**18 + 1))
    assert "more than 262144 bytes" in refused(bench, "read_file", path="large")


def test_writing(bench: Bench) -> None:
    assert call(bench, "write_file", path="new/ä.txt", text="ü\n") == {"bytes": 3}
    assert (bench.files.root / "new" / "ä.txt").read_bytes() == b"\xc3\xbc\n"
    assert "UTF-8" in refused(bench, "write_file", path="x", text="a\ud800")
    assert "absolute" in refused(bench, "write_file", path="/tmp/x", text="x")


def test_listing(bench: Bench) -> None:
    assert call(bench, "list_dir") == ["binary", "note.txt", "sub/"]
    assert call(bench, "list_dir", path="sub") == ["inner.txt"]
    assert "not exist" in refused(bench, "list_dir", path="nowhere")


def test_searching(bench: Bench) -> None:
    assert call(bench, "search", pattern="^b.ta$") == ["note.txt:2: beta"]
    assert call(bench, "search", pattern="beta") == ["note.txt:2: beta", "sub/inner.txt:1: gämma beta"]
    assert call(bench, "search", pattern="alpha$") == ["note.txt:1: alpha"]
    assert call(bench, "search", pattern="beta", path="sub") == ["sub/inner.txt:1: gämma beta"]
    assert call(bench, "search", pattern="beta", path="note.txt") == ["note.txt:2: beta"]
    assert call(bench, "search", pattern="(?i)ALPHA") == ["note.txt:1: alpha"]


def test_what_searching_refuses_and_where_it_stops(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    assert "RE2" in refused(bench, "search", pattern="(")
    assert "RE2" in refused(bench, "search", pattern="(?=x)")
    assert "not text" in refused(bench, "search", pattern="\ud800")
    assert "not exist" in refused(bench, "search", pattern="x", path="nowhere")
    bench.files.write("many", b"hit\n" * 300)
    assert len(call(bench, "search", pattern="hit")) == 200
    bench.files.write("long", b"z" * 5000)
    assert call(bench, "search", pattern="z") == [f"long:1: {'z' * 300}"]
    assert capfd.readouterr() == ("", "")


def test_running(bench: Bench) -> None:
    assert call(bench, "run", command="cat note.txt; echo x >&2; exit 3") == {
        "exit_code": 3,
        "output": "alpha\r\nbeta\nx\n",
    }
    cut = call(bench, "run", command="head -c 3000 /dev/zero | tr '\\0' y")
    assert cut == {"exit_code": 0, "output": "y" * 1000 + "\n(cut after 1000 bytes)"}
    said = refused(bench, "run", command="echo before; yes")
    assert said.startswith("stopped after ")
    assert "before" in said
