"""Where an engine and its workers leave objects for each other: a file in memory that no folder shows.

What is large crosses no socket, and there is nothing to tidy up, whoever is killed at whatever moment.
"""

import errno
import mmap
import os
import pickle
import tempfile
from typing import IO

SPOT = 1 << 32
"""Bytes from one object to the next, more than any has; what is not written to takes no room."""


class EngineMemory:
    """Objects by their numbers. There is room for so many: a new one takes the place of one long read."""

    def __init__(self, room: int, descriptor: int | None = None) -> None:
        """Of those who share it, one makes it and the others are given its descriptor."""
        self.room = room
        self._file = _new_file() if descriptor is None else os.fdopen(descriptor, "r+b", 0)

    @property
    def descriptor(self) -> int:
        """For those who share it."""
        return self._file.fileno()

    def put(self, number: int, value: object) -> int:
        """How many bytes it takes, which is what a reader has to know."""
        start = self._start(number)
        writer = _Writer(self.descriptor, start)
        pickle.dump(value, writer)
        return writer.place - start

    def get(self, number: int, size: int) -> object:
        """The object of this number."""
        with mmap.mmap(self.descriptor, size, prot=mmap.PROT_READ, offset=self._start(number)) as content:
            return pickle.loads(content)  # noqa: S301 - from a process of our own

    def close(self) -> None:
        """Those who share it keep it."""
        self._file.close()

    def _start(self, number: int) -> int:
        return number % self.room * SPOT


class _Writer:
    """Not the file itself: all who share it have one place in it where they would write."""

    def __init__(self, descriptor: int, place: int) -> None:
        self._descriptor = descriptor
        self._end = place + SPOT
        self.place = place

    def write(self, content: bytes) -> None:
        left = memoryview(content)
        if self.place + len(left) > self._end:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        while left:
            written = os.pwrite(self._descriptor, left, self.place)
            self.place += written
            left = left[written:]


def _new_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("synthesis"), "r+b", 0)
    return tempfile.TemporaryFile(buffering=0)
