"""Ctrl-C and the signals that end a process, also while someone's code holds the thread."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.workers import Stop

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process."""


@contextmanager
def handled(numbers: Iterable[int], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """These signals, where this is the main thread; then what handled them before does so again.

    Not with the signals blocked: that is for this thread, and another is given them.
    """
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (numbers if here else ())}
    over = False

    def ours(number: int, frame: FrameType | None) -> None:
        if over:  # and not put back yet
            signal.signal(number, before[number])
            signal.raise_signal(number)
        else:
            handler(number, frame)

    def put_back() -> None:
        for number, first in before.items():
            signal.signal(number, first)

    try:
        for number in before:
            signal.signal(number, ours)
        yield
    finally:
        over = True
        try:
            put_back()
        except BaseException:  # one that is back was called, and raised
            put_back()
            raise


@contextmanager
def held_back() -> Iterator[None]:
    """What our handlers do on such a signal they do when this is left: it must not be left half done."""
    heard: list[int] = []
    ours = [number for number in ENDING if callable(signal.getsignal(number))]
    try:
        with handled(ours, lambda number, _: heard.append(number)):
            yield
    finally:
        for number in heard:
            signal.raise_signal(number)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Told to end by the system, nothing half done is left behind either."""
    with handled(_told_by_the_system(), signal.default_int_handler):
        yield


def _told_by_the_system() -> list[int]:
    """Such signals but Ctrl-C; those that are ignored are not among them: nohup stays nohup."""
    return [each for each in ENDING if each != signal.SIGINT and signal.getsignal(each) != signal.SIG_IGN]


class Interrupts:
    """The first Ctrl-C starts nothing more; the second, SIGTERM and SIGHUP stop now.

    Plain signal handlers, not those of the event loop: a subject or a criterion that never gives the
    thread back would keep the loop from hearing them.
    """

    def __init__(self, stop: "Stop", say: Callable[[str], None]) -> None:
        self._stop = stop
        self._say = say
        self._deaf = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Within this; elsewhere signals do what they did before."""
        with handled([signal.SIGINT, *_told_by_the_system()], self._hear):
            yield

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """While the report is written nothing disturbs."""
        self._deaf = True
        try:
            yield
        finally:
            self._deaf = False

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self._deaf:
            return
        self._stop.ask("interrupted")
        if number == signal.SIGINT and self._stop.interrupts == 1:
            self._say("stopping: what runs is finished, nothing more is started; Ctrl-C again stops now")
        else:
            raise KeyboardInterrupt
