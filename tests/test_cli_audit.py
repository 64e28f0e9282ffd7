"""`synthesis audit` through its entry point: what it reads, writes, prints and answers."""

import gzip
import json
import re
from pathlib import Path

import pytest
from audits import DIVORCE, KIND, PROMISE, Row, lines, many, requested, synthesis, talk, write_rows, written

from harness.cli import main
from harness.renderers import audit_summary

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Two good conversations and one that promises; each of one turn."""
    return write_rows(
        tmp_path / "mixed.jsonl", [talk(KIND), talk(PROMISE, name="c-2"), talk(KIND, name="c-3")]
    )


def report(folder: Path) -> dict[str, object]:
    value: dict[str, object] = json.loads((folder / "audit.json").read_bytes())
    return value


def test_a_first_audit(mixed: Path, tmp_path: Path) -> None:
    done = synthesis("audit", "mixed.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'reading mixed.jsonl as openai_chat: rows have "messages"' in done.stderr
    assert "3 conversations, 3 turns: 1 turn failed at least one check" in done.stdout
    assert re.search(r"unverifiable_reassurance +3 +3 +1 +33\.33 % +\d", done.stdout)
    assert "95 % interval is by conversation" in done.stdout
    assert "worst conversations:" in done.stdout
    assert "mixed.jsonl:2  c-2: 1 of 1 turn failed" in done.stdout
    (folder,) = (tmp_path / "audits").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}", folder.name)
    assert sorted(path.name for path in folder.iterdir()) == ["audit.json", "findings.jsonl", "rejects.jsonl"]
    (finding,) = lines(folder / "findings.jsonl")
    assert (finding["file"], finding["line"], finding["conversation"], finding["turn"]) == (
        "mixed.jsonl", 2, "c-2", 1,
    )  # fmt: skip
    assert finding["assistant"] == PROMISE
    assert finding["user"] == DIVORCE


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--max-fail-rate", "0.34"), 0, "max fail rate unverifiable_reassurance 0.34 holds: 0.3333"),
        (("--max-fail-rate", "0.33"), 2, "max fail rate unverifiable_reassurance 0.33 FAILED: 0.3333"),
        (("--max-fail-rate", "unverifiable_reassurance=0.333333"), 0, "holds"),
        (("--max-fail-rate", "unverifiable_reassurance=0.05"), 2, "FAILED"),
        (("--max-fail-rate", "0.01", "--max-fail-rate", "unverifiable_reassurance=0.5",
          "--checks", "unverifiable_reassurance"), 0, "holds"),
        (("--max-fail-rate", "agency_language=0", "--checks", "agency_language"), 2, "FAILED"),
        (("--min-mean", "0.5"), 0, "min mean 0.5 holds"),
        (("--min-mean", "0.9"), 2, "min mean 0.9 FAILED"),
        (("--min-worst", "0.9"), 2, "lowest: mixed.jsonl:2"),
        (("--min-worst", "0"), 0, "min worst 0 holds"),
    ],
)  # fmt: skip
def test_thresholds_and_their_exit_codes(
    options: tuple[str, ...], code: int, said: str, mixed: Path, tmp_path: Path
) -> None:
    done = synthesis("audit", "mixed.jsonl", "--out", "out", *options, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert report(tmp_path / "out")["exit_code"] == code


def test_a_limit_by_name_wants_a_figure_and_one_for_all_does_not(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}
    write_rows(tmp_path / "sum.jsonl", [row])
    general = synthesis("audit", "sum.jsonl", "--max-fail-rate", "0.9", cwd=tmp_path)
    assert "topic_pivot" not in "".join(line for line in general.stdout.splitlines() if "max fail" in line)
    assert general.returncode == 0
    named = synthesis("audit", "sum.jsonl", "--max-fail-rate", "topic_pivot=0.9", cwd=tmp_path)
    assert named.returncode == 2
    assert "there is no figure" in named.stdout


def test_a_row_that_cannot_be_read_is_never_a_pass(mixed: Path, tmp_path: Path) -> None:
    with mixed.open("a") as file:
        file.write('{"messages": "none"}\n{oops\n')
    done = synthesis("audit", "mixed.jsonl", "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "2 records could not be read:" in done.stdout
    assert "INCOMPLETE: 2 rows could not be read, 0 allowed (--max-rejects)" in done.stdout
    rejects = lines(tmp_path / "out" / "rejects.jsonl")
    assert [(row["file"], row["line"]) for row in rejects] == [("mixed.jsonl", 4), ("mixed.jsonl", 5)]
    assert all(row["reason"] for row in rejects)
    assert report(tmp_path / "out")["rejects"]["total"] == 2  # type: ignore[index]
    one = synthesis("audit", "mixed.jsonl", "--max-rejects", "1", cwd=tmp_path)
    assert one.returncode == 1
    two = synthesis("audit", "mixed.jsonl", "--max-rejects", "2", "--min-mean", "0.99", cwd=tmp_path)
    assert two.returncode == 2, "allowed rejects do not hide a threshold"
    assert synthesis("audit", "mixed.jsonl", "--max-rejects", "2", cwd=tmp_path).returncode == 0


def test_nothing_judged_is_an_error(tmp_path: Path) -> None:
    write_rows(tmp_path / "asked.jsonl", [{"messages": [{"role": "user", "content": "hello?"}]}])
    done = synthesis("audit", "asked.jsonl", "--max-rejects", "9", "--max-fail-rate", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "NOTHING JUDGED" in done.stdout


def test_where_leaves_out_and_says_how_many(tmp_path: Path) -> None:
    write_rows(tmp_path / "many.jsonl", many(40))
    done = synthesis(
        "audit", "many.jsonl", "--where", "tag=even", "--where", "meta.lang!=de", "--out", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "only where tag=even and meta.lang!=de: 30 conversations left out" in done.stdout
    summary = report(tmp_path / "out")["summary"]
    assert (summary["conversations"], summary["left_out"]) == (10, 30)  # type: ignore[index]


def test_replies_that_answer_nothing_are_told(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": PROMISE}
    rows = [
        {"messages": [said, {"role": "user", "content": DIVORCE}, {"role": "assistant", "content": KIND}]},
        {"messages": [said]},
    ]
    write_rows(tmp_path / "jane@example.org.jsonl", rows)
    done = synthesis("audit", "jane@example.org.jsonl", "--redact", "--out", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 reply before anybody asked, not judged" in done.stdout
    assert "1 turn judged without the message they answer, which is not in the log" in done.stdout
    assert "jane@" not in done.stdout + done.stderr
    summary = report(tmp_path / "a")["summary"]
    assert isinstance(summary, dict)
    assert (summary["unprompted"], summary["alone"], summary["turns"]) == (1, 1, 2)


def test_where_that_leaves_nothing_says_so(mixed: Path, tmp_path: Path) -> None:
    done = synthesis("audit", "mixed.jsonl", "--where", "metadata.nope=1", cwd=tmp_path)
    assert done.returncode == 1
    assert "NOTHING JUDGED: --where left out every conversation" in done.stdout


def test_a_sample_says_so_and_is_the_same_from_standard_input(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "many.jsonl", many(90))
    options = ("--sample", "20", "--seed", "5", "--json")
    from_file = synthesis("audit", "many.jsonl", *options, "--out", "file", cwd=tmp_path)
    piped = synthesis("audit", "-", *options, "--out", "pipe", cwd=tmp_path, stdin=path.read_bytes())
    assert (from_file.returncode, piped.returncode) == (0, 0), piped.stderr
    assert "cannot be resumed" in piped.stderr
    one, two = json.loads(from_file.stdout), json.loads(piped.stdout)
    assert one["sample"] == two["sample"] == {"size": 20, "seed": 5, "population": 90, "drawn": 20}
    assert one["summary"]["not_drawn"] == 70
    names = [
        [line["conversation"] for line in lines(tmp_path / out / "findings.jsonl")]
        for out in ("file", "pipe")
    ]
    assert names[0] == names[1]
    assert one["checks"] == two["checks"]
    other = synthesis("audit", "many.jsonl", "--sample", "20", "--seed", "6", "--out", "other", cwd=tmp_path)
    assert "SAMPLE of 20 out of 90 conversations (seed 6)" in other.stdout
    assert "20 conversations (sample)" in other.stdout
    assert (tmp_path / "other" / "findings.jsonl").read_bytes() != (
        tmp_path / "file" / "findings.jsonl"
    ).read_bytes()


def test_redacted_nothing_personal_is_written_anywhere(tmp_path: Path) -> None:
    secrets = (
        "jane.doe@example.org",
        "+1 212 555 1234",
        "4111 1111 1111 1111",
        "sk-abcdefghijklmnop1234",
        "Zebra",
    )
    reply = f"Dear Zebra, {PROMISE} " + " and ".join(secrets)
    rows = [
        talk(reply, KIND, name=f"talk with {secrets[0]}"),
        talk(PROMISE, name="c-2"),
        {"messages": [{"role": "jane.doe@example.org", "content": "x"}]},
    ]
    write_rows(tmp_path / "logs of Zebra.jsonl", rows)
    (tmp_path / "terms").write_text("zebra\n")
    done = synthesis(
        "audit", "logs of Zebra.jsonl", "--redact-list", "terms", "--where", "id!=jane.doe@example.org",
        "--max-rejects", "1", "--out", "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    everything = done.stdout + "".join(path.read_text("utf-8") for path in (tmp_path / "out").iterdir())
    for secret in (*secrets, "jane", "zebra"):
        assert secret not in everything
    first, second = lines(tmp_path / "out" / "findings.jsonl")
    assert first["conversation"] == "talk with [email]"
    assert first["file"] == "logs of [listed].jsonl"
    assert first["redacted"] is True
    assert "[email] and [phone] and [card] and [key] and [listed]" in first["assistant"]
    assert second["redacted"] is False
    for failed in first["failed"]:
        for span in failed["spans"]:
            assert span["end"] <= len(reply if span["side"] == "assistant" else DIVORCE)
    found = report(tmp_path / "out")
    assert found["redaction"]["details"] == {  # type: ignore[index]
        "card": 1, "email": 1, "key": 1, "listed": 2, "phone": 1,
    }  # fmt: skip
    assert "redacted in 1 turn" in done.stdout


@pytest.mark.parametrize("before", range(0, 60, 7))
def test_a_reject_quotes_no_part_of_what_is_redacted(before: int, tmp_path: Path) -> None:
    """An excerpt may end in the middle of a detail, and writes line breaks so that words run together."""
    secret = "jane.doe@example.org Dr.\nJane Doe 4111\u00a01111\u00a01111\u00a01111"
    said = f"{'x' * before} {secret}"
    rows: list[Row] = [
        {"messages": [{"role": said, "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": [{said: said}]}]}]},
        {"messages": [[said]]},
        {"messages": [["x" * before, 4111111111111111]]},
    ]
    (tmp_path / "terms").write_text("Jane Doe\n")
    write_rows(tmp_path / "rows.jsonl", [talk(KIND), *rows])
    requested(
        tmp_path / "rows.jsonl",
        out=tmp_path / "out",
        redact_list=str(tmp_path / "terms"),
        source="openai_chat",
    )
    rejects = lines(tmp_path / "out" / "rejects.jsonl")
    assert len(rejects) == len(rows)
    everything = "".join(path.read_text("utf-8") for path in (tmp_path / "out").iterdir())
    without_hashes = re.sub(r"\b[0-9a-f]{64}\b", "", everything)
    assert not re.search(r"jane|doe|4111", without_hashes, re.IGNORECASE)
    assert all("[" in row["reason"] for row in rejects)


def test_redacted_the_first_lines_of_a_refused_file_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("jane@example.org wrote\n")
    (tmp_path / "table.csv").write_text("jane@example.org,tel\n1,2\n")
    asked = ("audit", "notes.txt", "table.csv")
    assert synthesis(*asked, cwd=tmp_path).stderr.count("jane@") == 2
    named = ("--columns", "user=q,assistant=a")
    for options in ((), named):
        done = synthesis(*asked, "--redact", *options, cwd=tmp_path)
        assert done.returncode == 1
        assert "jane" not in done.stderr
    assert 'there is no column "q", "a"\n' in done.stderr


def test_verdicts_are_of_the_original_and_changes_are_counted(tmp_path: Path) -> None:
    unmoved = talk(f"{KIND} I am at me@example.org.", name="c-3")
    write_rows(tmp_path / "rows.jsonl", [talk(PROMISE), talk(KIND, name="c-2"), unmoved])
    (tmp_path / "terms").write_text("promise you'll be fine\nknow exactly how you feel\n")
    plainly = synthesis("audit", "rows.jsonl", "--out", "plain", cwd=tmp_path)
    redacted = synthesis("audit", "rows.jsonl", "--redact-list", "terms", "--out", "red", cwd=tmp_path)
    assert (plainly.returncode, redacted.returncode) == (0, 0)
    before, after = report(tmp_path / "plain")["checks"], report(tmp_path / "red")["checks"]
    assert [check["failed"] for check in before] == [check["failed"] for check in after]  # type: ignore[attr-defined]
    changed = {check["check"]: check["changed_by_redaction"] for check in after}  # type: ignore[attr-defined]
    assert changed["unverifiable_reassurance"] == 1
    assert "would change on the redacted words: " in redacted.stdout
    (line,) = lines(tmp_path / "red" / "findings.jsonl")
    (claim,) = [each for each in line["failed"] if each["check"] == "unverifiable_reassurance"]
    assert claim["reason"] == "in words that are not shown here"
    assert {span["text"] for span in claim["spans"]} <= {"[listed]", "I [listed]"}
    assert b"promise you" not in (tmp_path / "red" / "findings.jsonl").read_bytes()
    assert b"promise you" not in (tmp_path / "red" / "audit.json").read_bytes()


def test_conversations_of_one_record_are_drawn_one_by_one(tmp_path: Path) -> None:
    choices = [{"message": {"role": "assistant", "content": f"{KIND} {number}"}} for number in range(30)]
    write_rows(
        tmp_path / "rows.jsonl", [{"messages": [{"role": "user", "content": DIVORCE}], "choices": choices}]
    )
    done = synthesis("audit", "rows.jsonl", "--sample", "7", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["sample"] == {"size": 7, "seed": 1, "population": 30, "drawn": 7}


def test_turns_of_a_log_that_repeats_the_talk_keep_their_number(tmp_path: Path) -> None:
    said = talk(KIND, KIND)["messages"]
    asked = {"role": "user", "content": DIVORCE}
    reply = {"message": {"role": "assistant", "content": PROMISE}}
    write_rows(tmp_path / "rows.jsonl", [{"messages": [*said, asked], "choices": [reply]}])
    done = synthesis("audit", "rows.jsonl", "--out", "out", "--json", cwd=tmp_path)
    (line,) = lines(tmp_path / "out" / "findings.jsonl")
    assert line["turn"] == 3
    drift = [
        (row["turn"], row["checks"]["unverifiable_reassurance"]["applicable"])
        for row in json.loads(done.stdout)["drift"]
    ]
    assert drift == [("1", 0), ("2", 0), ("3", 1)]


def test_folders_compressed_files_and_tables(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    write_rows(folder / "a.jsonl", [talk(KIND)])
    (folder / "b.jsonl.gz").write_bytes(gzip.compress((json.dumps(talk(PROMISE)) + "\n").encode()))
    (folder / "c.csv").write_text(f'question,answer\n"{DIVORCE}","{PROMISE}"\n')
    done = synthesis(
        "audit", "logs", "--columns", "user=question,assistant=answer", "--out", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    inputs = report(tmp_path / "out")["inputs"]
    assert [(each["path"], each["conversations"]) for each in inputs] == [  # type: ignore[attr-defined]
        ("logs/a.jsonl", 1), ("logs/b.jsonl.gz", 1), ("logs/c.csv", 1),
    ]  # fmt: skip
    assert [line["file"] for line in lines(tmp_path / "out" / "findings.jsonl")] == [
        "logs/b.jsonl.gz",
        "logs/c.csv",
    ]


def test_of_parquet_no_more_is_said_than_of_others(tmp_path: Path) -> None:
    """duckdb complains at the end of a process that keeps what could be let go."""
    fixture = Path(__file__).parent / "imports" / "parquet.parquet"
    done = synthesis("audit", fixture, "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_text_that_means_harm_is_shown_as_text(tmp_path: Path) -> None:
    evil = "\x1b[31mred\x07 [bold]x[/bold] \u202egnp \x9b2J"
    rows = [
        talk(f"{PROMISE} {evil}", name=evil, tags=[evil]),
        {"messages": [{"role": evil, "content": evil}]},
    ]
    write_rows(tmp_path / "evil \x1b[31m.jsonl", rows)
    done = synthesis("audit", "evil \x1b[31m.jsonl", "--max-rejects", "5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not UNPRINTABLE.search(done.stdout.replace("\n", ""))
    assert not UNPRINTABLE.search(done.stderr.replace("\n", ""))
    assert "[bold]x[/bold]" in done.stdout


def test_a_name_of_a_file_that_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    write_rows(folder / "x.jsonl", [talk(PROMISE)])
    (folder / "x.jsonl").rename(folder / "x\udcff.jsonl")
    done = synthesis("audit", "logs", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lines(tmp_path / "out" / "findings.jsonl")[0]["file"] == "logs/x?.jsonl"


def test_with_json_nothing_else_is_printed(mixed: Path, tmp_path: Path) -> None:
    done = synthesis("audit", "mixed.jsonl", "--json", "--quiet", "--out", "out", cwd=tmp_path)
    assert json.loads(done.stdout) == report(tmp_path / "out")
    assert done.stderr == ""


def test_quiet_says_only_what_went_wrong(mixed: Path, tmp_path: Path) -> None:
    good = synthesis("audit", "mixed.jsonl", "--quiet", cwd=tmp_path)
    assert (good.stdout, good.stderr) == ("", "")
    bad = synthesis("audit", "mixed.jsonl", "--quiet", "--min-mean", "1", cwd=tmp_path)
    assert "min mean 1 FAILED" in bad.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Missing argument"),
        (("no.jsonl",), "no such file or folder"),
        (("mixed.jsonl", "--checks", "nothing"), 'unknown check "nothing"'),
        (("mixed.jsonl", "--checks", "topic_pivot", "--rubric", "care"), "both say what counts"),
        (("mixed.jsonl", "--rubric", "nowhere"), 'no rubric "nowhere"'),
        (("mixed.jsonl", "--sample", "0"), "--sample"),
        (("mixed.jsonl", "--sample", "200000"), "more than 100000"),
        (("mixed.jsonl", "--seed", "1"), "--seed without --sample"),
        (("mixed.jsonl", "--where", "nonsense"), "is no condition"),
        (("mixed.jsonl", "--max-fail-rate", "2"), "not a number from 0 to 1"),
        (("mixed.jsonl", "--max-fail-rate", "x=0.1"), "not among the checks"),
        (("mixed.jsonl", "--max-rejects", "-1"), "--max-rejects"),
        (("mixed.jsonl", "--engine", "cloud"), 'unknown engine "cloud"'),
        (("mixed.jsonl", "--engine", ""), 'unknown engine ""'),
        (("mixed.jsonl", "--engine", "processes:"), "nothing stands after the colon"),
        (("mixed.jsonl", "--from", "nothing"), "nothing"),
        (("mixed.jsonl", "--columns", "user"), "names no column"),
        (("mixed.jsonl", "--columns", "usr=q"), 'called "usr"'),
        (("mixed.jsonl", "--redact-list", "no"), "cannot be read"),
        (("mixed.jsonl", "--out", "a", "--resume", "b"), "both name a folder"),
        (("mixed.jsonl", "--resume", "nowhere"), "no audit here"),
        (("mixed.jsonl", "--out", "mixed.jsonl"), "this is a file"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    arguments: tuple[str, ...],
    said: str,
    mixed: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(mixed.parent)
    before = sorted(mixed.parent.iterdir())
    assert main(["audit", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert sorted(mixed.parent.iterdir()) == before


def test_standard_input_cannot_be_gone_on_with(mixed: Path, tmp_path: Path) -> None:
    done = synthesis("audit", "-", "--resume", "x", cwd=tmp_path, stdin=mixed.read_bytes())
    assert done.returncode == 1
    assert "standard input cannot be read again" in done.stderr
    assert sorted(tmp_path.iterdir()) == [mixed]


def test_a_folder_with_an_audit_is_refused(mixed: Path, tmp_path: Path) -> None:
    assert synthesis("audit", "mixed.jsonl", "--out", "out", cwd=tmp_path).returncode == 0
    before = written(tmp_path / "out")
    again = synthesis("audit", "mixed.jsonl", "--out", "out", cwd=tmp_path)
    assert again.returncode == 1
    assert "an audit lies here already" in again.stderr
    resumed = synthesis("audit", "mixed.jsonl", "--resume", "out", cwd=tmp_path)
    assert resumed.returncode == 1
    assert "this audit is finished" in resumed.stderr
    assert written(tmp_path / "out") == before


def test_the_summary_of_many_turns_is_cut(tmp_path: Path) -> None:
    write_rows(tmp_path / "long.jsonl", [talk(*[KIND] * 30)])
    done = synthesis("audit", "long.jsonl", cwd=tmp_path)
    shown = [line.split()[0] for line in done.stdout.splitlines() if re.match(r" +(?:\d+\+?|…) ", line)]
    assert shown[: audit_summary.SHOWN_TURNS + 1] == [*map(str, range(1, 12)), "…", "21+"]
    assert "drift of agency_language" in done.stdout
