"""A fresh folder for every trial, and nothing outside it: fixture paths are confined."""

import os
import re
import shutil
import unicodedata
from pathlib import Path, PurePosixPath

_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?", re.I)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]')


def fixture_problem(name: str) -> str | None:
    """Why a fixture's path is refused on any system, or None where it is fine."""
    parts = name.split("/")
    refused = {
        "an absolute path": name.startswith("/"),
        "a path with a drive letter": re.match(r"[A-Za-z]:", name),
        "a backslash in the path": "\\" in name,
        "a path that leads out of the workspace": ".." in parts,
        "an empty part in the path": any(part in ("", ".") for part in parts),
        "a name that is reserved on Windows": any(_RESERVED.fullmatch(part) for part in parts),
        "a name that not every system can have": any(map(_unusual, parts)),
        "too long a path": len(name.encode()) > 1000,
    }
    return next((why for why, holds in refused.items() if holds), None)


def _unusual(part: str) -> bool:
    return bool(_FORBIDDEN.search(part)) or part.endswith((".", " ")) or len(part.encode()) > 200


def clashing_fixtures(names: list[str]) -> str | None:
    """Two paths that are one file on some systems, or a file that would also have to be a folder."""
    seen: dict[str, str] = {}
    for name in names:
        folded = unicodedata.normalize("NFC", name).casefold()
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
