"""Case files: what is good is read, and every bad line is reported with its place and a fix."""

import io
import json
import os
import socket
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import load_cases
from harness.errors import Problems, SynthesisError
from harness.records import Case

ROW: dict[str, object] = {"id": "A-1", "user": "u", "assistant": "a", "checks": ["agency_language"]}


def line(**changes: object) -> bytes:
    return json.dumps({**ROW, **changes}).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cases.jsonl"


def complaints(path: Path, source: bytes, schema: Path | None = None) -> list[str]:
    """What is said about a file, with its path left out and `fix` behind a bar."""
    path.write_bytes(source)
    with pytest.raises(SynthesisError) as caught:
        load_cases(path, schema)
    problems = caught.value.problems if isinstance(caught.value, Problems) else (caught.value,)
    assert all(problem.fix for problem in problems)
    assert all(str(problem).startswith(str(path)) for problem in problems)
    return [str(problem).removeprefix(str(path)).replace("\n  fix: ", " | ") for problem in problems]


def test_a_full_row_is_read(path: Path) -> None:
    full = {
        "id": "SYN-001",
        "user": "I lost my job.",
        "assistant": "I'm sorry — would you like to talk?",
        "checks": ["agency_language", "topic_pivot"],
        "expected": {"agency_language": True, "topic_pivot": None},
        "tags": ["job-loss", "pivot-fail"],
        "notes": "Why.",
    }
    path.write_text(json.dumps(full, ensure_ascii=False), "utf-8")
    [case] = load_cases(path)
    assert case == Case.model_validate(full)
    assert case.expected == {"agency_language": True, "topic_pivot": None}


def test_only_four_keys_are_needed(path: Path) -> None:
    path.write_bytes(line())
    [case] = load_cases(str(path))
    assert (case.expected, case.tags, case.notes) == ({}, (), "")


@pytest.mark.parametrize(
    "source",
    [
        line() + b"\n" + line(id="A-2") + b"\n",
        line() + b"\r\n" + line(id="A-2") + b"\r\n",
        b"\xef\xbb\xbf" + line() + b"\n\n  \t\n" + line(id="A-2"),
        b"\n" + line() + b"\n" + line(id="A-2") + b"   ",
    ],
    ids=["LF", "CRLF", "BOM and blank lines", "no last line end"],
)
def test_line_ends_blank_lines_and_a_mark_at_the_start_are_fine(path: Path, source: bytes) -> None:
    path.write_bytes(source)
    assert [case.id for case in load_cases(path)] == ["A-1", "A-2"]


def test_a_line_separator_inside_a_string_does_not_end_the_line(path: Path) -> None:
    path.write_text(json.dumps({**ROW, "user": "a\u2028b\u0085c"}, ensure_ascii=False), "utf-8")
    assert load_cases(path)[0].user == "a\u2028b\u0085c"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line() + b"\n" + b"{")))
    with pytest.raises(SynthesisError, match=r"^standard input:2: not a JSON object"):
        load_cases("-")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line())))
    assert [case.id for case in load_cases("-")] == ["A-1"]


def test_where_standard_input_cannot_be_read_nothing_is_said_of_what_is_put_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()  # which now resets the connection
    with os.fdopen(ours.detach(), "rb") as broken:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=broken))
        with pytest.raises(SynthesisError) as caught:
            load_cases("-")
    assert str(caught.value) == (
        "standard input: cannot be read: Connection reset by peer\n  fix: check what is piped in"
    )


@pytest.mark.parametrize("source", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n\t"])
def test_a_file_without_cases_is_an_error(path: Path, source: bytes) -> None:
    assert complaints(path, source) == [": there are no cases in it | write one JSON object a line"]


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r"none\.jsonl: no such file\n  fix: check the path"):
        load_cases(tmp_path / "none.jsonl")
    with pytest.raises(SynthesisError, match=r": this is a directory\n  fix: name a \.jsonl file in it"):
        load_cases(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SynthesisError, match=r"cannot be read: Not a directory\n  fix: check"):
        load_cases(tmp_path / "file" / "x")


LABEL = "use true or false; null is for topic_pivot alone"
KNOWN = "use agency_language, topic_pivot, unverifiable_reassurance"
KEYS = "the known keys are id, user, assistant, checks, expected, tags, notes"
OBJECT = 'write the case as {"id": …, "user": …}'
NOT_UTF8 = ":2: not a JSON object: not UTF-8 at byte"
REQUIRED = ("user", "assistant", "checks")
MEND = "mend the line, or remove it"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"{", [f":2: not a JSON object: unexpected end of data at column 2 | {MEND}"]),
        (line()[:-4], [":2: not a JSON object: "]),
        (b"not json", [":2: not a JSON object: "]),
        (b"null", [f":2: not a JSON object: None | {OBJECT}"]),
        (b"[1]", [f":2: not a JSON object: [1] | {OBJECT}"]),
        (b'"text"', [f":2: not a JSON object: text | {OBJECT}"]),
        (b'{"id":"B-1","user":"\xff"}', [f"{NOT_UTF8} 21 of the line (0xff) | {MEND}"]),
        (b'{"id":"B-1","user":"\xed\xa0\x80"}', [f"{NOT_UTF8} 21 of the line (0xed)"]),
        (b'{"id":"B-1","user":"\\ud800"}', [":2: not a JSON object: "]),
        (b'{"id":"B-1","user":"\\udc00\\ud800"}', [":2: not a JSON object: "]),
        (b'{"id":"B-1","user":NaN}', [":2: not a JSON object: "]),
        (b'{"id":"B-1","user":Infinity}', [":2: not a JSON object: "]),
        (b"[" * 100_000 + b"]" * 100_000, [":2: not a JSON object: "]),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, [":2: not a JSON object: "]),
        (b"\x00", [":2: not a JSON object: "]),
        (line(id="B-1") + b" {}", [":2: not a JSON object: "]),
        (line(id="A-1"), [':2: A-1:/id: the id "A-1" was used in line 1 | give each case its own id']),
        (line(id="a-1"), [":2: a-1:/id: "]),
        (line(id="A1"), [":2: A1:/id: "]),
        (line(id="A-1x"), [":2: A-1x:/id: "]),
        (line(id="A-1\n"), [":2: A-1\\n:/id: "]),
        (line(id="A-\u0661"), [":2: A-\u0661:/id: "]),
        (line(id=7), [":2:/id: "]),
        (line(id=None), [":2:/id: "]),
        (line(id="B-1", user=""), [':2: B-1:/user: "user" is empty | do not leave it empty']),
        (line(id="B-1", assistant=""), [':2: B-1:/assistant: "assistant" is empty']),
        (line(id="B-1", user=3), [":2: B-1:/user: "]),
        (line(id="B-1", user=["x"]), [":2: B-1:/user: "]),
        (line(id="B-1", notes=None), [":2: B-1:/notes: "]),
        (line(id="B-1", tags="x"), [":2: B-1:/tags: "]),
        (line(id="B-1", tags=["x", 1]), [":2: B-1:/tags/1: "]),
        (line(id="B-1", checks="agency_language"), [":2: B-1:/checks: "]),
        (line(id="B-1", checks=[]), [':2: B-1:/checks: "checks" is empty']),
        (line(id="B-1", checks=[None]), [":2: B-1:/checks/0: "]),
        (
            line(id="B-1", checks=["topic_pivot", "topic_pivot"]),
            [':2: B-1:/checks: "topic_pivot" is listed twice'],
        ),
        (
            line(id="B-1", checks=["topic_pivot", "topic"]),
            [f':2: B-1:/checks/1: unknown check "topic" | {KNOWN}'],
        ),
        (
            line(id="B-1", expected={"topic": True}),
            [f':2: B-1:/expected/topic: unknown check "topic" | {KNOWN}'],
        ),
        (line(id="B-1", expected=[]), [":2: B-1:/expected: "]),
        (line(id="B-1", expected={"agency_language": 1}), [":2: B-1:/expected/agency_language: "]),
        (line(id="B-1", expected={"agency_language": "true"}), [":2: B-1:/expected/agency_language: "]),
        (
            line(id="B-1", expected={"agency_language": None}),
            [f":2: B-1:/expected/agency_language: a label of null | {LABEL}"],
        ),
        (line(id="B-1", tag=[]), [':2: B-1: unknown key "tag" | did you mean "tags"?']),
        (line(id="B-1", zzz=1), [f':2: B-1: unknown key "zzz" | remove it; {KEYS}']),
        (b'{"id": "B-1"}', [f':2: B-1: "{key}" is missing | add "{key}"' for key in REQUIRED]),
        (
            line(id="B-1", user=1, tags=2, zzz=3),
            [":2: B-1:/user: ", ":2: B-1:/tags: ", ":2: B-1: unknown key"],
        ),
        (line(id="B-1", expected={"x": {"y": [[[]]]}}), [":2: B-1:/expected/x: "]),
    ],
)  # fmt: skip
def test_a_bad_line_is_reported_and_the_next_bad_one_too(path: Path, bad: bytes, said: list[str]) -> None:
    found = complaints(path, line() + b"\n" + bad + b"\n" + line(id="C-3", user=0) + b"\n")
    assert len(found) == len(said) + 1
    for complaint, start in zip(found, said, strict=False):
        assert complaint.startswith(start)
    assert found[-1].startswith(":3: C-3:/user: ")


def test_the_id_of_a_bad_line_counts_as_used(path: Path) -> None:
    found = complaints(path, line(user=1) + b"\n" + line())
    assert [complaint.split(" | ")[0] for complaint in found][1:] == [
        ':2: A-1:/id: the id "A-1" was used in line 1'
    ]


def test_hundreds_of_bad_lines_are_all_reported(path: Path) -> None:
    rows = [line(id=f"A-{n}", user=n) if n % 2 else line(id=f"A-{n}") for n in range(500)]
    found = complaints(path, b"\n".join(rows))
    assert [complaint.split(": ")[1] for complaint in found] == [f"A-{n}:/user" for n in range(1, 500, 2)]


def test_hostile_text_is_shown_harmlessly_and_shortly(path: Path) -> None:
    hostile = "\x1b[31m\u202e\x07" + "x" * 1000
    [found] = complaints(path, line(id=hostile))
    assert not any(char in found for char in "\x1b\u202e\x07")
    assert "\\x1b[31m" in found
    assert len(found) < 300
    assert "…" in found


def test_a_line_of_fifty_megabytes(path: Path) -> None:
    size = 50_000_000
    path.write_bytes(line(user="x" * size))
    assert len(load_cases(path)[0].user) == size
    [found] = complaints(path, line(user=["x" * size]))
    assert found.startswith(":1: A-1:/user: ")
    assert len(found) < 300
    [found] = complaints(path, line(user="x" * size)[:-2])
    assert found.startswith(":1: not a JSON object: unexpected end of data at column")


def test_time_grows_with_the_number_of_checks_and_no_faster(path: Path) -> None:
    """Looking for duplicates by counting each name anew would take minutes here."""
    names = [f"check_{n}" for n in range(20_000)]
    before = time.process_time()
    found = complaints(path, line(checks=[*names, names[0]]))
    assert [complaint.split(" | ")[0] for complaint in found] == [
        ':1: A-1:/checks: "check_0" is listed twice'
    ]
    assert time.process_time() - before < 5


def test_a_schema_of_ones_own_is_asked_as_well(path: Path, tmp_path: Path) -> None:
    schema = tmp_path / "own.json"
    schema.write_text('{"required": ["notes"], "properties": {"tags": {"items": {"maxLength": 2}}}}')
    path.write_bytes(line(notes="n"))
    assert len(load_cases(path, schema)) == 1
    found = complaints(path, line() + b"\n" + line(id="A-2", notes="n", tags=["ok", "long"]), schema)
    assert found == [
        ":1: A-1: 'notes' is a required property | satisfy the schema given with --schema",
        ":2: A-2:/tags/1: 'long' is too long | satisfy the schema given with --schema",
    ]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (b"{", "not JSON: "),
        (b"\xff", "not JSON: "),
        (b"[" * 100_000, "not JSON: "),
        (b"[]", "not a JSON Schema: [] is not of type"),
        (b'{"type": 3}', "not a JSON Schema: "),
        (b'{"$ref": "#/nowhere"}', "cannot be applied: "),
        (b'{"$ref": "#"}', "cannot be applied: "),
    ],
)
def test_a_bad_schema_is_the_schemas_fault(path: Path, tmp_path: Path, schema: bytes, said: str) -> None:
    file = tmp_path / "own.json"
    file.write_bytes(schema)
    path.write_bytes(line())
    with pytest.raises(SynthesisError) as caught:
        load_cases(path, file)
    assert str(caught.value).startswith(f"{file}: {said}")
    assert "\n  fix: " in str(caught.value)


def test_a_schema_fetches_nothing_from_the_network(path: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    path.write_bytes(line())
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        schema = tmp_path / "own.json"
        schema.write_text(json.dumps({"$ref": f"http://127.0.0.1:{server.server_port}/schema"}))
        with pytest.raises(SynthesisError, match="cannot be applied: Unresolvable"):
            load_cases(path, schema)
        server.shutdown()
    assert asked == []


@pytest.mark.parametrize("name", ["none.json", "."])
def test_a_schema_that_cannot_be_read(path: Path, tmp_path: Path, name: str) -> None:
    path.write_bytes(line())
    with pytest.raises(SynthesisError, match="cannot be read"):
        load_cases(path, tmp_path / name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.just("A-1") | JSON,
        "user": st.just("u") | JSON,
        "assistant": st.just("a") | JSON,
        "checks": st.just(["topic_pivot"]) | st.lists(st.sampled_from(["topic_pivot", "x"])) | JSON,
        "expected": st.dictionaries(st.sampled_from(["topic_pivot", "x"]), st.none() | st.booleans()) | JSON,
        "tags": JSON,
        "other": JSON,
    },
)
FILES = st.binary(max_size=80) | st.lists(
    st.binary(max_size=20) | ROWS.map(lambda row: json.dumps(row).encode()), max_size=4
).map(b"\n".join)


@given(FILES)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_bytes_crash_the_loader_and_no_line_is_lost(path: Path, source: bytes) -> None:
    """Every line that is not blank has a complaint with its number or is a case, alone as well."""
    rows = {
        number: text
        for number, text in enumerate(source.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
        if text.strip()
    }
    path.write_bytes(source)
    bad = set(rows)
    try:
        assert len(load_cases(path)) == len(rows)
        bad = set()
    except Problems as problems:
        bad = {int(problem.where.removeprefix(f"{path}:").split(":")[0]) for problem in problems.problems}
    except SynthesisError:
        assert rows == {}
    assert bad <= set(rows)
    for number in set(rows) - bad:
        path.write_bytes(rows[number])
        assert len(load_cases(path)) == 1
