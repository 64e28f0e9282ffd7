"""The terminal: colour only where it is wanted, and text from files as plain text only."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def plain(text: str) -> str:
    """The text with everything a terminal would act on made visible; line breaks and tabs stay."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape", "replace").decode()
        for char in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )


def one_line(text: str, width: int = 160) -> str:
    """An excerpt of someone's text that stays on one line."""
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 trial`, `2 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


STDERR = 2
"""The last of the standard streams."""


def prepare_streams() -> None:
    """The same bytes whatever the locale says, and somewhere to write where a stream was closed.

    What is opened later must not get the number of a standard stream: it would be taken for one.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


@contextmanager
def lasting_stdout() -> Iterator[None]:
    """A reader that leaves ends the output quietly, a full disk with a word; neither ends the command."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        complain(f"standard output cannot be written: {error.strerror}")


def emit(text: str) -> None:
    """Write text for another program; one that stops reading early does not change the exit code."""
    with lasting_stdout():
        sys.stdout.write(f"{text}\n")


def copy_out(path: Path) -> None:
    """Write a file that may be large, for another program, as `emit` would."""
    with lasting_stdout(), path.open("rb") as file:
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer)


def say(text: str) -> None:
    """Write on standard error as it is; that nobody can read it is no reason to end anything."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    except RuntimeError:
        """A signal came in the middle of a write; Python refuses a second one inside it."""


def _discard(stream: TextIO) -> None:
    """Nobody reads any more: let the rest, and the flush at exit, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def console(*, color: bool = True, stderr: bool = False) -> "Console":
    """A console that never reads markup, emoji codes or highlights in what it prints."""
    from rich.console import Console

    class LastingConsole(Console):
        """rich would exit with 1 when the reader leaves; the exit code belongs to the verdict."""

        def on_broken_pipe(self) -> None:
            self.quiet = True
            _discard(sys.stdout)

    stream = sys.stderr if stderr else sys.stdout
    wanted = color and not os.environ.get("NO_COLOR")
    width = None if stream.isatty() else 120
    return LastingConsole(
        file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True, width=width,
        no_color=not wanted, color_system="auto" if wanted else None,
    )  # fmt: skip


def complain(problem: object) -> None:
    """Say what went wrong on standard error, each problem with its own `synthesis:`."""
    say(f"synthesis: {plain(str(problem))}\n")
