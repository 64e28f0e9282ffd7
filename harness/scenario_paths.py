"""Which files of the paths a person names hold scenarios, and in which order."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import SynthesisError

_ENDINGS = (".json", ".py")


def scenario_files(paths: Sequence[str | Path], *, recursive: bool) -> Iterator[Path]:
    """The paths in their order, the files of a folder by name."""
    for path in map(Path, paths):
        if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it never raises, whatever the name
            found = path.rglob("*") if recursive else path.iterdir()
            yield from sorted(filter(_for_scenarios, found))
        elif not os.path.exists(path):  # noqa: PTH110 - likewise
            raise SynthesisError("no such file or folder", where=str(path), fix="check the path")
        elif path.suffix not in _ENDINGS:
            fix = "name a .json file, a .py file, or a folder of both"
            raise SynthesisError("not a scenario file by its ending", where=str(path), fix=fix)
        else:
            yield path


def _for_scenarios(file: Path) -> bool:
    """Pipes and broken links too: they are refused when they are read, not passed over here."""
    imported_by_others = file.suffix == ".py" and file.name.startswith("_")
    return file.suffix in _ENDINGS and not imported_by_others and not file.is_dir()
