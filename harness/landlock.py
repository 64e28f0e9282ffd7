"""Start a program under Landlock: it and its children read and write only below the paths they are given.

Run as a program, with the standard library alone: `python landlock.py RULES COMMAND…`, where RULES is JSON,
`{"read": [path…], "write": [path…], "network": bool}`. It restricts itself and becomes the command. What
the running kernel cannot restrict is left open; `abi` says which kernel it is.
"""

import ctypes
import json
import os
import signal
import sys
from stat import S_ISDIR

TRUNCATES, TCP, SCOPES = 3, 4, 6
"""The versions of the interface from which on truncating, TCP, and signals with abstract sockets are held."""

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_READ_ONLY = 0b1101  # execute, read a file, read a folder
_DEVICES = 0b100001000000  # make a character device, make a block device
_OF_FILES = 0b1100000000000111  # what can be allowed of something that is no folder
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version knows."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock the running kernel has; 0 where it has none, or another system is running."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), 1)))


def restrict(read: list[str], write: list[str], *, network: bool) -> None:
    """Hold this process and all it starts to these paths, for good; raises OSError."""
    version = abi()
    everything = (1 << _RIGHTS[min(version, 5)]) - 1
    rules = _Ruleset(
        files=everything,
        network=0b11 if version >= TCP and not network else 0,
        scoped=0b11 if version >= SCOPES else 0,
    )
    ruleset = _call(_CREATE, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    for path in read:
        _allow(ruleset, path, _READ_ONLY & everything)
    for path in write:
        _allow(ruleset, path, everything & ~_DEVICES)
    if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not S_ISDIR(os.fstat(handle).st_mode):
        rights &= _OF_FILES
    try:
        _call(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(_PathBeneath(rights, handle)), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    result = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock, system call {number}")
    return result


def main(rules: str, command: list[str]) -> None:
    """Restrict this process and become the command."""
    held = json.loads(rules)
    restrict(held["read"], held["write"], network=held["network"])
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what it becomes would too
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the point of it
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
