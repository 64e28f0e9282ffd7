"""Where work is done: in this process, in several, or on several machines. One seam for every command.

A module in `engines/` has one class that is an `Engine`; its file name is what
`--engine NAME[:ARGUMENT]` names.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Does tasks and gives their results in the order of the tasks, whoever was done first.

    Tasks are pulled as they are needed, a few ahead of the results, so that memory does not grow with them.
    `work` is a function of a module, or a `functools.partial` of one, and can be pickled, as can its results.
    A task whose worker died is done again; its result is given once. What `work` raises is raised here.
    """

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results, in order."""

    def close(self) -> None:
        """End the workers; what runs is dropped."""
