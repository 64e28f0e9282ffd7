"""A process that begins as a copy of this one, with all it has made ready; looked after as a `Popen` is."""

import gc
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

STDERR = 2
"""The last of the standard streams."""
DESCRIPTORS = Path("/proc/self/fd")
LOOK = 0.001
"""Seconds between two looks at whether it has ended."""


THREADS = Path("/proc/self/task")
"""All threads of this process, those that Python knows nothing of among them."""


def may_fork() -> bool:
    """Whether a copy is sound: a lock that another thread holds would stay locked in it for ever."""
    return THREADS.is_dir() and len(list(THREADS.iterdir())) == 1


class Forked:
    """Does `run` in a process group of its own, with these descriptors and the standard streams alone."""

    def __init__(self, run: Callable[[], None], descriptors: Collection[int]) -> None:
        self.returncode: int | None = None
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # or the copy would write it, too
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _begin(descriptors)
                run()
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                os._exit(1)  # nothing of the original's is ended here

    def poll(self) -> int | None:
        """Its exit code, or the number of the signal that ended it below nought; None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # where the end of a child is ignored, nobody knows how it was
                self.returncode = 0
                return self.returncode
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended; raises `TimeoutExpired` where that takes too long."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a worker", timeout or 0)
            time.sleep(LOOK)
        return code

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is None:  # otherwise its number may be another's by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _begin(descriptors: Collection[int]) -> None:
    gc.freeze()  # to look through what the original has made would copy it
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.setpgid(0, 0)
    with suppress(OSError):
        os.close(0)  # to list the others takes one, and there may be no more of them
    for descriptor in [int(path.name) for path in DESCRIPTORS.iterdir()]:
        if descriptor > STDERR and descriptor not in descriptors:
            os.close(descriptor)
    os.open(os.devnull, os.O_RDONLY)
