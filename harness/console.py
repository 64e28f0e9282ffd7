"""The terminal: colour only where it is wanted, and text from files as plain text only."""

import io
import os
import sys
from typing import TYPE_CHECKING

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


def use_utf8() -> None:
    """The same bytes whatever the locale says; what UTF-8 cannot hold is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def emit(text: str) -> None:
    """Write text for another program; one that stops reading early does not change the exit code."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()


def discard_stdout() -> None:
    """Nobody reads any more: let the rest, and the flush at exit, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(*, color: bool = True, stderr: bool = False) -> "Console":
    """A console that never reads markup, emoji codes or highlights in what it prints."""
    from rich.console import Console

    class LastingConsole(Console):
        """rich would exit with 1 when the reader leaves; the exit code belongs to the verdict."""

        def on_broken_pipe(self) -> None:
            self.quiet = True
            discard_stdout()

    stream = sys.stderr if stderr else sys.stdout
    wanted = color and not os.environ.get("NO_COLOR")
    width = None if stream.isatty() else 120
    return LastingConsole(
        file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True, width=width,
        no_color=not wanted, color_system="auto" if wanted else None,
    )  # fmt: skip


def complain(problem: object) -> None:
    """Say what went wrong on standard error, each problem with its own `synthesis:`."""
    sys.stderr.write(f"synthesis: {plain(str(problem))}\n")
