"""Work for engines to do in tests: functions of a module, so that every worker can find them."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import Place, Problems, SynthesisError

PATIENCE = 40.0
"""Seconds that anything here waits before it gives up; on a good day it is over in one."""


def square(number: int) -> int:
    return number * number


def backwards(number: int) -> int:
    """Later tasks are done sooner."""
    time.sleep(0.02 * (number % 3 == 0))
    return number


def payload(size: int) -> bytes:
    return b"x" * size


def process(_: int) -> int:
    return os.getpid()


def complain_at_three(number: int) -> int:
    if number == 3:
        raise SynthesisError("three", where=Place("numbers") / 3, fix="count differently")
    return number


def many_complaints(number: int) -> int:
    raise Problems([SynthesisError("one"), SynthesisError("two", fix="mend it")])


class StubbornError(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def stubborn(number: int) -> int:
    raise StubbornError("cannot be", " pickled")


def leave(number: int) -> int:
    sys.exit("left")


def unpicklable(number: int) -> object:
    return threading.Lock()


class _Unloadable:
    def __reduce__(self) -> tuple[object, ...]:
        return _refuse, ()


def _refuse() -> None:
    raise pickle.UnpicklingError("not here")


def unloadable_task() -> object:
    return _Unloadable()


def slow_once(place: tuple[Path, int]) -> int:
    """Every attempt leaves a line; the first at task 4 says its process and then takes longer than a test."""
    folder, number = place
    with (folder / "attempts").open("a") as attempts:
        attempts.write(f"{number}\n")
    if number == 4 and not (folder / "victim").exists():
        (folder / "victim.part").write_text(str(os.getpid()))
        (folder / "victim.part").rename(folder / "victim")
        time.sleep(PATIENCE)
    return number


class _SlowToWrite:
    """Takes longer than a test to be written down, the first time in this folder; says its process before."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[object, ...]:
        slow_once((self._folder, 4))
        return str, ("written",)


def slowly_written(place: tuple[Path, int]) -> list[object]:
    """Task 4 is done at once; its result is large, and takes long to be written."""
    folder, number = place
    large = bytes([number]) * 2_000_000
    return [large, _SlowToWrite(folder), large] if number == 4 else [large]


def deadly(number: int) -> int:
    """Task 7 kills whoever does it."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number


def deadly_noted(place: tuple[Path, int]) -> int:
    """Task 7 leaves a line and kills whoever does it."""
    folder, number = place
    if number == 7:
        with (folder / "deaths").open("a") as deaths:
            deaths.write("x\n")
    return deadly(number)


def endless(folder: Path) -> None:
    """Says its process, then goes on for longer than a test, and ends the program it started when told to."""
    code = f"import time; time.sleep({PATIENCE})"
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", code], stdout=quiet, stderr=quiet) as program:
        try:
            name = folder / f"{os.getpid()}-{program.pid}"
            name.with_suffix(".busy").touch()
            time.sleep(PATIENCE)
        finally:
            program.kill()


def until(condition: Callable[[], object]) -> None:
    """Wait for it, but not for ever."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@contextmanager
def killed_when_there(victim: Path) -> Iterator[None]:
    """As soon as the file names a process, that process is killed."""

    def kill() -> None:
        until(victim.exists)
        os.kill(int(victim.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        killer.join()


def alive(pid: int) -> bool:
    """Whether it runs; a process that nobody has waited for yet is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(pid: int) -> set[int]:
    """All that descend from it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (ValueError, OSError):
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}
