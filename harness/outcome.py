"""What came of a task, as bytes that go from one process to another: its result, or what it raised."""

import pickle
import traceback
from collections.abc import Callable
from typing import TypeVar

from harness.errors import SynthesisError, words_of

Task = TypeVar("Task")
Result = TypeVar("Result")


class Elsewhere(Exception):  # noqa: N818 - it says where the cause lies
    """The traceback of another process, as the cause of what it raised."""


def outcome_of(work: Callable[[Task], Result], task: Task) -> bytes:
    """Do it; what it raises, or a result that cannot be pickled, is an outcome as well.

    KeyboardInterrupt is how a worker is told to end.
    """
    try:
        return pickle.dumps((work(task), None, ""))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - carried over as it is and raised there
        return raised(error)


def raised(error: BaseException) -> bytes:
    """The outcome of a task that raised this; where it cannot be carried over, its words are."""
    trace = "".join(traceback.format_exception(error))
    try:
        outcome = pickle.dumps((None, error, trace))
        pickle.loads(outcome)  # noqa: S301 - just made
    except Exception:  # noqa: BLE001 - a stranger's exception may raise anything here
        outcome = pickle.dumps((None, SynthesisError(f"{type(error).__name__}: {words_of(error)}"), trace))
    return outcome


def taken(outcome: bytes) -> object:
    """The result, or raises what the task raised."""
    result, error, trace = pickle.loads(outcome)  # noqa: S301 - from our own worker
    if error is not None:
        raise error from Elsewhere(trace)
    return result
