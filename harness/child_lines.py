"""Lines that another Python of ours writes: what it needs, and what becomes of it, is not this process's."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO, cast


class ChildFailed(Exception):  # noqa: N818 - it says how it ended
    """It ended before it had said everything."""


def own_python(statement: str) -> list[str]:
    """A command for a statement, which imports from where this process does and from nowhere else."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {statement}"]


def child_lines(statement: str, arguments: Sequence[str]) -> Iterator[bytes]:
    """Every line, without its break; the child ends with the last one, or when no more are wanted.

    It has its own process group: Ctrl-C is for us.
    """
    process = subprocess.Popen(  # noqa: S603 - this Python
        [*own_python(statement), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    written, said = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)
    with process, written, said:
        try:
            for line in written:
                yield line.removesuffix(b"\n")
            why = said.read().decode("utf-8", "replace").strip()
            if code := process.wait():
                raise ChildFailed(why.splitlines()[0] if why else _ended(code))
        finally:
            process.kill()


def _ended(code: int) -> str:
    return f"the process that reads it was ended by signal {-code}" if code < 0 else f"exit code {code}"
