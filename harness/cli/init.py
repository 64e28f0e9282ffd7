"""`synthesis init`: write a small working project."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where the project goes.")] = ".",
) -> int:
    """Write a small project to begin with: scenarios, a rubric, a prompt, a CI workflow."""
    from harness.console import emit, plain
    from harness.project import write_project

    for path in write_project(Path(folder)):
        emit(f"wrote {plain(str(path))}")
    go = "" if folder == "." else f"cd {plain(folder)} && "
    emit(f"next: {go}synthesis eval")
    return 0
