"""Case files of any size: blocks, engines and ids, with the same report from all of them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from harness import check, check_file, run_all_cases
from harness.cases import MOST_PROBLEMS, load_cases
from harness.check_file import CheckOptions
from harness.checkers import topic_pivot
from harness.engine import open_engine
from harness.errors import Problems, SynthesisError
from harness.records import Turn
from harness.report import write_report
from harness.settings import CheckSettings

REPLIES = [
    "You'll be fine, I promise.",
    "That is so hard. What happened, if you want to tell me?",
    "Anyway, have you tried pottery?\n- Rest\n- Walk",
    "“You should quit,” he said. Do you feel like it? 😀",
]


def row(number: int, **more: object) -> str:
    case: dict[str, object] = {
        "id": f"CASE-{number}",
        "user": f"My husband left me {number} days ago and I can't stop crying.",
        "assistant": f"{REPLIES[number % len(REPLIES)]} It is day {number}.",
        "checks": ["agency_language", "topic_pivot", "unverifiable_reassurance"],
        "expected": {"topic_pivot": number % 2 == 0},
        "tags": [f"slice:{number % 3}"] if number % 5 else ["x-fail"],
    }
    return json.dumps(case | more)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(row(number) for number in range(300)) + "\n", "utf-8")
    return path


def checked(cases: Path, out: Path, engine: str = "local") -> dict[str, object]:
    options = CheckOptions(CheckSettings(), str(cases))
    with open_engine(engine) as opened:
        check_file.check_file(str(cases), out, options, opened)
    return without_timing(out)


def without_timing(report: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(report.read_bytes())
    del found["timing"]
    return found


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_blocks_of_any_size_make_the_report_that_the_list_makes(
    size: int, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_file, "BLOCK", size)
    found = checked(cases, tmp_path / "blocks.json")
    whole = without_timing(write_report(run_all_cases(load_cases(cases)), tmp_path / "list.json"))
    assert isinstance(found["stamp"], dict)
    assert isinstance(whole["stamp"], dict)
    assert found["stamp"].pop("cases_sha256") != whole["stamp"].pop(
        "cases_sha256"
    )  # of the file, of the cases
    assert found == whole
    assert [list(found), len((tmp_path / "blocks.json").read_bytes().splitlines())] == [
        list(whole), len((tmp_path / "list.json").read_bytes().splitlines()),
    ]  # fmt: skip


@pytest.mark.parametrize("engine", ["local", "processes:2"])
def test_blank_lines_are_nothing_however_many_there_are(
    engine: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_file, "BLOCK", 1000)
    spaced = tmp_path / "spaced.jsonl"
    half = len(cases.read_bytes()) // 2
    first, _, second = cases.read_bytes()[half:].partition(b"\n")
    blank = b"\n" * 9000
    spaced.write_bytes(blank + cases.read_bytes()[:half] + first + blank + b"\n" + second + blank)
    found, whole = checked(spaced, tmp_path / "a.json", engine), checked(cases, tmp_path / "b.json")
    assert (found["results"], found["summary"]) == (whole["results"], whole["summary"])
    assert found["failures"] == whole["failures"] != []


def test_what_the_core_leaves_is_looked_at_together_and_the_core_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = tmp_path / "greek.jsonl"
    cases.write_text("\n".join(row(number, assistant="ΣΑΣ. You must rest.") for number in range(20)), "utf-8")
    prepared: list[int] = []
    prepare = topic_pivot.prepare

    def noted(turns: Sequence[Turn], settings: CheckSettings) -> None:
        prepared.append(len(turns))
        prepare(turns, settings)

    def refused(*_: object) -> None:
        raise AssertionError("the core has been asked before")

    monkeypatch.setattr(topic_pivot, "prepare", noted)
    monkeypatch.setattr(check, "quick_results", refused)
    assert len(cast("list[object]", checked(cases, tmp_path / "greek.json")["results"])) == 20
    assert prepared == [20]


LIMITED = """
import resource, sys
from harness.cli import main
resource.setrlimit(getattr(resource, sys.argv.pop(1)), (int(sys.argv[1]), int(sys.argv.pop(1))))
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("limit", "most", "workers", "said"),
    [
        ("RLIMIT_NOFILE", 40, 40, "a worker cannot be started"),
        ("RLIMIT_FSIZE", 100_000, 2, "what workers share cannot be written"),
    ],
)
def test_what_the_system_does_not_allow_is_told(
    limit: str, most: int, workers: int, said: str, cases: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large.jsonl"
    large.write_text("\n".join(row(number) for number in range(60_000)), "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LIMITED,
            limit,
            str(most),
            "check",
            str(large),
            "--engine",
            f"processes:{workers}",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("check", "-"), ("check", "-", "--engine", "processes:2"), ("audit", "-", "--sample", "9")]
)
def test_where_standard_input_cannot_be_put_aside_that_is_told(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "RLIMIT_FSIZE", "100000", *arguments],
        cwd=tmp_path,
        input="\n".join(row(number) for number in range(2_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "what is put aside cannot be written: File too large\n  fix: make room there" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit is not kept")
@pytest.mark.parametrize("engine", ["local", "processes:2"])
def test_where_memory_runs_out_that_is_told(engine: str, tmp_path: Path) -> None:
    lines = [row(1), row(2, assistant="You must go. " * 3_000_000), row(3)]
    (tmp_path / "large.jsonl").write_text("\n".join(lines), "utf-8")
    arguments = ("check", "large.jsonl", "--engine", engine)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "RLIMIT_AS", str(600 << 20), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("synthesis: memory ran out\n  fix: look for a line of many megabytes")
    assert not (tmp_path / "out").exists()


def test_nothing_but_the_folder_of_the_report_is_written_to(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures take as much room as the report; a full disk is to be that of the report."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert checked(cases, tmp_path / "report.json")["failures"] != []


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, cases: Path, tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m harness check "{cases}" --engine processes:2 --out report.json {closed}'
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert (
        without_timing(tmp_path / "report.json")["results"] == checked(cases, tmp_path / "b.json")["results"]
    )


@pytest.mark.parametrize("engine", ["processes:1", "processes:3", "dask"])
def test_every_engine_gives_the_same_bytes(
    engine: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_file, "BLOCK", 5000)
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    checked(cases, here)
    checked(cases, there, engine)
    assert here.read_bytes().partition(b'"timing"')[0] == there.read_bytes().partition(b'"timing"')[0]


def test_workers_killed_in_the_middle_change_nothing(tmp_path: Path) -> None:
    cases = tmp_path / "many.jsonl"
    cases.write_text("\n".join(row(number) for number in range(80_000)) + "\n", "utf-8")
    command = [sys.executable, "-m", "harness", "check", str(cases), "--engine", "processes:2", "--out"]
    process = subprocess.Popen(
        [*command, str(tmp_path / "torn.json")],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    killed: set[int] = set()
    deadline = time.monotonic() + 120
    while process.poll() is None and len(killed) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
        for worker in children(process.pid) - killed:
            os.kill(worker, signal.SIGKILL)
            killed.add(worker)
            break
    _, said = process.communicate(timeout=240)
    assert process.returncode == 2, said
    assert len(killed) == 3
    assert said == b""
    done = subprocess.run(
        [*command[:-3], "--out", str(tmp_path / "whole.json")], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert without_timing(tmp_path / "torn.json") == without_timing(tmp_path / "whole.json")


@pytest.mark.parametrize("engine", ["local", "processes:2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_leaves_nothing_behind(engine: str, number: int, tmp_path: Path) -> None:
    cases = tmp_path / "many.jsonl"
    cases.write_text("\n".join(row(number) for number in range(150_000)) + "\n", "utf-8")
    (tmp_path / "out").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "check", str(cases), "--engine", engine],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while (
        not any(path.stat().st_size for path in (tmp_path / "out").iterdir()) and time.monotonic() < deadline
    ):
        time.sleep(0.005)
    workers = children(process.pid)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, b"synthesis: interrupted\n")
    assert list((tmp_path / "out").iterdir()) == []
    assert len(workers) == (2 if engine == "processes:2" else 0)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def children(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def test_an_id_used_twice_is_found_across_blocks_and_told_with_its_line(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_file, "BLOCK", 1000)
    with cases.open("a", encoding="utf-8") as file:
        file.write(row(7) + "\n" + row(301, checks=["nope"]) + "\n")
    with pytest.raises(Problems) as raised:
        checked(cases, tmp_path / "report.json")
    assert [
        str(problem).partition("\n")[0].removeprefix(f"{cases}:") for problem in raised.value.problems
    ] == [
        '301: CASE-7:/id: the id "CASE-7" was used in line 8',
        '302: CASE-301:/checks/0: unknown check "nope"',
    ]
    assert list(tmp_path.glob("*report.json*")) == []


def test_of_a_file_of_another_kind_no_more_is_told_than_anybody_reads(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"message": "x"}\n' * 3000)
    with pytest.raises(Problems) as raised:
        checked(file, tmp_path / "report.json")
    *problems, last = map(str, raised.value.problems)
    assert MOST_PROBLEMS <= len(problems) < 2 * MOST_PROBLEMS
    lines = [int(problem.removeprefix(f"{file}:").partition(":")[0]) for problem in problems]
    assert (lines[0], set(lines)) == (1, set(range(1, lines[-1] + 1)))
    told = f"{file}:{lines[-1]}: {len(problems)} problems up to here; what follows was not looked at"
    assert last.startswith(told)


def test_a_file_without_cases_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n \n")
    with pytest.raises(SynthesisError, match="there are no cases in it"):
        checked(empty, tmp_path / "report.json")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]
