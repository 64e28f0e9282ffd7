"""The bundled schemas, rubrics, cases and scenarios: inside the wheel, or in the checkout it came from."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def bundled(folder: str) -> Path:
    """Where a bundled folder lies; a wheel has it inside the package, a checkout beside it."""
    inside = _PACKAGE / "bundled" / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def is_bundled(file: Path, folder: str) -> bool:
    """Whether a file, with links followed, came with the package, and is trusted as the package is."""
    return file.resolve().is_relative_to(bundled(folder).resolve())
