"""In this process, one task after the other."""

from collections.abc import Callable, Iterable, Iterator

from harness.engine import Engine, Result, Task
from harness.errors import SynthesisError
from harness.problems import shown


class Local(Engine):
    """No worker beside this process."""

    def __init__(self, argument: str = "") -> None:
        if argument:
            raise SynthesisError(
                f'"local:{shown(argument)}": local takes nothing after its name',
                where="--engine",
                fix="write local, or processes:N for N processes",
            )

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Each task is pulled when its result is asked for."""
        for task in tasks:
            yield work(task)

    def close(self) -> None:
        """There is nothing to end."""
