"""The only module that imports a user's Python. What it loads is code and runs with your rights."""

import importlib.util
import sys
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from harness.errors import SynthesisError, words_of


class _UncachedLoader(SourceFileLoader):
    """Leaves no `__pycache__` in a folder of scenarios."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Compiled code is not kept."""


def load_python(path: Path) -> list[Any]:
    """The scenarios of a `.py` file: a list named `scenarios`, or what a function of that name returns."""
    name = f"synthesis_scenarios_{sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_UncachedLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise SynthesisError("not a Python file", where=str(path), fix="name a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        found = vars(module).get("scenarios")
        found = found() if callable(found) else found
    except (Exception, SystemExit) as error:
        what = f"raised {type(error).__name__} while loading: {words_of(error)}"
        raise SynthesisError(what, where=str(path), fix="mend the file; it is run as Python code") from error
    if not isinstance(found, list | tuple):
        fix = "define `scenarios = [...]`, or a function scenarios() that returns a list"
        raise SynthesisError("no list of scenarios in it", where=str(path), fix=fix)
    return list(found)
