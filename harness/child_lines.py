"""Lines that another Python of ours writes: what it needs, and what becomes of it, is not this process's."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, cast

END = b"\n"
"""An empty line is the last: how a process ended cannot be told everywhere, and half of it is not all."""


class ChildFailed(Exception):  # noqa: N818 - it says how it ended
    """It ended before it had said everything."""


def own_python(statement: str) -> list[str]:
    """A command for a statement, which imports from where this process does and from nowhere else."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {statement}"]


def child_lines(statement: str, arguments: Sequence[str]) -> Iterator[bytes]:
    """Every line, without its break, up to `END`; the child ends there, or when no more are wanted.

    It has its own process group: Ctrl-C is for us. What it says of itself goes to a file: nobody reads that
    meanwhile, and it would wait where nobody does.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this Python
            [*own_python(statement), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            process_group=0,
        )
        with process:
            try:
                for line in cast("IO[bytes]", process.stdout):
                    if line == END:
                        return
                    yield line.removesuffix(b"\n")
                code = process.wait()
            finally:
                process.kill()
        said.seek(0)
        words = said.read().decode("utf-8", "replace").strip().splitlines()
    raise ChildFailed(words[-1] if words else _ended(code))


def _ended(code: int) -> str:
    how = f", by signal {-code}" if code < 0 else ""
    return f"the process that reads it ended too early{how}"
