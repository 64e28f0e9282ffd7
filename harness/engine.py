"""Where work is done: in this process, in several, or on several machines. One seam for every command.

A module in `engines/` has one class that is an `Engine`; its file name is what
`--engine NAME[:ARGUMENT]` names.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar, runtime_checkable

from harness import plugins
from harness.errors import SynthesisError
from harness.problems import shown

LOCAL = "local"
"""The engine where none is named."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@runtime_checkable
class Engine(Protocol):
    """Does tasks and gives their results in the order of the tasks, whoever was done first.

    Tasks are pulled as they are needed, a few ahead of the results, so that memory does not grow with them.
    `work` is a function of a module, or a `functools.partial` of one, and can be pickled, as can its results.
    A task whose worker died is done again; its result is given once. What `work` raises is raised here, when
    the results before it have been given. One `map` at a time; leaving it early drops what runs.
    """

    def __init__(self, argument: str) -> None:
        """`argument` is what stands after the colon, empty where nothing does."""

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results, in order."""

    def expect(self, tasks: int, get_ready: Callable[[], object]) -> None:
        """So many tasks will come, and whoever does them needs what `get_ready` makes: a hint, no more."""

    def workers(self) -> int:
        """How many tasks can be done at once, as far as is known now; at least 1."""

    def close(self) -> None:
        """End the workers; what runs is dropped."""


@contextmanager
def open_engine(text: str) -> Iterator[Engine]:
    """The engine that `NAME[:ARGUMENT]` names; its workers end when this is left."""
    name, colon, argument = text.partition(":")
    known = plugins.names("engines")
    if name not in known:
        raise SynthesisError(
            f'unknown engine "{shown(name)}"', where="--engine", fix=f"use one of: {', '.join(known)}"
        )
    if colon and not argument:  # a variable that is empty must not choose where the work is done
        what, fix = f'"{shown(text)}": nothing stands after the colon', f"write {name} without it"
        raise SynthesisError(what, where="--engine", fix=fix)
    kind: type[Engine] = plugins.only_class("engines", name, Engine)
    engine = kind(argument)
    try:
        yield engine
    finally:
        engine.close()
