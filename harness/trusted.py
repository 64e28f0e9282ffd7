"""The only module that imports a user's Python. What it loads is code and runs with your rights."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import SynthesisError, words_of

_folders: list[Path] = []
"""Folders whose files were loaded; like `sys.path`, which it belongs to, there is one for the process."""


def load_python(path: Path) -> list[Any]:
    """The scenarios of a `.py` file: a list named `scenarios`, or what a function of that name returns."""
    try:
        with _importable(path.resolve().parent):
            found = vars(_run(path)).get("scenarios")
            found = found() if callable(found) else found
    except (Exception, SystemExit) as error:
        what = f"raised {type(error).__name__} while loading: {words_of(error)}"
        raise SynthesisError(what, where=str(path), fix="mend the file; it is run as Python code") from error
    if not isinstance(found, list | tuple):
        fix = (
            "define `scenarios = [...]`, or a function scenarios() that returns a list; "
            "if others import the file, let its name begin with _"
        )
        raise SynthesisError("no list of scenarios in it", where=str(path), fix=fix)
    return list(found)


def _run(path: Path) -> ModuleType:
    name = f"synthesis_scenarios_{sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # the ending is .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """The folder comes first on `sys.path` while a file of it loads, and last from then on.

    Last and not away: a function may import when it is called. Not first: a file there named like a module
    of Python's would stand in for it everywhere. No `__pycache__` is left beside scenarios.
    """
    _forget_namesakes(folder)
    writes_bytecode, sys.dont_write_bytecode = not sys.dont_write_bytecode, True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.dont_write_bytecode = not writes_bytecode
        sys.path.remove(str(folder))
        if folder not in _folders:
            _folders.append(folder)
            sys.path.append(str(folder))


def _forget_namesakes(folder: Path) -> None:
    """What another folder's files imported under a name that this folder has too must not answer here."""
    foreign = {
        name
        for name, module in list(sys.modules.items())
        if _home(module) in _folders
        and _home(module) != folder
        and ((folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file())
    }
    for name in list(sys.modules):
        if name.partition(".")[0] in foreign:
            del sys.modules[name]


def _home(module: ModuleType | None) -> Path | None:
    """The folder on `sys.path` that a module or package was found in."""
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    return Path(file).parent.parent if Path(file).stem == "__init__" else Path(file).parent
