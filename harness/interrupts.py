"""Ctrl-C and the signals that end a process, also while someone's code holds the thread."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.workers import Stop

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process."""


@contextmanager
def held_back() -> Iterator[None]:
    """What our handlers do on such a signal they do when this is left: it must not be left half done."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (ENDING if here else ())}
    heard: list[int] = []
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in heard:
            signal.raise_signal(number)


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
        here = threading.current_thread() is threading.main_thread()
        before = {number: signal.getsignal(number) for number in (ENDING if here else ())}
        for number, handler in before.items():
            if number == signal.SIGINT or handler is not signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._hear)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

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
