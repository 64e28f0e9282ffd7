"""A worker of the engine `processes`: does what comes through its socket, in order, until that closes.

It ends with its parent, however that ends: the socket closes with it.
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
GRACE = 5
"""Seconds for what runs to stop by itself."""
NUMBER = 8
"""Bytes at the beginning of a message that say which task it is about."""


def serve(descriptor: int) -> None:
    """For as long as there is a parent.

    Threads receive and send, so that neither side waits for the other to be done with something large. Told
    to end (SIGTERM) an idle worker just ends: Python may hear a signal too late when it is about to wait.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which programs started here would inherit
    os.set_inheritable(descriptor, False)  # nor may they keep the socket open
    pipe = Connection(descriptor)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    outcomes: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    threading.Thread(target=_send, args=(pipe, outcomes), daemon=True).start()
    outcomes.put(READY)
    while True:
        message = tasks.get()
        with suppress(KeyboardInterrupt):
            signal.signal(signal.SIGTERM, _stop)
            outcome = outcome_of(_do, message[NUMBER:])
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            sys.stdout.flush()
            outcomes.put(message[:NUMBER] + outcome)
            continue
        os._exit(0)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """What runs ends the programs it has started when it is interrupted; if it goes on, it is killed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(GRACE)
    raise KeyboardInterrupt


def _do(message: bytes) -> object:
    work, task = pickle.loads(message)  # noqa: S301 - from our own parent
    return work(task)


def _receive(pipe: Connection, tasks: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv_bytes())
    os.kill(os.getpid(), signal.SIGTERM)


def _send(pipe: Connection, outcomes: "SimpleQueue[bytes]") -> None:
    with suppress(OSError):
        while True:
            pipe.send_bytes(outcomes.get())
