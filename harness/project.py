"""A small working project to begin with."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from harness.errors import Problems, SynthesisError

_PLACES = {"github": ".github/workflows"}
"""Where a folder of the template goes, where its name cannot be the same inside a package."""


def write_project(target: Path) -> list[Path]:
    """Copy the template; where any of its files is there already, nothing is written."""
    files = {
        target / place: source
        for place, source in _template(resources.files("harness") / "project_template", Path())
    }
    there = [path for path in files if path.exists()]
    if there:
        fix = "choose another folder, or move the file away"
        raise Problems(
            SynthesisError("the file is there already", where=str(path), fix=fix) for path in there
        )
    for path, source in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read_bytes())
        except OSError as error:
            raise SynthesisError(
                f"cannot be written: {error.strerror}", where=str(path), fix="choose another folder"
            ) from error
    return list(files)


def _template(folder: Traversable, place: Path) -> list[tuple[Path, Traversable]]:
    found: list[tuple[Path, Traversable]] = []
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.is_dir():
            found += _template(item, place / _PLACES.get(item.name, item.name))
        else:
            found.append((place / item.name, item))
    return found
