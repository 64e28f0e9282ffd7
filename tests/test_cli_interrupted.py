"""Ctrl-C ends every command with a word and an exit code of ours."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
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
        until = time.monotonic() + 30
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == "synthesis: interrupted"
    assert "Traceback" not in err
