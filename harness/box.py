"""Boxes: where an agent's own code and commands run, in a sandbox, with gates as functions or as commands."""

import asyncio
import json
import os
import re
import secrets
import shlex
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.box_run import LONGEST_LINE, Asked, Box, Contained, Ended, Turn, parse_message
from harness.box_run import GateAnswer as GateAnswer  # noqa: PLC0414 - mediums find them here
from harness.box_run import GateCall as GateCall  # noqa: PLC0414
from harness.box_run import Ran as Ran  # noqa: PLC0414
from harness.errors import SubjectError
from harness.sandbox import ISOLATED, PYTHON

_HERE = Path(__file__).parent
_LAST_WORDS = 1.0
"""Seconds that code has to come to its end after a final gate."""
_CONNECTIONS = 32
_LONGEST_ADDRESS = 100
# `done` ends a loop in bash: a script that calls it like a command can be read only where it is quoted.
_CHOOSE = """
    cmp -s "$0" "$1" || bash -n "$0" 2>/dev/null || { bash -n "$1" 2>/dev/null && exec bash "$1"; }
    exec bash "$0"
"""
_DONE = re.compile(r"(^|[;&|({]|\b(?:then|do|else)\b)([ \t]*)done(?=[ \t]+(?!\d*[<>])[^\s;&|<>(){}#])", re.M)
_BROKEN = "what it sent us was not understood"


@dataclass
class CodeBox(Box):
    """One Python process that keeps its variables from run to run; gates are functions."""

    _lines: asyncio.StreamReader = field(init=False)
    _writer: asyncio.StreamWriter | None = None
    _runs: int = 0

    async def serve(self, source: str, turn: Turn) -> Ran:
        """The code, and every gate it asks for on the way."""
        program = self.program or await self._begin()
        program.begin()
        self._runs += 1
        await self._say(json.dumps({"run": self._runs, "code": source}).encode() + b"\n")
        while not isinstance(message := await self._next(program), Ended):
            if isinstance(message, str) or turn.final:
                return await self.stop(None if turn.final else str(message))
            answer = await turn.answer(message)
            await self._say(answer.line())
            if answer.final:
                turn.allow(_LAST_WORDS)
        if message.run != self._runs:
            return await self.stop(_BROKEN)
        return Ran(program.text, message.error, truncated=program.over)

    async def stop(self, why: str | None) -> Ran:
        """With the process go its variables."""
        program = self.program
        await self.close()
        if program is None:
            return Ran("", why)
        why = program.errors or why
        return Ran(program.text, why and f"{why}; the variables are lost", truncated=program.over)

    async def close(self) -> None:
        """End the process, and the line to it."""
        try:
            await super().close()
        finally:
            if self._writer is not None:
                self._writer.transport.abort()
                self._writer = None

    async def _begin(self) -> Contained:
        runner = self.folder() / "box_runner.py"
        shutil.copyfile(_HERE / runner.name, runner)
        ours, theirs = socket.socketpair()
        with theirs:
            self._lines, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
            gates = json.dumps({name: list(fields) for name, fields in self.gates.items()})
            words = (self.sandbox.inside(runner), str(theirs.fileno()), gates)
            program = await self.start([PYTHON, *ISOLATED, *words], {}, (theirs.fileno(),))
        if not isinstance(await self._next(program), Ended):
            await program.end()  # so that what it said is whole
            raise SubjectError("sandbox", f"Python does not start in it: {program.errors or program.text}")
        return program

    async def _say(self, line: bytes) -> None:
        assert self._writer is not None
        self._writer.write(line)
        with suppress(ConnectionError):
            await self._writer.drain()

    async def _next(self, program: Contained) -> Asked | Ended | str:
        """A text says why nothing more comes, or nothing that makes sense."""
        try:
            line = await program.gives(self._lines.readuntil(b"\n"))
            return parse_message(line) if line is not None else _why(program)
        except (asyncio.IncompleteReadError, ConnectionError):
            await program.exit_soon()
            return _why(program)
        except (asyncio.LimitOverrunError, ValueError):
            return _BROKEN


@dataclass
class ShellBox(Box):
    """A new bash for every command, in the workspace; gates are commands."""

    _waiting: "asyncio.Queue[tuple[Asked, asyncio.Future[bytes]]]" = field(default_factory=asyncio.Queue)
    _connections: set["asyncio.Task[None]"] = field(default_factory=set)
    _secret: bytes = field(default_factory=lambda: secrets.token_hex().encode(), repr=False)
    """In a file that other boxes cannot read, where the level holds that; some can reach our socket."""

    async def serve(self, source: str, turn: Turn) -> Ran:
        """The command, and every gate it asks for on the way, one at a time."""
        scripts = [self.folder() / "command", self.folder() / "command-quoted"]
        readable = quoted_done(source) if "done" in self.gates else source
        for script, text in zip(scripts, (source, readable), strict=True):
            script.write_bytes(text.encode("utf-8", "replace"))
        bash = ["bash", "-c", _CHOOSE, *map(self.sandbox.inside, scripts)]
        async with self._listening():
            program = await self.start(bash, self._environment())
            while (waiting := await program.gives(self._waiting.get())) is not None:
                asked, answered = waiting
                if answered.cancelled():
                    continue
                answer = await turn.answer(asked)
                if turn.final:
                    break
                if not answered.done():
                    answered.set_result(answer.line())
            return await self.stop(_flood(program))

    async def stop(self, why: str | None) -> Ran:
        """The exit code is 0 where a final gate ended it."""
        program = self.program
        if program is None:
            return Ran("", why)
        code = 0 if program.exit_code is None and why is None else program.exit_code
        await self.close()
        why = program.errors or why
        return Ran(program.text, why, None if why else code, truncated=program.over)

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        self._waiting = asyncio.Queue()
        address = self.folder() / "gates"
        with _listener(address) as listener:
            server = await asyncio.start_unix_server(self._connected, sock=listener, limit=LONGEST_LINE)
            try:
                yield
            finally:
                server.close()
                for connection in self._connections:
                    connection.cancel()
                await asyncio.gather(*self._connections, return_exceptions=True)
                address.unlink(missing_ok=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One gate command; more of them at once than anybody needs are turned away."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) <= _CONNECTIONS:
                await self._converse(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
            pass
        except asyncio.CancelledError:
            pass  # the command is over; asyncio 3.11 would report as a mistake what is passed on
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        message = parse_message(await reader.readuntil(b"\n"))
        if isinstance(message, Asked) and secrets.compare_digest(message.secret.encode(), self._secret):
            answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._waiting.put_nowait((message, answered))
            hung_up = asyncio.ensure_future(_end_of(reader))
            hung_up.add_done_callback(lambda _: answered.cancel())
            try:
                writer.write(await answered)
            finally:
                hung_up.cancel()
            await writer.drain()

    def _environment(self) -> dict[str, str]:
        """Each gate a command on PATH, before any other of its name."""
        folder = self.folder() / "bin"
        if not folder.exists():
            folder.mkdir()
            (self.folder() / "secret").write_bytes(self._secret)
            shutil.copyfile(_HERE / "box_gate.py", self.folder() / "box_gate.py")
            for name, fields in self.gates.items():
                words = [PYTHON, *ISOLATED, self.sandbox.inside(self.folder() / "box_gate.py")]
                words += [self.sandbox.inside(self.folder() / "gates"), name, json.dumps(list(fields))]
                (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
                (folder / name).chmod(0o755)
        return {"PATH": f"{self.sandbox.inside(folder)}:{self.sandbox.path}"}


async def _end_of(reader: asyncio.StreamReader) -> None:
    """There is nothing to be said after a question: whatever comes next is the end of it."""
    with suppress(ConnectionError):
        await reader.read(1)


def quoted_done(script: str) -> str:
    """The script with every `done` that has an argument made the name of a command, not a loop's end."""
    return _DONE.sub(r"\1\2\\done", script)


def _listener(address: Path) -> socket.socket:
    """Bound through its folder where the address is longer than a socket's may be."""
    listener = socket.socket(socket.AF_UNIX)
    if len(os.fsencode(address)) < _LONGEST_ADDRESS:
        listener.bind(str(address))
        return listener
    folder = os.open(address.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{address.name}")
    finally:
        os.close(folder)
    return listener


def _flood(program: Contained) -> str | None:
    return f"stopped after {program.received} bytes of output" if program.flooding else None


def _why(program: Contained) -> str:
    return _flood(program) or f"the process ended with exit code {program.exit_code}"
