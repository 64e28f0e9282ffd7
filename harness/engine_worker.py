"""A worker of the engine `processes`: does what its socket tells of, in order, until that closes.

It ends with its parent, however that ends: the socket closes with it.
"""

import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import FrameType
from typing import cast

from harness.engine_memory import EngineMemory
from harness.outcome import keep_outcome

READY = b""
GRACE = 5
"""Seconds for what runs to stop by itself."""
MESSAGE = struct.Struct("!QQ")
"""The number of a task, and how many bytes of memory it takes, or what came of it."""


def serve(descriptor: int, memory: int, room: int) -> None:
    """For as long as there is a parent.

    Told to end (SIGTERM) an idle worker just ends: Python may hear a signal too late when it is about to
    wait.
    """
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which programs started here would inherit
    for inherited in (descriptor, memory):
        os.set_inheritable(inherited, False)  # nor may they keep the socket open
    pipe, shared = Connection(descriptor), EngineMemory(room, memory)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    _send(pipe, READY)
    while True:
        number, size = MESSAGE.unpack(tasks.get())
        with suppress(KeyboardInterrupt):
            signal.signal(signal.SIGTERM, _stop)
            size = keep_outcome(partial(_do, shared, number), size, partial(shared.put, number))
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            sys.stdout.flush()
            _send(pipe, MESSAGE.pack(number, size))
            continue
        os._exit(0)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """What runs ends the programs it has started when it is interrupted; if it goes on, it is killed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(GRACE)
    raise KeyboardInterrupt


def _do(shared: EngineMemory, number: int, size: int) -> object:
    work, task = cast("tuple[Callable[[object], object], object]", shared.get(number, size))
    return work(task)


def _receive(pipe: Connection, tasks: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv_bytes())
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def _send(pipe: Connection, message: bytes) -> None:
    with suppress(OSError):
        pipe.send_bytes(message)
