"""A process that begins as a copy: what it has, what it has not, and how it ends."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness import forked
from harness.forked import may_fork

BEGINNING = """
import os, signal, subprocess, sys, threading, time
from harness.forked import Forked, may_fork
"""


def run(code: str) -> str:
    """In a process of its own, which has one thread."""
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_does_what_it_is_told_and_says_how_it_ended() -> None:
    code = """
        calm, failed = Forked(lambda: os._exit(7), ()), Forked(lambda: None, ())
        print(calm.wait(10), calm.poll(), failed.wait(10))
        endless = Forked(lambda: time.sleep(60), ())
        try:
            endless.wait(0.05)
        except subprocess.TimeoutExpired:
            print(endless.poll())
        endless.terminate()
        print(endless.wait(10))
        killed = Forked(lambda: time.sleep(60), ())
        killed.kill()
        print(killed.wait(), killed.wait())
        killed.kill()
        killed.terminate()
    """
    assert run(code).split("\n") == ["7 7 1", "None", "-15", "-9 -9", ""]


def test_it_has_the_descriptors_it_is_given_and_no_other() -> None:
    code = """
        first, given = os.pipe()
        second, other = os.pipe()

        def tell():
            found = []
            for number in (given, first, second, other):
                try:
                    os.fstat(number)
                    found.append(number)
                except OSError:
                    pass
            os.write(given, b"yes" if found == [given] and os.read(0, 1) == b"" else repr(found).encode())
            os._exit(0)

        Forked(tell, [given]).wait(10)
        print(os.read(first, 100).decode())
    """
    assert run(code) == "yes\n"


def test_what_was_not_yet_written_is_written_once_and_an_error_ends_the_copy_alone() -> None:
    code = """
        print("once", end=" ")

        def fail():
            raise ValueError("in the copy")

        os.dup2(1, 2)
        print(Forked(fail, ()).wait(10))
    """
    once, *traceback, error, code_of_it = run(code).splitlines()
    assert (once, error, code_of_it) == (
        "once Traceback (most recent call last):",
        "ValueError: in the copy",
        "1",
    )
    assert len(traceback) > 0


def test_where_the_end_of_a_child_is_ignored_it_has_ended_all_the_same() -> None:
    code = """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        one = Forked(lambda: os._exit(7), ())
        print(one.wait(10))
        one.kill()
    """
    assert run(code) == "0\n"


def test_it_needs_no_more_descriptors_than_there_are() -> None:
    code = """
        import resource
        lots = [os.dup(1) for _ in range(20)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(lots) + 1, max(lots) + 1))
        print(Forked(lambda: os._exit(os.open(os.devnull, 0)), ()).wait(10))
    """
    assert run(code) == "3\n"


def test_it_is_in_a_group_of_its_own_and_hears_signals_as_any_program() -> None:
    code = """
        signal.signal(signal.SIGTERM, lambda *_: print("not here"))
        one = Forked(lambda: time.sleep(60), ())
        while os.getpgid(one.pid) == os.getpgid(0):
            time.sleep(0.01)
        one.terminate()
        print(one.wait(10))
    """
    assert run(code) == "-15\n"


def test_with_another_thread_there_is_no_copy() -> None:
    code = """
        print(may_fork())
        ends = threading.Event()
        thread = threading.Thread(target=ends.wait)
        thread.start()
        print(may_fork())
        ends.set()
        thread.join()
        until = time.monotonic() + 30
        while not may_fork() and time.monotonic() < until:
            time.sleep(0.01)  # the system may know it a little longer
        print(may_fork())
    """
    assert run(code) == "True\nFalse\nTrue\n"


def test_where_threads_cannot_be_counted_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forked, "THREADS", tmp_path / "missing")
    assert not may_fork()
    (tmp_path / "missing" / "1").mkdir(parents=True)
    assert may_fork()
