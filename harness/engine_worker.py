"""A worker of the engine `processes`: does what comes through its socket, in order, until that closes.

It ends with its parent, however that ends: the socket closes with it. Told to end (SIGTERM) it stops what it
does by an exception, so that programs it has started are ended too.
"""

import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import FrameType

from harness.outcome import outcome_of

READY = b""
GRACE = 5.0
"""Seconds for what runs to stop by itself."""
NUMBER = 8
"""Bytes at the beginning of a message that say which task it is about."""


def serve(descriptor: int) -> None:
    """For as long as there is a parent.

    Threads receive and send, so that neither side waits for the other to be done with something large.
    """
    os.set_inheritable(descriptor, False)  # a program started here must not keep the socket open
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which programs started here would inherit
    signal.signal(signal.SIGTERM, _end)
    pipe = Connection(descriptor)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    outcomes: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    threading.Thread(target=_send, args=(pipe, outcomes), daemon=True).start()
    outcomes.put(READY)
    with suppress(KeyboardInterrupt):
        while True:
            message = tasks.get()
            outcome = outcome_of(_do, message[NUMBER:])
            sys.stdout.flush()
            outcomes.put(message[:NUMBER] + outcome)


def _do(message: bytes) -> object:
    work, task = pickle.loads(message)  # noqa: S301 - from our own parent
    return work(task)


def _end(_number: int, _frame: FrameType | None) -> None:
    """KeyboardInterrupt, because an event loop and most code let it through."""
    signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=_give_up, daemon=True).start()
    raise KeyboardInterrupt


def _give_up() -> None:
    threading.Event().wait(GRACE)
    os._exit(1)


def _receive(pipe: Connection, tasks: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv_bytes())
    os.kill(os.getpid(), signal.SIGTERM)


def _send(pipe: Connection, outcomes: "SimpleQueue[bytes]") -> None:
    with suppress(OSError):
        while True:
            pipe.send_bytes(outcomes.get())
