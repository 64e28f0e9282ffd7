"""Ctrl-C ends every command with a word and an exit code of ours."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from audits import many, write_rows
from engine_tasks import until
from scenario_files import command, environment, scenario, synthesis, write

SLOW = """
import time
from pathlib import Path

Path("ready").touch()
time.sleep(60)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "run", "--scenarios", "slow.py"),
        ("eval", "slow.py"),
        ("eval", "slow.py", "--list"),
    ],
)
def test_ctrl_c_is_told_and_ends_with_1(arguments: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path / "s.json", scenario())
    assert synthesis("eval", "s.json", "--out", "run", cwd=tmp_path).returncode == 0
    (tmp_path / "slow.py").write_text(SLOW)
    with subprocess.Popen(
        command(*arguments),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until((tmp_path / "ready").exists)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == "synthesis: interrupted"
    assert "Traceback" not in err


TOLD = """
import os, signal, sys
import distributed

owner, name = getattr(distributed, sys.argv[1]), sys.argv[2]
usual = getattr(owner, name)

def told(*arguments, **options):
    os.kill(os.getpid(), signal.SIGTERM)
    return usual(*arguments, **options)

setattr(owner, name, told)
del sys.argv[1:3]
from harness.cli import main
sys.exit(main())
"""
"""The real command; only it is told to end when it calls this."""


@pytest.mark.parametrize("when", [("LocalCluster", "__init__"), ("Client", "close")])
def test_told_to_end_while_a_cluster_begins_or_ends_it_leaves_none(
    when: tuple[str, str], tmp_path: Path
) -> None:
    write_rows(tmp_path / "logs.jsonl", many(3))
    with subprocess.Popen(
        [sys.executable, "-c", TOLD, *when, "audit", "logs.jsonl", "--quiet", "--engine", "dask"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (1, "", "synthesis: interrupted\n")
    until(lambda: not in_session(process.pid))


def in_session(number: int) -> list[list[str]]:
    """Who runs in it: of each its state, parent, group and session, and more."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            found.append(path.read_text().rpartition(")")[2].split())
    return [fields for fields in found if int(fields[3]) == number and fields[0] != "Z"]
