"""Programs that are not trusted: started within limits, held to a workspace as firmly as the machine can.

Three levels, each with all of the one before: `limits` bounds what a program may use up, `landlock` (of the
Linux kernel) also holds it to its files, `bubblewrap` gives it a file system, a network and a process table
of its own. `contains` says what each of them holds back, and what it does not.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import orjson
from pydantic import Field

from harness import landlock
from harness.errors import SynthesisError
from harness.process import Launch
from harness.records import Record
from harness.transcript import SandboxLevel

Level = SandboxLevel
LEVELS: tuple[Level, ...] = get_args(SandboxLevel)
"""Weakest first."""

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
"""The interpreter outside any virtual environment: one folder tree that can be shown to a sandbox."""
ISOLATED = ("-s", "-P", "-S")
"""No site packages and no path from outside. Not -I: that also ignores PYTHONHASHSEED, and the order of a set
would differ from run to run."""

_HERE = Path(__file__).parent
_ROOT_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("alternatives", "group", "ld.so.cache", "localtime", "nsswitch.conf", "passwd")
_ETC_OF_NETWORK = ("ca-certificates", "hosts", "pki", "resolv.conf", "ssl")
_DEVICES = ("/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
_MEGABYTE = 2**20
_OPEN_FILES = 256
_TRIAL_SECONDS = 20
_SET_DUMPABLE = 4


class Limits(Record):
    """What one program, with all it starts, may use; memory and files are limited each for itself."""

    seconds: float = Field(default=30, gt=0, description="for one piece of code or one command")
    memory_mb: int = Field(default=512, ge=64, description="address space of each process")
    output: int = Field(default=2**20, ge=1, description="bytes kept of what it prints")
    processes: int = Field(default=64, ge=1, description="processes and threads, all together")
    file_mb: int = Field(default=64, ge=1, description="size of each file it writes")


class Containment(Record):
    """What a level holds back, true for each thing it does; that limits are kept is true of all of them."""

    reading: bool = Field(description="files outside cannot be read")
    writing: bool = Field(description="files outside cannot be written, made, removed or emptied")
    attributes: bool = Field(description="modes and times of files outside cannot be changed, nor names seen")
    tcp: bool = Field(description="no TCP connection, this machine's own included")
    udp: bool = Field(description="no UDP, so no name is looked up either")
    sockets: bool = Field(description="no Unix socket of another program can be reached")
    signals: bool = Field(description="processes outside cannot be signalled")
    processes: bool = Field(description="processes outside cannot be seen")


def contains(level: Level) -> Containment:
    """The truth about a level on this machine, for a sandbox without network."""
    version = landlock.abi() if level == "landlock" else 0
    whole = level == "bubblewrap"
    return Containment(
        reading=whole or version > 0,
        writing=whole or version >= landlock.TRUNCATES,
        attributes=whole,
        tcp=whole or version >= landlock.TCP,
        udp=whole,
        sockets=whole,
        signals=whole or version >= landlock.SCOPES,
        processes=whole or version > 0,
    )


@dataclass(frozen=True)
class Sandbox:
    """Where programs run: `workspace` is theirs, and of `private` the folders `home` and `tmp` are.

    `shown`, a folder in `private`, can be read as well; where reading is held, nothing else of it can be.
    """

    level: Level
    workspace: Path
    private: Path
    limits: Limits = field(default_factory=Limits)
    network: bool = False
    shown: Path | None = None

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"{self.level!r} is no level of containment")
        for name in ("workspace", "private"):  # a launcher starts in the former: relative ones would mislead
            object.__setattr__(self, name, getattr(self, name).absolute())

    @property
    def path(self) -> str:
        """Where programs are looked for."""
        return f"/usr/local/bin:/usr/bin:/bin:{Path(PYTHON).parent}"

    def inside(self, path: Path) -> str:
        """What a path in the workspace or in the private folder is called in the sandbox."""
        path = path.absolute()
        if self.level != "bubblewrap":
            return str(path)
        if path.is_relative_to(self.workspace):
            return str("/workspace" / path.relative_to(self.workspace))
        return str("/private" / path.relative_to(self.private))

    def launch(
        self, command: Sequence[str], environment: Mapping[str, str], fds: tuple[int, ...] = ()
    ) -> Launch:
        """A program that Program starts; it sees of our environment nothing but what is given here.

        Its stderr joins its stdout; `errors` of that Program says which limit was passed, if one was.
        """
        if self.level == "limits":
            hide_environment()
        for name in ("home", "tmp"):
            (self.private / name).mkdir(exist_ok=True)
        launcher = [PYTHON, "-I", "-S", str(_HERE / "sandbox_launcher.py"), self._settings()]
        return Launch(
            [*launcher, *self._wrapper(), *command],
            self.workspace,
            self._environment() | dict(environment),
            self.limits.output,
            fds,
        )

    def _settings(self) -> str:
        wrapped = self.level == "bubblewrap"
        settings = {
            "rlimits": {
                "RLIMIT_AS": self.limits.memory_mb * _MEGABYTE,
                "RLIMIT_FSIZE": self.limits.file_mb * _MEGABYTE,
                "RLIMIT_NOFILE": _OPEN_FILES,
                "RLIMIT_CORE": 0,
            },
            "processes": self.limits.processes,
            "wrapper": 2 if wrapped else 0,  # bubblewrap itself is two processes
            "drop": not wrapped,  # bubblewrap needs what root may do, and drops it itself
        }
        return orjson.dumps(settings).decode()

    def _environment(self) -> dict[str, str]:
        return {
            "HOME": self.inside(self.private / "home"),
            "LANG": "C.UTF-8",
            "PATH": self.path,
            "PYTHONHASHSEED": "0",
            "TMPDIR": self.inside(self.private / "tmp"),
        }

    def _wrapper(self) -> list[str]:
        if self.level == "bubblewrap":
            return [*self._bubblewrap()]
        if self.level == "landlock":
            return [PYTHON, "-I", "-S", str(_HERE / "landlock.py"), self._landlock_rules()]
        return []

    def _landlock_rules(self) -> str:
        own = [self.workspace, self.private / "home", self.private / "tmp"]
        shown = [str(self.shown)] if self.shown else []
        rules = {
            "read": ["/usr", *_ROOT_FOLDERS, *self._etc(), sys.base_prefix, *shown],
            "write": [*map(str, own), *_DEVICES],
            "network": self.network,
        }
        return orjson.dumps(rules).decode()

    def _etc(self) -> list[str]:
        return [f"/etc/{name}" for name in (*_ETC, *(_ETC_OF_NETWORK if self.network else ()))]

    def _bubblewrap(self) -> Iterator[str]:
        yield from (_bubblewrap_program(), "--unshare-all", "--die-with-parent", "--new-session")
        yield from ("--cap-drop", "ALL")  # as root it would keep them all
        yield from ("--share-net",) if self.network else ()
        yield from ("--ro-bind", "/usr", "/usr")
        for folder in map(Path, _ROOT_FOLDERS):
            if folder.is_symlink():
                yield from ("--symlink", str(folder.readlink()), str(folder))
            elif folder.is_dir():
                yield from ("--ro-bind", str(folder), str(folder))
        for path in self._etc():
            yield from ("--ro-bind-try", path, path)
        if not Path(sys.base_prefix).is_relative_to("/usr"):
            yield from ("--ro-bind", sys.base_prefix, sys.base_prefix)
        temporary = str(self.private / "tmp")
        yield from ("--bind", temporary, "/tmp")  # noqa: S108 - inside
        # Settings of the kernel are for root's number to write, whatever root has given up.
        yield from ("--proc", "/proc", "--remount-ro", "/proc")
        yield from ("--dev", "/dev", "--bind", temporary, "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
        yield from ("--bind", str(self.workspace), "/workspace")
        for own in (self.private / "home", self.private / "tmp"):
            yield from ("--bind", str(own), self.inside(own))
        if self.shown is not None:
            yield from ("--ro-bind", str(self.shown), self.inside(self.shown))
        yield from ("--remount-ro", "/", "--chdir", "/workspace", "--")


def hide_environment() -> None:
    """Keep a program of the same user from reading our environment, where keys are, out of /proc."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _bubblewrap_program() -> str:
    return shutil.which("bwrap") or "bwrap"


@cache
def strongest() -> Level:
    """The strongest level that works here, each tried with a real program; asked once in a process."""
    for level in reversed(LEVELS):
        if not (why := unavailable(level)):
            return level
    raise SynthesisError(
        f"no program can be started in a sandbox: {why}",
        where="sandbox",
        fix="run on Linux, or use a subject that starts no programs",
    )


@cache
def unavailable(level: Level) -> str:
    """Why a level cannot be had on this machine; empty where it can. Starts a program in it."""
    if level == "bubblewrap" and shutil.which("bwrap") is None:
        return "bwrap is not installed"
    if level == "landlock" and landlock.abi() == 0:
        return "the kernel has no Landlock"
    with TemporaryDirectory(prefix="synthesis-") as place:
        workspace, private = Path(place, "workspace"), Path(place, "private")
        workspace.mkdir()
        private.mkdir()
        launch = Sandbox(level, workspace, private).launch([PYTHON, *ISOLATED, "-c", "print('ready')"], {})
        return _first_words(launch)


def _first_words(launch: Launch) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own launcher
            launch.command,
            cwd=launch.folder,
            env=dict(launch.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stdout.decode("utf-8", "replace").strip()
    return "" if done.returncode == 0 and said == "ready" else said or f"exit code {done.returncode}"
