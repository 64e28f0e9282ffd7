"""A fresh folder for every trial, and nothing outside it: fixture paths are confined."""

import os
import re
import shutil
from pathlib import Path, PurePosixPath

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.I)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]')


def fixture_problem(name: str) -> str | None:
    """Why a fixture's path is refused on any system, or None where it is fine."""
    parts = name.split("/")
    if name.startswith("/"):
        return "an absolute path"
    if re.match(r"[A-Za-z]:", name):
        return "a path with a drive letter"
    if "\\" in name:
        return "a backslash in the path"
    if ".." in parts:
        return "a path that leads out of the workspace"
    if any(part in ("", ".") for part in parts):
        return "an empty part in the path"
    if any(_RESERVED.fullmatch(part) for part in parts):
        return "a name that is reserved on Windows"
    if any(
        _FORBIDDEN.search(part) or part.endswith((".", " ")) or len(part.encode()) > 200 for part in parts
    ):
        return "a name that not every system can have"
    return None


def clashing_fixtures(names: list[str]) -> str | None:
    """Two paths that are one file on some systems, or a file that would also have to be a folder."""
    seen: dict[str, str] = {}
    for name in names:
        folded = name.casefold()
        if folded in seen:
            return f'"{seen[folded]}" and "{name}" are the same file on some systems'
        seen[folded] = name
    for folded, name in seen.items():
        for parent in PurePosixPath(folded).parents:
            if str(parent) in seen:
                return f'"{seen[str(parent)]}" would have to be a file and the folder of "{name}"'
    return None


def prepare_workspace(place: Path, fixtures: dict[str, bytes]) -> Path:
    """An empty folder with the fixtures in it; whatever was there before is gone."""
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        remove_workspace(place)
        place.mkdir(parents=True)
    for name, content in fixtures.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    return place


def remove_workspace(place: Path) -> None:
    """Take the folder away; a link is taken away itself, never followed."""
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)
