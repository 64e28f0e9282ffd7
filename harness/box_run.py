"""One run in a box: its program, its time limit, the gates it asks for.

Whatever a box says is a stranger's: it is validated, and a box that breaks the protocol is ended.
"""

import asyncio
import json
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import Field, TypeAdapter

from harness.errors import SubjectError
from harness.problems import shown
from harness.process import Program
from harness.records import Record
from harness.sandbox import Sandbox
from harness.transcript import Json

LONGEST_LINE = 2**24
"""Bytes of one message from a box."""
FLOOD = 16
"""A program that prints so many times more than is kept is ended."""
_LAUNCHER_SECONDS = 10
_LONGEST_ERROR = 10_000

Value = TypeVar("Value")


@dataclass(frozen=True)
class Ran:
    """What came of a piece of code or of a command; `output` is stdout and stderr as they came.

    `error` is what the agent has to know beyond the output: its exception, or why it was stopped.
    """

    output: str
    error: str | None = None
    exit_code: int | None = None
    truncated: bool = False

    @property
    def told(self) -> str:
        """The output, which says where it was cut."""
        cut = f"\n(cut after {len(self.output.encode())} bytes)" if self.truncated else ""
        return self.output + cut


@dataclass(frozen=True)
class GateAnswer:
    """What a gate gave, or why it refused; after a `final` one nothing more of the code is run."""

    ok: bool
    result: Json
    final: bool = False

    def line(self) -> bytes:
        """As it is sent into a box; ASCII, since a result may hold what UTF-8 cannot."""
        return json.dumps({"ok": self.ok, "result": self.result, "final": self.final}).encode() + b"\n"


GateCall = Callable[[str, dict[str, Json]], Awaitable[GateAnswer]]
Gates = Mapping[str, Sequence[str]]
"""The names of each gate's arguments, in order."""


async def no_gates(name: str, arguments: dict[str, Json]) -> GateAnswer:  # noqa: ARG001 - a GateCall
    """For code that is to have none."""
    return GateAnswer(ok=False, result="there are no gates here")


class Asked(Record):
    """A box asks for a gate."""

    gate: str
    arguments: dict[str, Json]
    secret: str = ""
    """Shows that it is a program of this box, where others can reach us by the same way."""


class Ended(Record):
    """A piece of code has come to its end."""

    run: int
    error: str | None = Field(max_length=_LONGEST_ERROR)


_MESSAGES: TypeAdapter[Asked | Ended] = TypeAdapter(Asked | Ended)


def parse_message(line: bytes) -> Asked | Ended:
    """Raises ValueError for what is not a line of the protocol."""
    return _MESSAGES.validate_python(orjson.loads(line))


class Contained(Program):
    """A program under the sandbox's launcher, which ends all the others once it is asked to end."""

    received = 0

    def begin(self) -> None:
        """Forget what was printed so far."""
        self.output.clear()
        self.received, self.over = 0, False
        self.allow_output()

    @property
    def flooding(self) -> bool:
        """Whether it prints far more than anybody will read."""
        return self.received > FLOOD * self._max_output

    @property
    def text(self) -> str:
        """What it printed, as far as it is kept."""
        return self.output.decode("utf-8", "replace")

    async def gives(self, coming: Coroutine[Any, Any, Value]) -> Value | None:
        """What is awaited of it, or None where it is gone or floods us before that comes."""
        stopped = asyncio.ensure_future(self.until(lambda: self.exit_code is not None or self.flooding))
        awaited = asyncio.ensure_future(coming)
        try:
            await asyncio.wait({stopped, awaited}, return_when=asyncio.FIRST_COMPLETED)
            return awaited.result() if awaited.done() else None
        finally:
            for task in (stopped, awaited):
                task.cancel()
            await asyncio.gather(stopped, awaited, return_exceptions=True)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by asyncio."""
        self.received += len(data) if fd == 1 else 0
        super().pipe_data_received(fd, data)

    def _signal(self, number: int) -> bool:
        """Killed, the launcher would leave what it watches to nobody: it is waited for, even blocking."""
        deadline = time.monotonic() + _LAUNCHER_SECONDS
        while number == signal.SIGKILL and not self._gone() and time.monotonic() < deadline:
            time.sleep(0.005)
        return super()._signal(number)

    def _gone(self) -> bool:
        """Looked at without collecting it, which is asyncio's to do."""
        try:
            how = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._transport.get_pid(), how) is not None
        except ChildProcessError:
            return True


@dataclass
class Turn:
    """One run: who answers for the gates, and a clock that stands still while a gate is at work."""

    call: GateCall
    gates: Gates
    clock: asyncio.Timeout
    final: bool = False

    async def answer(self, asked: Asked) -> GateAnswer:
        """Call a gate for the box."""
        if asked.gate not in self.gates:
            return GateAnswer(ok=False, result=f'there is no gate "{shown(asked.gate)}"')
        now, limit = asyncio.get_running_loop().time, self.clock.when()
        left = limit - now() if limit is not None else 0
        self.clock.reschedule(None)
        try:
            answer = await self.call(asked.gate, asked.arguments)
        finally:
            self.clock.reschedule(now() + left)
        self.final = answer.final
        return answer

    def allow(self, seconds: float) -> None:
        """This much time from now, whatever was left."""
        self.clock.reschedule(asyncio.get_running_loop().time() + seconds)


@dataclass
class Box(ABC):
    """A sandboxed program that serves runs, one at a time; `gates` are those it knows."""

    sandbox: Sandbox
    gates: Gates
    program: Contained | None = None
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    _own: Path | None = None

    async def run(self, source: str, call: GateCall = no_gates) -> Ran:
        """Run it to its end or a limit; raises what `call` raises, and SubjectError where nothing starts."""
        async with self._alone:
            try:
                return await self._in_time(source, call)
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """End the program and all it started; another run would start a new one."""
        try:
            if self.program is not None:
                await self.program.end()
        finally:
            self.program = None

    @abstractmethod
    async def serve(self, source: str, turn: Turn) -> Ran:
        """One run, however long it takes."""

    @abstractmethod
    async def stop(self, why: str | None) -> Ran:
        """End it in the middle of a run, with what was printed until then."""

    async def _in_time(self, source: str, call: GateCall) -> Ran:
        seconds = self.sandbox.limits.seconds
        try:
            async with asyncio.timeout(seconds) as clock:
                turn = Turn(call, self.gates, clock)
                return await self.serve(source, turn)
        except TimeoutError:
            if not clock.expired():
                raise
        return await self.stop(None if turn.final else f"not finished after {seconds:g} s")

    def folder(self) -> Path:
        """Ours, and read-only inside: what is written there is not written through a link of theirs."""
        number = 1
        while self._own is None:  # not a random name: it shows in the messages of bash
            with suppress(FileExistsError):
                (self.sandbox.private / f"box-{number}").mkdir()
                self._own = self.sandbox.private / f"box-{number}"
            number += 1
        return self._own

    async def start(
        self, command: Sequence[str], environment: Mapping[str, str], fds: tuple[int, ...] = ()
    ) -> Contained:
        """It sees our folder, and not that of another box, whose gates are not for it."""
        sandbox = replace(self.sandbox, shown=self.folder())
        try:
            self.program = await Contained.start(sandbox.launch(command, environment, fds))
        except (OSError, ValueError) as error:
            raise SubjectError("sandbox", f"no program could be started: {error}") from error
        self.program.hang_up()
        return self.program
