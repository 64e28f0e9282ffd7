"""Start a program within limits, watch over all it starts, and leave nothing of it behind.

Run as a program, with the standard library alone: `python sandbox_launcher.py LIMITS COMMAND…`, where
LIMITS is JSON: `rlimits` by name, `processes` (with their threads, all together) beside the `wrapper`
(those that COMMAND needs for itself), `drop` (whether to give up what root may do). The command's stderr
joins its stdout; on stderr speaks only this program, to say which limit was passed. It ends with the
command, or when it is asked to (SIGTERM), or when whoever started it dies, and with it ends every
descendant, also one that went into a session of its own: orphans come to us (PR_SET_CHILD_SUBREAPER).

Processes are counted here because RLIMIT_NPROC is ignored for root, and for others counts all the user has.
Counting alone is outrun by a program that forks without end, so the kernel is given a limit as well, of
twice as many: a cgroup where one can be made, else RLIMIT_NPROC. As root without a cgroup there is only the
counting.
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

_PDEATHSIG, _SUBREAPER, _CAPBSET_DROP, _SECUREBITS, _NO_NEW_PRIVILEGES = 1, 36, 24, 28, 38
_NO_ROOT_LOCKED = 0b1111  # root is a user like any other, and programs it starts stay so
_CAPABILITIES_3 = 0x20080522
_INTERVAL = 0.02
_SHARE, _LONGEST = 20, 0.2
"""Counting takes at most one part in so many of a processor's time, but happens after so many seconds."""
_GROUPS = "/sys/fs/cgroup"
_LINUX = sys.platform == "linux"


def prctl(option: int, value: int) -> None:
    """Set something about this process; only Linux has it."""
    if _LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def drop_privileges() -> None:
    """What root may do beyond its own files; a program that is started does not get it back."""
    for capability in range(64):
        prctl(_CAPBSET_DROP, capability)
    prctl(_SECUREBITS, _NO_ROOT_LOCKED)
    prctl(_NO_NEW_PRIVILEGES, 1)
    if _LINUX:
        header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None).capset(header, none)


class Group:
    """A cgroup for no more than so many processes and threads; `path` is empty where none can be made."""

    def __init__(self, most: int) -> None:
        self.path = ""
        for parent in self._parents() if _LINUX else ():
            path = f"{parent}/synthesis-{os.getpid()}"
            with suppress(OSError):
                os.mkdir(path)  # noqa: PTH102 - with as little as can be
                try:
                    put(f"{path}/pids.max", str(most))
                except OSError:
                    self._remove(path)
                else:
                    self.path = path
                    return

    @staticmethod
    def _parents() -> list[str]:
        """Our own group; in the second version of cgroups one with processes has no limited groups in it."""
        with open("/proc/self/cgroup", encoding="utf-8") as file:  # noqa: PTH123
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        first = [f"{_GROUPS}/pids{path}" for _, kinds, path in lines if "pids" in kinds.split(",")]
        second = [f"{_GROUPS}{path}" for number, _, path in lines if number == "0"]
        return first or [*second, *(path.rpartition("/")[0] for path in second)]

    def enter(self) -> None:
        """In the child: it and all that comes of it are counted there."""
        if self.path:
            put(f"{self.path}/cgroup.procs", "0")

    def refused(self) -> bool:
        """Whether it was full when another process was to be started."""
        if not self.path:
            return False
        with suppress(OSError), open(f"{self.path}/pids.events", encoding="utf-8") as file:  # noqa: PTH123
            return file.read().split()[1] != "0"
        return False

    def leave(self) -> None:
        """Once nothing is in it."""
        if self.path:
            self._remove(self.path)

    @staticmethod
    def _remove(path: str) -> None:
        with suppress(OSError):
            os.rmdir(path)  # noqa: PTH106 - with as little as can be


def put(path: str, text: str) -> None:
    """Write to a file that is there already, as those of the kernel are."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def own_tasks() -> int:
    """Processes and threads of this user, which RLIMIT_NPROC counts all together."""
    total = 0
    for number, _, threads in processes() if _LINUX else ():
        with suppress(OSError):
            total += threads if os.stat(f"/proc/{number}").st_uid == os.getuid() else 0  # noqa: PTH116
    return total


def become(command: list[str], limits: dict[str, int], *, drop: bool) -> None:
    """In the child: its own session, the limits, then the command itself."""
    os.setsid()
    prctl(_PDEATHSIG, signal.SIGKILL)
    os.dup2(1, 2)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    for name, wanted in limits.items():
        kind = getattr(resource, name)
        most = resource.getrlimit(kind)[1]
        value = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        with suppress(ValueError, OSError):  # macOS knows some limits and does not let them be set
            resource.setrlimit(kind, (value, value))
    if drop:
        drop_privileges()
    os.execvp(command[0], command)  # noqa: S606 - the point of it


def processes() -> Iterator[tuple[int, int, int]]:
    """Every process there is: its number, its parent's, how many threads it has."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - often, so fast
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - often, so fast
                fields = file.read().rpartition(b")")[2].split()
                yield int(name), int(fields[1]), int(fields[17])


def descendants() -> dict[int, int]:
    """All that came from this process, with the number of their threads."""
    if not _LINUX:
        return {}
    threads: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for number, parent, count in processes():
        threads[number] = count
        children.setdefault(parent, []).append(number)
    found: dict[int, int] = {}
    waiting = list(children.get(os.getpid(), ()))
    while waiting:
        number = waiting.pop()
        found[number] = threads[number]
        waiting += children.get(number, ())
    return found


def newest() -> bytes:
    """Something that differs once any process or thread was started on the machine."""
    if not _LINUX:
        return b""
    with open("/proc/loadavg", "rb") as file:  # noqa: PTH123 - often, so fast
        return file.read().split()[-1]


class Watch:
    """One command and what comes of it."""

    def __init__(self, most: int, wrapper: int) -> None:
        self.child = 0
        self.most = most
        self.wrapper = wrapper
        self.status: int | None = None
        self.asked = False
        self._seen = b""
        self._next = 0.0

    def until_over(self, woken: int) -> bool:
        """Wait for the end of the command; true where it has too many processes for that."""
        while self.status is None and not self.asked:
            if self._too_many():
                return True
            select.select([woken], [], [], _INTERVAL)
            with suppress(BlockingIOError):
                os.read(woken, 4096)
            self.collect()
        return False

    def _too_many(self) -> bool:
        started = time.monotonic()
        if started < self._next or (latest := newest()) == self._seen:
            return False
        self._seen = latest
        count = sum(descendants().values())
        self._next = started + min(_SHARE * (time.monotonic() - started), _LONGEST)
        return count > self.most + self.wrapper

    def collect(self) -> bool:
        """Take in whatever has ended; false once nothing is left."""
        with suppress(ChildProcessError):
            while True:
                number, status = os.waitpid(-1, os.WNOHANG)
                if number == 0:
                    return True
                if number == self.child:
                    self.status = os.waitstatus_to_exitcode(status)
        return False

    def end_all(self) -> None:
        """Kill until there is nobody left to wait for; groups as a whole, which forking does not outrun."""
        while self.collect():
            for number in descendants() or [self.child]:
                with suppress(ProcessLookupError):
                    group = os.getpgid(number)
                    if group not in (0, os.getpgrp()):
                        os.killpg(group, signal.SIGKILL)
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.001)


def main(settings: str, command: list[str]) -> int:
    """Run the command to its end; its exit code, or 128 and the number of the signal that ended it."""
    given = json.loads(settings)
    parent = os.getppid()
    prctl(_SUBREAPER, 1)
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    watch = Watch(given["processes"], given["wrapper"])
    signal.signal(signal.SIGTERM, lambda *_: setattr(watch, "asked", True))
    signal.signal(signal.SIGINT, lambda *_: setattr(watch, "asked", True))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    prctl(_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return 1
    hard = 2 * given["processes"] + given["wrapper"]
    group = Group(hard)
    if not group.path and os.getuid() != 0:
        given["rlimits"]["RLIMIT_NPROC"] = own_tasks() + hard
    watch.child = os.fork()
    if watch.child == 0:
        try:
            group.enter()
            become(command, given["rlimits"], drop=given["drop"])
        except OSError as error:
            os.write(1, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)
    if watch.until_over(woken) or group.refused():
        sys.stderr.write(f"more than {watch.most} processes and threads")
    watch.end_all()
    group.leave()
    code = watch.status if watch.status is not None else -signal.SIGKILL
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
