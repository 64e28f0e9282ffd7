"""Folders are registries: a file in a plug-in folder is a plug-in, its name is the public name.

Packages from elsewhere add theirs through entry points of the group `harness.<folder>`, for example
`harness.checkers`; the entry point's name is the public name and it points at a module of the same shape.
"""

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

from harness.errors import SynthesisError

Kind = TypeVar("Kind")


@cache
def names(folder: str) -> tuple[str, ...]:
    """The public names of a folder's plug-ins: our own first, then those of other packages."""
    ours = own(folder)
    others = sorted({point.name for point in entry_points(group=f"harness.{folder}")}.difference(ours))
    return (*ours, *others)


@cache
def module(folder: str, name: str) -> ModuleType:
    """The module behind a public name; a name of our own cannot be taken over from outside."""
    if name in own(folder):
        return importlib.import_module(f"harness.{folder}.{name}")
    for point in entry_points(group=f"harness.{folder}", name=name):
        try:
            loaded = point.load()
        except (ImportError, AttributeError) as error:
            raise SynthesisError(
                f'"{name}" cannot be loaded: {error}',
                where=f"entry point harness.{folder}",
                fix=f"mend or uninstall the package that brings {point.value}",
            ) from error
        if isinstance(loaded, ModuleType):
            return loaded
        raise SynthesisError(
            f'"{name}" points at {type(loaded).__name__}, not at a module',
            where=f"entry point harness.{folder}",
            fix=f'let the entry point name a module, as in "{name} = your_package.{name}"',
        )
    raise SynthesisError(
        f'unknown name "{name}"', where=f"harness.{folder}", fix=f"use one of: {', '.join(names(folder))}"
    )


@cache
def only_class(folder: str, name: str, kind: type[Kind]) -> type[Kind]:
    """The one class of this kind that a plug-in's module defines."""
    home = module(folder, name)
    found = [
        item
        for item in vars(home).values()
        if isinstance(item, type) and issubclass(item, kind) and item.__module__ == home.__name__
    ]
    if len(found) != 1:
        raise SynthesisError(
            f"{len(found)} classes of the kind {kind.__name__}, not one",
            where=home.__name__,
            fix="define one",
        )
    return found[0]


@cache
def own(folder: str) -> tuple[str, ...]:
    """The public names of the plug-ins that ship with this package."""
    package = importlib.import_module(f"harness.{folder}")
    return tuple(sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.name[0] != "_"))
