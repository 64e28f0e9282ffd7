"""An audit that is killed or interrupted goes on where it stopped and ends with the same bytes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from audits import KIND, lines, many, synthesis, talk, write_rows, written

SAVING_ALWAYS = """
import sys
import harness.audit
harness.audit.SAVE_EVERY = 0.0
from harness.cli import main
sys.exit(main())
"""
"""The real command; only it saves after every part, so that there is something to go on with at once."""
FILES = 40


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Each file is a part of its own, the bad rows among them."""
    for number in range(FILES):
        path = write_rows(tmp_path / "logs" / f"{number:02d}.jsonl", many(12, worst=1 + number % 4))
        if number % 7 == 0:
            with path.open("a") as file:
                file.write("not JSON\n")
    return tmp_path / "logs"


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SAVING_ALWAYS, "audit", "logs", "--max-rejects", "99", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def parts_done(folder: Path) -> int:
    try:
        done = json.loads((folder / "progress.json").read_bytes())["parts"]
    except (OSError, ValueError):
        return -1
    return int(done)


def wait_for(process: subprocess.Popen[str], folder: Path, parts: int) -> None:
    until = time.monotonic() + 60
    while parts_done(folder) < parts and process.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)


@pytest.mark.parametrize("more", [(), ("--engine", "processes:2"), ("--redact", "--sample", "300")])
def test_killed_at_any_moment_it_ends_with_the_same_bytes(
    more: tuple[str, ...], logs: Path, tmp_path: Path
) -> None:
    assert (
        synthesis("audit", "logs", "--max-rejects", "99", *more, "--out", "whole", cwd=tmp_path).returncode
        == 0
    )
    chance = random.Random(len(more))
    killed: list[int] = []
    process = start(tmp_path, "--out", "torn", *more)
    while True:
        wait_for(process, tmp_path / "torn", chance.randint(1, FILES - 5) if not killed else killed[-1] + 6)
        time.sleep(chance.random() * 0.01)
        process.kill()
        process.communicate()
        if process.returncode == 0 or not (tmp_path / "torn" / "progress.json").exists():
            break  # it had put everything in place, and was only about to leave
        killed.append(max(0, parts_done(tmp_path / "torn")))
        assert len(killed) < 30
        with (tmp_path / "torn" / "findings.jsonl").open("ab") as file:
            file.write(b'{"half": "a li')
        process = start(tmp_path, "--resume", "torn", *more)
    assert any(0 < parts < FILES for parts in killed), "it was never killed in the middle"
    assert written(tmp_path / "torn") == written(tmp_path / "whole")
    assert sorted(path.name for path in (tmp_path / "torn").iterdir()) == [
        "audit.json", "findings.jsonl", "rejects.jsonl",
    ]  # fmt: skip


TIDYING_ONCE = """
import os, signal, sys
from pathlib import Path
unlink = Path.unlink
def unlink_and_die(path, missing_ok=False):
    unlink(path, missing_ok)
    if "progress.json" in path.name:
        os.kill(os.getpid(), signal.SIGKILL)
Path.unlink = unlink_and_die
from harness.cli import main
sys.exit(main())
"""
"""The real command; only it is killed when it has removed the first file that is of no more use."""


def test_killed_while_it_tidies_up_it_leaves_nothing_behind_when_it_goes_on(
    logs: Path, tmp_path: Path
) -> None:
    assert synthesis("audit", "logs", "--max-rejects", "99", "--out", "whole", cwd=tmp_path).returncode == 0
    place = torn(tmp_path)
    (place / ".progress.json.half").touch()
    (place / ".audit.json.half").touch()
    going_on = ["audit", "logs", "--max-rejects", "99", "--resume", "torn"]
    killed = subprocess.run(
        [sys.executable, "-c", TIDYING_ONCE, *going_on], cwd=tmp_path, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    done = synthesis(*going_on, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert written(place) == written(tmp_path / "whole")
    assert sorted(path.name for path in place.iterdir()) == ["audit.json", "findings.jsonl", "rejects.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_how_to_go_on(number: signal.Signals, logs: Path, tmp_path: Path) -> None:
    assert synthesis("audit", "logs", "--max-rejects", "99", "--out", "whole", cwd=tmp_path).returncode == 0
    process = start(tmp_path, "--out", "torn")
    wait_for(process, tmp_path / "torn", 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, ""), err
    assert "stopped; go on with:" in err
    assert "Traceback" not in err
    assert 3 <= parts_done(tmp_path / "torn") < FILES
    assert not (tmp_path / "torn" / "audit.json").exists()
    *_, again = err.strip().splitlines()
    words = again.split()
    assert words[:3] == ["synthesis", "audit", "logs"]
    assert words[-2:] == ["--resume", "torn"]
    done = synthesis(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path / "torn") == written(tmp_path / "whole")


def torn(folder: Path) -> Path:
    """An audit that was stopped after some parts."""
    process = start(folder, "--out", "torn")
    wait_for(process, folder / "torn", 3)
    process.kill()
    process.communicate()
    assert 0 < parts_done(folder / "torn") < FILES
    return folder / "torn"


def test_it_only_goes_on_with_the_same_files_and_options(logs: Path, tmp_path: Path) -> None:
    place = torn(tmp_path)
    before = (place / "progress.json").read_bytes()

    def refused(*options: str) -> str:
        done = synthesis("audit", "logs", "--max-rejects", "99", "--resume", "torn", *options, cwd=tmp_path)
        assert done.returncode == 1
        assert (place / "progress.json").read_bytes() == before
        return done.stderr

    for options in (("--redact",), ("--checks", "topic_pivot"), ("--where", "tag=odd"), ("--sample", "5")):
        assert "other options, words or version" in refused(*options)
    first = logs / "00.jsonl"
    content = first.read_bytes()
    first.write_bytes(content.replace(b"c-1", b"c-X"))
    assert "other files" in refused()
    first.write_bytes(content)
    os.utime(first, (1, 1))
    other = ("--min-mean", "0", "--engine", "processes:1")
    done = synthesis("audit", "logs", "--max-rejects", "99", *other, "--resume", "torn", cwd=tmp_path)
    assert done.returncode == 0, "thresholds and engines may change, and so may times of files"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b'{"inputs": 1}', b"\xff", b"[" * 100_000])
def test_a_state_that_cannot_be_read_is_said(content: bytes, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", [talk(KIND)])
    place = tmp_path / "torn"
    place.mkdir()
    (place / "findings.jsonl").touch()
    (place / "progress.json").write_bytes(content)
    done = synthesis("audit", "rows.jsonl", "--resume", "torn", cwd=tmp_path)
    assert done.returncode == 1
    assert "how far it came cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_findings_file_that_lost_something_is_not_gone_on_with(logs: Path, tmp_path: Path) -> None:
    place = torn(tmp_path)
    (place / "findings.jsonl").write_bytes(b"")
    done = synthesis("audit", "logs", "--max-rejects", "99", "--resume", "torn", cwd=tmp_path)
    assert done.returncode == 1
    assert "shorter than the audit left it" in done.stderr


@pytest.mark.parametrize("name", ["findings.jsonl", "rejects.jsonl", "progress.json", "audit.json"])
def test_a_link_does_not_lead_what_is_written_elsewhere(name: str, logs: Path, tmp_path: Path) -> None:
    place = torn(tmp_path)
    outside = tmp_path / "outside"
    content = (place / name).read_bytes() if (place / name).exists() else b"precious"
    outside.write_bytes(content)
    (place / name).unlink(missing_ok=True)
    (place / name).symlink_to(outside)
    done = synthesis("audit", "logs", "--max-rejects", "99", "--resume", "torn", cwd=tmp_path)
    assert done.returncode == 1
    assert "a link lies where the run writes" in done.stderr
    assert outside.read_bytes() == content


def test_a_file_that_changes_meanwhile_ends_the_audit_with_a_word(logs: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "--out", "torn")
    wait_for(process, tmp_path / "torn", 2)
    with (logs / f"{FILES - 1}.jsonl").open("a") as file:
        file.write("more\n")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "changed while it was read" in err
    assert "Traceback" not in err
    assert len(lines(tmp_path / "torn" / "findings.jsonl")) > 0
