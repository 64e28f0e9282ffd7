"""The terminal: colour only where it is wanted, and text from files as plain text only."""

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


def console(*, color: bool = True, stderr: bool = False) -> "Console":
    """A console that never reads markup, emoji codes or highlights in what it prints."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    wanted = color and not os.environ.get("NO_COLOR")
    width = None if stream.isatty() else 120
    return Console(
        file=stream, markup=False, emoji=False, highlight=False, soft_wrap=True, width=width,
        no_color=not wanted, color_system="auto" if wanted else None,
    )  # fmt: skip


def complain(problem: object) -> None:
    """Say what went wrong on standard error, each problem with its own `synthesis:`."""
    sys.stderr.write(f"synthesis: {plain(str(problem))}\n")
