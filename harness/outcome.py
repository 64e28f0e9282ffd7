"""What came of a task, in a form that goes from one process to another: its result, or what it raised."""

import pickle
import traceback
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from harness.errors import SynthesisError, words_of

Task = TypeVar("Task")
Result = TypeVar("Result")
Kept = TypeVar("Kept")


class Elsewhere(Exception):  # noqa: N818 - it says where the cause lies
    """The traceback of another process, as the cause of what it raised."""


class Outcome(NamedTuple):
    """Its result, or what it raised and the traceback of that."""

    result: object
    error: BaseException | None = None
    trace: str = ""

    def taken(self) -> object:
        """The result, or raises what the task raised."""
        if self.error is not None:
            raise self.error from Elsewhere(self.trace)
        return self.result


def keep_outcome(work: Callable[[Task], Result], task: Task, keep: Callable[[Outcome], Kept]) -> Kept:
    """Do it and keep what came of it; what it raises, or a result that cannot be pickled, is kept as well.

    `keep` pickles. KeyboardInterrupt is how a worker is told to end.
    """
    try:
        return keep(Outcome(work(task)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - carried over as it is and raised there
        return keep(raised(error))


def raised(error: BaseException) -> Outcome:
    """The outcome of a task that raised this; where it cannot be carried over, its words are."""
    trace = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - just made
    except Exception:  # noqa: BLE001 - a stranger's exception may raise anything here
        return Outcome(None, SynthesisError(f"{type(error).__name__}: {words_of(error)}"), trace)
    return Outcome(None, error, trace)
