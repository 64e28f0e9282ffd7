"""Sandboxes for tests, at every level the machine has."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.sandbox import LEVELS, Level, Limits, Sandbox, unavailable

at_every_level = pytest.mark.parametrize("level", LEVELS)


def sandbox(level: Level, folder: Path, **limits: float) -> Sandbox:
    """In a folder of its own; skips where the machine has no such level, but CI has bubblewrap or fails."""
    if why := unavailable(level):
        if level == "bubblewrap" and os.environ.get("CI") == "true":
            pytest.fail(f"CI has to have bubblewrap: {why}")
        pytest.skip(f"no {level} on this machine: {why}")
    for name in ("workspace", "private"):
        (folder / name).mkdir(exist_ok=True)
    return Sandbox(level, folder / "workspace", folder / "private", Limits.model_validate(limits))


def marked(mark: str) -> list[int]:
    """Processes with this in their command line, also those with a process table of their own."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], within: float = 10) -> bool:
    deadline = time.monotonic() + within
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
