"""Opening files, folders and standard input: what is found, what is refused and in which words."""

import errno
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
import pytest
from command_trials import children
from imported import FIXTURES, TURNS, found, readings, rejects, turns

from harness.child_lines import ChildFailed, child_lines
from harness.errors import Problems, SynthesisError
from harness.importer import ImportOptions
from harness.importers import parquet
from harness.source import open_inputs, read_chunk

ROW = {"id": "x", "user": "My cat died.", "assistant": "I am sorry about your cat."}
CHAT = {
    "messages": [{"role": "user", "content": "My cat died."}, {"role": "assistant", "content": "I am sorry."}]
}


def fixture(name: str) -> Path:
    return next(path for path in FIXTURES if path.name == name)


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, bytes) else orjson.dumps(row) for row in rows]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_a_folder_is_read_in_lexical_order_with_a_format_for_each_file(tmp_path: Path) -> None:
    write(tmp_path / "b" / "cases.jsonl", ROW)
    write(tmp_path / "a.jsonl", CHAT)
    write(tmp_path / "b" / ".hidden", b"nothing known")
    write(tmp_path / ".git" / "config", b"nothing known")
    (tmp_path / "c").symlink_to(tmp_path, target_is_directory=True)
    inputs = open_inputs([str(tmp_path)])
    assert [(each.path, each.importer) for each in inputs] == [
        (str(tmp_path / "a.jsonl"), "openai_chat"),
        (str(tmp_path / "b" / "cases.jsonl"), "cases"),
    ]


def test_a_run_of_ours_is_its_transcripts(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "first"
    write(run / "transcripts" / "talk-1.jsonl", *fixture("synthesis.jsonl").read_bytes().splitlines())
    write(run / "transcripts" / "talk-2.jsonl.earlier", b"set aside")
    write(run / "workspaces" / "talk" / "1" / "note.txt", b"alpha")
    write(run / "report.json", {"kind": "run"})
    for path in (run, tmp_path):
        (only,) = open_inputs([str(path)])
        assert only.path == str(run / "transcripts" / "talk-1.jsonl")
    assert turns(readings(run)) == TURNS
    write(run / "notes.txt", b"somebody's own")
    with pytest.raises(Problems, match=r"notes\.txt: no known format"):
        open_inputs([str(run)])


@pytest.mark.parametrize(
    ("content", "columns", "what", "fix"),
    [
        (b"Frage,Antwort\nHallo,Ja\n", {}, "no known format", "--columns user=…,assistant=…"),
        (
            b"Frage,Antwort\nHallo,Ja\n",
            {"user": "Frage", "assistant": "Reply"},
            'there is no column "Reply" among Frage, Antwort',
            "--columns",
        ),
        ("prömpt,response\nHallo,Ja\n".encode("latin-1"), {}, "not UTF-8", "save it as UTF-8"),
    ],
)
def test_a_table_that_is_refused_says_what_would_help(
    content: bytes, columns: dict[str, str], what: str, fix: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    with pytest.raises(Problems) as caught:
        open_inputs([str(file)], options=ImportOptions(columns=columns))
    (problem,) = caught.value.problems
    assert what in problem.what
    assert fix in problem.fix


@pytest.mark.parametrize("beside", ["audit.json", "rejects.jsonl", "progress.json"])
def test_what_an_audit_wrote_is_no_input(beside: str, tmp_path: Path) -> None:
    finding = {"kind": "turn", "file": "a", "turn": 1, "failed": [], "user": "Hi", "assistant": "Hello"}
    write(tmp_path / "a.jsonl", ROW)
    folder = tmp_path / "audits" / "1"
    folder.mkdir(parents=True)
    write(folder / "findings.jsonl", finding)
    with pytest.raises(Problems, match="no known format"):
        open_inputs([str(tmp_path)])
    write(folder / beside, {"kind": "audit"})
    assert [each.path for each in open_inputs([str(tmp_path)])] == [str(tmp_path / "a.jsonl")]
    with pytest.raises(Problems, match="there is only an audit in this folder"):
        open_inputs([str(folder)])
    write(folder / "b.jsonl", ROW)
    assert [each.path for each in open_inputs([str(folder)])] == [str(folder / "b.jsonl")]


def test_what_is_none_of_these_is_refused_together_with_what_was_seen(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", b"Dear all,", b"", b"\x1b[31mred\x1b[0m " + b"x" * 300)
    write(tmp_path / "b.bin", bytes(range(256)))
    write(tmp_path / "c.jsonl", {"colour": "red"}, {"colour": "blue"})
    (tmp_path / "d.empty").write_bytes(b"")
    write(tmp_path / "e.utf16").write_bytes("user,assistant\n".encode("utf-16"))
    write(tmp_path / "f.jsonl", ROW)
    with pytest.raises(Problems) as caught:
        open_inputs([str(tmp_path)])
    problems = {Path(problem.where).name: problem for problem in caught.value.problems}
    assert list(problems) == ["a.txt", "b.bin", "c.jsonl", "d.empty", "e.utf16"]
    said = problems["a.txt"].what.splitlines()
    assert said[:2] == ["no known format; it begins:", "    1: Dear all,"]
    assert said[2].startswith("    2: \\x1b[31mred\\x1b[0m xxx")
    assert len(said[2]) < 120
    assert problems["a.txt"].fix.startswith(
        "say what it is with --from NAME, one of: anthropic_messages, cases,"
    )
    assert '1: {"colour":"red"}' in problems["c.jsonl"].what
    assert all(char.isprintable() or char == "\n" for char in str(caught.value))
    assert problems["d.empty"].what == "it is empty"
    assert problems["e.utf16"].what == "it is UTF-16"


@pytest.mark.parametrize(
    "first",
    [b"{broken", b'{"id": "a", "user": "never closed', b"# exported", b"\xff\xfe\xfd", b"[", b"null", b""],
)
def test_a_broken_first_line_does_not_hide_the_format(first: bytes, tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", first, ROW, ROW, ROW)
    (only,) = open_inputs([str(file)])
    assert (only.importer, only.shape) == ("cases", "lines")
    everything = readings(file)
    assert [each.line for each in found(everything)] == [2, 3, 4]
    assert [line for line, _ in rejects(everything)] == ([1] if first else [])


def test_the_format_of_most_rows_wins_and_then_the_more_certain(tmp_path: Path) -> None:
    special = {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}]}
    few = write(tmp_path / "few.jsonl", CHAT, CHAT, CHAT, special)
    many = write(tmp_path / "many.jsonl", CHAT, special, special, special)
    assert open_inputs([str(few)])[0].importer == "openai_chat"
    assert open_inputs([str(many)])[0].importer == "anthropic_messages"
    tool = found(readings(write(tmp_path / "rest.jsonl", CHAT, CHAT, special)))[2].conversation
    assert [message.role for message in tool.messages] == ["tool"]


@pytest.mark.parametrize(
    ("text", "shape", "conversations"),
    [
        (orjson.dumps(ROW), "document", 1),
        (orjson.dumps([ROW, ROW]), "document", 2),
        (json.dumps(ROW, indent=2).encode(), "document", 1),
        (json.dumps([CHAT], indent=2).encode(), "document", 1),
        (b"[\n" + orjson.dumps(ROW) + b",\n" + orjson.dumps(ROW) + b"\n]", "document", 2),
        (json.dumps(CHAT, indent=1).encode() + b"\n" + json.dumps(CHAT, indent=1).encode(), "document", 2),
        (orjson.dumps(ROW) + b"\n" + orjson.dumps(ROW), "lines", 2),
        (b"\xef\xbb\xbf\n\n" + orjson.dumps(ROW) + b"\r\n" + orjson.dumps(ROW), "lines", 2),
        (orjson.dumps(CHAT["messages"]) + b"\n" + orjson.dumps(CHAT["messages"]), "lines", 2),
        (b"user;assistant\nx;y\n", "table", 1),
        (b"\xef\xbb\xbfUser , Assistant\nx,y\n", "table", 1),
        (b"user|assistant|note\nx|y|z\n", "table", 1),
    ],
)
def test_the_shape_is_told_by_the_content(
    text: bytes, shape: str, conversations: int, tmp_path: Path
) -> None:
    file = tmp_path / "any.name"
    file.write_bytes(text)
    (only,) = open_inputs([str(file)])
    assert only.shape == shape
    everything = readings(file)
    assert rejects(everything) == []
    assert len(turns(everything)) == len(found(everything)) == conversations


def test_a_single_record_longer_than_the_first_look_is_known_too(tmp_path: Path) -> None:
    long = {**ROW, "notes": "n" * 3_000_000}
    file = tmp_path / "one.json"
    file.write_text(json.dumps([long, ROW], indent=1))
    assert open_inputs([str(file)])[0].importer == "cases"
    assert len(found(readings(file))) == 2


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        SynthesisError, match=r'unknown format "nope"\n  fix: use one of: auto, anthropic_messages,'
    ):
        open_inputs([str(write(tmp_path / "x", ROW))], "nope")


def test_a_format_that_is_named_is_believed_where_it_can_be(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", ROW, CHAT)
    everything = readings(file, wanted="openai_chat")
    assert [each.line for each in found(everything)] == [2]
    assert rejects(everything) == [(1, '"messages" is not a list')]
    table = write(tmp_path / "t.csv", b"user,assistant", b"x,y")
    with pytest.raises(
        SynthesisError, match="this is a table; openai_chat reads JSON lines or one JSON document"
    ):
        open_inputs([str(table)], "openai_chat")
    with pytest.raises(SynthesisError, match="cases cannot open such a file"):
        open_inputs([str(fixture("inspect_log.eval"))], "cases")


def test_columns_can_be_named(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", b"frage,antwort,nr", b"x,y,7")
    with pytest.raises(SynthesisError, match="no known format"):
        open_inputs([str(file)])
    options = ImportOptions({"user": "frage", "assistant": "antwort", "id": "nr"})
    for wanted in ("auto", "table"):
        (only,) = found(readings(file, wanted=wanted, options=options))
        assert (only.conversation.id, turns([only])) == ("7", [("x", "y")])
    wrong = ImportOptions({"user": "frage", "assistant": "nobody"})
    assert rejects(readings(file, wanted="table", options=wrong)) == [(2, 'there is no column "nobody"')]
    with pytest.raises(
        SynthesisError, match=r'no column of a table is for "usr"\n  fix: use one of: user, assistant,'
    ):
        ImportOptions({"usr": "x"})


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ((), "there is nothing to read"),
        (("missing.jsonl",), "missing.jsonl: no such file or folder"),
        (("empty",), "there is no file in this folder"),
        (("pipe",), "not a regular file"),
        (("-", "-"), "standard input can be read once"),
        (("x.jsonl", "sub/../x.jsonl"), "it is named twice"),
    ],
)
def test_paths_that_cannot_be_read(
    paths: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.jsonl", ROW)
    Path("empty").mkdir()
    Path("sub").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(SynthesisError) as caught:
        open_inputs(list(paths))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv", "rows.jsonl.gz"])
def test_a_file_that_changes_while_it_is_read_is_an_error(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    rows = orjson.dumps(ROW) + b"\n"
    content = {
        "rows.jsonl": rows * 1000,
        "rows.json": b"[" + b",".join([orjson.dumps(ROW)] * 1000) + b"]",
        "rows.csv": b"user,assistant\n" + b"x,y\n" * 1000,
        "rows.jsonl.gz": gzip.compress(rows * 1000),
    }[name]
    file.write_bytes(content)
    (only,) = open_inputs([str(file)])
    chunks = only.chunks(100)
    first = next(chunks)
    with file.open("ab") as more:
        more.write(b"\n")
    with pytest.raises(SynthesisError, match=rf"{name}: the file changed while it was read\n  fix: "):
        [reading for chunk in (first, *chunks) for reading in read_chunk(chunk)]


def test_a_file_that_changes_before_a_worker_reads_its_part_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", ROW, ROW)
    (chunk,) = open_inputs([str(file)])[0].chunks()
    before = file.stat()
    write(file, ROW, {**ROW, "id": "y"})
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(SynthesisError, match="the file changed while it was read"):
        list(read_chunk(chunk))


def test_a_file_that_vanishes_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", ROW, ROW)
    (only,) = open_inputs([str(file)])
    (chunk,) = only.chunks()
    file.unlink()
    with pytest.raises(SynthesisError, match="cannot be read any more: No such file"):
        list(read_chunk(chunk))
    with pytest.raises(SynthesisError, match="cannot be read: No such file"):
        list(only.chunks())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON: "),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', "not JSON: "),
        (b'{"messages": "\x00"}', "not JSON: "),
        (b'{"messages": [{"role": "user", "content": "\\ud83d"}]}', "not JSON: "),
        (b"[" * 100_000, "not JSON: "),
        (b'{"messages": ' + b"[" * 900 + b"]" * 900 + b"}", "it is nested too deeply"),
        (b'{"messages": [], "x": ' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}", "it is nested too deeply"),
        (b"7", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"{}", '"messages" is not a list'),
        (b"[]", "no message with any words"),
        (b'{"messages": []}', "no message with any words"),
        (b'{"messages": [7]}', "a message is 7, not an object"),
        (b'{"messages": [{}]}', "a message has no role"),
        (b'{"messages": [{"role": "narrator", "content": "x"}]}', "unknown role narrator"),
        (b'{"messages": [{"role": ["user"], "content": "x"}]}', "unknown role ['user']"),
        (b'{"messages": [{"role": "user", "content": 7}]}', "the content of a message is 7"),
        (b'{"messages": [{"role": "user", "content": [7]}]}', "a part of a message is 7"),
        (b'{"messages": [{"role": "user", "content": ""}]}', "no message with any words"),
        (b'{"choices": 7}', '"choices" is not a list'),
        (b'{"custom_id": "a", "response": null, "error": {"message": "too long\\u001b[0m"}}',
         "the server answered with an error: too long\\x1b[0m"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_a_reject_with_its_line(
    line: bytes, reason: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "rows.jsonl", CHAT, line, b"", CHAT)
    everything = readings(file)
    assert [each.line for each in found(everything)] == [1, 4]
    ((number, said),) = rejects(everything)
    assert number == 2
    assert said.startswith(reason)


def test_standard_input_can_be_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(orjson.dumps(CHAT) * 3)))
    (only,) = open_inputs(["-"])
    everything = [reading for chunk in only.chunks(1) for reading in read_chunk(chunk)]
    assert [each.conversation.id for each in found(everything)] == [f"standard input:{n}" for n in (1, 2, 3)]
    with pytest.raises(SynthesisError, match="standard input: standard input can be read once"):
        list(only.chunks())


def test_a_zip_that_is_no_log_or_is_damaged_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.zip"
    with ZipFile(other, "w") as archive:
        archive.writestr("word/document.xml", "<xml/>")
    with pytest.raises(SynthesisError, match=r"a zip archive without samples/\*\.json"):
        open_inputs([str(other)])
    cut = tmp_path / "cut.eval"
    cut.write_bytes(fixture("inspect_log.eval").read_bytes()[:-100])
    with pytest.raises(SynthesisError, match="not a whole zip archive"):
        open_inputs([str(cut)])


def test_a_damaged_sample_is_a_reject_and_the_others_are_read(tmp_path: Path) -> None:
    content = bytearray(fixture("inspect_log.eval").read_bytes())
    with ZipFile(fixture("inspect_log.eval")) as archive:
        member = next(each for each in archive.infolist() if each.filename == "samples/s1_epoch_1.json")
    middle = member.header_offset + 200 + member.compress_size // 2
    content[middle : middle + 20] = bytes(20)
    file = tmp_path / "damaged.eval"
    file.write_bytes(content)
    everything = readings(file)
    ((number, said),) = rejects(everything)
    assert number == 1
    assert said.startswith("samples/s1_epoch_1.json: ")
    assert turns(everything) == TURNS[1:]


def test_a_sample_that_is_too_large_is_a_reject(tmp_path: Path) -> None:
    file = tmp_path / "bomb.eval"
    sample = {"id": "a", "epoch": 1, **CHAT}
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t"}}')
        with archive.open("samples/a_epoch_1.json", "w") as bomb:
            for _ in range(80):
                bomb.write(b" " * 2**20)
        archive.writestr("samples/b_epoch_1.json", orjson.dumps(sample))
    everything = readings(file)
    assert rejects(everything) == [(1, "samples/a_epoch_1.json: it is larger than 64 MB")]
    assert len(found(everything)) == 1


def test_a_folder_that_may_not_be_read_is_named_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "sub" / "a.jsonl", ROW)
    inside, is_dir = Path.iterdir, Path.is_dir

    def denied(path: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", lambda path: denied(path) if path.name == "sub" else inside(path))
    monkeypatch.setattr(
        Path, "is_dir", lambda path: denied(path) if path.parent.name == "sub" else is_dir(path)
    )
    with pytest.raises(Problems, match=r"/sub: cannot be read: Permission denied"):
        open_inputs([str(tmp_path)])


def test_parquet_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SynthesisError, match=r"fix: pip install 'synthesis-harness\[parquet\]'"):
        open_inputs([str(fixture("parquet.parquet"))])


def test_parquet_that_is_damaged_or_oddly_named_is_refused(tmp_path: Path) -> None:
    whole = fixture("parquet.parquet").read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole[:-20])
    with pytest.raises(SynthesisError, match=r"cut\.parquet: cannot be read: "):
        open_inputs([str(cut)])
    odd = tmp_path / "many*.parquet"
    odd.write_bytes(whole)
    with pytest.raises(SynthesisError, match=r"the name of the file has \*, \? or \[ in it"):
        open_inputs([str(odd)])


def test_parquet_is_read_whatever_the_size_of_its_groups(tmp_path: Path) -> None:
    """All rows in one group, of which nothing comes twice: what a file may ask for at once."""
    file, many = tmp_path / "large.parquet", 130_000
    import duckdb

    with duckdb.connect() as database:
        text = "repeat(md5(i::VARCHAR), 12)"
        rows = f"SELECT 'c' || i AS id, 'Hm. ' || {text} AS user, {text} AS assistant FROM range({many}) t(i)"
        database.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE {many})")
    assert sum(1 for _ in parquet.unpack(file)) == many


def test_who_wants_no_more_rows_of_parquet_leaves_no_process_behind() -> None:
    before = children()
    rows = parquet.unpack(Path(fixture("parquet.parquet")))
    next(rows)
    assert len(children() - before) == 1
    rows.close()  # type: ignore[attr-defined]
    assert children() == before


def test_parquet_of_which_the_reader_is_killed_is_no_short_file(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "long.parquet"
    with duckdb.connect() as database:
        database.execute(f"COPY (SELECT repeat('x', 999) AS assistant FROM range(20000)) TO '{file}'")
    before = children()
    rows = parquet.unpack(file)
    next(rows)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(SynthesisError, match=r"long\.parquet: cannot be read: .* by signal 9"):
        list(rows)


def not_all_utf8(file: Path) -> Path:
    """Parquet with a text in its last rows that is none."""
    import duckdb

    with duckdb.connect() as database:
        text = "CASE WHEN i < 15000 THEN 'Well.' || i ELSE 'jane\"s: jane@example.org ZZZZ' END"
        rows = f"SELECT 'Hm.' AS user, {text} AS assistant FROM range(20000) t(i)"
        database.execute(f"COPY ({rows}) TO '{file}' (COMPRESSION uncompressed, ROW_GROUP_SIZE 2048)")
    file.write_bytes(file.read_bytes().replace(b"ZZZZ", b"\xff\xfe\xff\xfe"))
    return file


@pytest.mark.parametrize("children", ["waited for", "ignored"])
def test_parquet_that_breaks_off_in_the_middle_is_no_short_file(tmp_path: Path, children: str) -> None:
    """Where the end of a child is ignored, nobody knows how it was. Words of a row are not told."""
    file = not_all_utf8(tmp_path / "half.parquet")
    how = "" if children == "waited for" else "signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    code = f"import signal, sys; {how}from harness.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "audit", str(file), "--redact", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "half.parquet: cannot be read: Invalid Input Error: Invalid string encoding found" in done.stderr
    assert "jane" not in done.stdout + done.stderr
    assert not (tmp_path / "out" / "audit.json").exists()


def test_a_child_that_says_much_of_itself_is_not_waited_for() -> None:
    noisy = "sys.stderr.write('x' * 200_000); print('one', flush=True); print(flush=True)"
    assert list(child_lines(noisy, [])) == [b"one"]
    with pytest.raises(ChildFailed, match=r"^the last$"):
        list(child_lines("print('one', flush=True); sys.exit('x' * 200_000 + chr(10) + 'the last')", []))
    with pytest.raises(ChildFailed, match=r"ended too early$"):
        list(child_lines("print('one')", []))
