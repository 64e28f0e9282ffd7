"""A program of someone else's: in a process group of its own, read as it speaks, ended with all its children.

Built on the protocol of asyncio's subprocesses, not on `asyncio.subprocess.Process`: the `wait()` of that one
does not come back, in some versions of Python, while a grandchild still holds the program's output open.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

GRACE = 1.0
"""Seconds a program has between being asked to end and being killed."""
_POLL = 0.01
_ERRORS_KEPT = 4096


@dataclass(frozen=True)
class Launch:
    """What is started, and where; `max_output` is in bytes, `fds` are open files it is to inherit."""

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    max_output: int
    fds: tuple[int, ...] = ()


class Program(asyncio.SubprocessProtocol):
    """One running program. Whoever starts it has to `end` it."""

    def __init__(self, max_output: int) -> None:
        self._max_output = max_output
        self._room = max_output
        self._errors = bytearray()
        self._changed = asyncio.Event()
        self._transport: asyncio.SubprocessTransport
        self._input: asyncio.WriteTransport
        self.output = bytearray()
        self.over = False
        """Whether there was more output than allowed; what is beyond is thrown away."""
        self.silent = False
        """Whether it has closed its output."""
        self.exit_code: int | None = None
        """Negative where a signal ended it."""
        self._drained = False
        self._ended = False

    @classmethod
    async def start(cls, launch: Launch) -> Self:
        """Start it; raises OSError or ValueError where it cannot be started.

        Once begun it is finished even where we are cancelled, and the program ended: nobody else knows of it.
        """
        starting = asyncio.ensure_future(cls._start(launch))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError, ValueError):
                await (await starting).end()
            raise

    @classmethod
    async def _start(cls, launch: Launch) -> Self:
        loop = asyncio.get_running_loop()
        program = cls(launch.max_output)
        # A pipe and not asyncio's own stdin, which is a socket: /dev/stdin cannot be opened on a socket.
        theirs, ours = os.pipe()
        try:
            program._transport, _ = await loop.subprocess_exec(
                lambda: program,
                *launch.command,
                stdin=theirs,
                cwd=launch.folder,
                env=dict(launch.environment),
                start_new_session=True,
                pass_fds=launch.fds,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        program._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(ours, "wb", 0))
        return program

    def say(self, data: bytes) -> None:
        """Write to its stdin; a program that does not listen is not an error here."""
        self._input.write(data)

    def hang_up(self) -> None:
        """End of its stdin."""
        self._input.close()

    def allow_output(self) -> None:
        """The next answer begins, with the whole of `max_output` to itself."""
        self._room = self._max_output

    def take_line(self) -> bytes | None:
        """The next whole line of its output without its end, or None while there is none."""
        end = self.output.find(b"\n")
        if end < 0:
            return None
        line = bytes(self.output[:end])
        del self.output[: end + 1]
        return line

    @property
    def errors(self) -> str:
        """The end of what it wrote to stderr."""
        return self._errors.decode("utf-8", "replace")

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something about the program to become true."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def catch_up(self) -> None:
        """Take in what has arrived: asyncio needs a round to poll, one to read and one to hand over."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def end(self) -> None:
        """End the whole group: ask, wait, kill. Output that is still in the pipes is read to its end.

        Killing and closing happen even where the waiting is cancelled.
        """
        if self._ended:  # its number may be another's by now
            return
        try:
            if self._signal(signal.SIGTERM):
                await self._group_to_go()
        finally:
            self._signal(signal.SIGKILL)
            try:
                # Not for ever: a grandchild that left the group can hold the pipes open as long as it likes.
                await self._in_grace(lambda: self._drained)
            finally:
                self._let_go()

    async def end_by_itself(self) -> None:
        """Close its stdin and give it the time to leave on its own before it is ended."""
        self.hang_up()
        try:
            await self.exit_soon()
        finally:
            await self.end()

    async def exit_soon(self) -> None:
        """Give it the time to leave, whether or not it does."""
        await self._in_grace(lambda: self.exit_code is not None)

    async def _group_to_go(self) -> None:
        deadline = asyncio.get_running_loop().time() + GRACE
        while asyncio.get_running_loop().time() < deadline:
            if self.exit_code is not None and not self._signal(0):
                return
            await asyncio.sleep(_POLL)

    async def _in_grace(self, condition: Callable[[], bool]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self.until(condition)

    def _let_go(self) -> None:
        self._ended = True
        if self._input.get_write_buffer_size():
            self._input.abort()
        else:
            self._input.close()
        self._transport.close()

    def _signal(self, number: int) -> bool:
        """Signal the group; false where nothing is left of it."""
        try:
            os.killpg(self._transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
            return False
        return True

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by asyncio."""
        if fd == 1:
            self.output += data[: self._room]
            self.over = self.over or len(data) > self._room
            self._room = max(self._room - len(data), 0)
        else:
            self._errors += data
            del self._errors[:-_ERRORS_KEPT]
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's shape
        """Called by asyncio."""
        self.silent = self.silent or fd == 1
        self._changed.set()

    def process_exited(self) -> None:
        """Called by asyncio."""
        self.exit_code = self._transport.get_returncode()
        self._changed.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio, before anything else."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's shape
        """Called by asyncio once it has exited and both pipes are read to their end."""
        self._drained = True
        self._changed.set()
