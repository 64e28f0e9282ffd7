"""A program in any language: started in the workspace, asked on its stdin, answering on its stdout."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, Literal, Self

import orjson
from pydantic import Field, PrivateAttr

from harness.errors import Place
from harness.line_events import LineEvents
from harness.line_protocol import ReplyLine, parse_line
from harness.problems import shown
from harness.process import Launch, Program
from harness.subject import Context, Reply, ScenarioFolder, Session, Subject, SubjectError
from harness.transcript import Json

Item = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]

PASSED_ON = ("PATH", "LANG", "TZ")
"""What a program gets of our environment without asking, and every LC_ variable."""
_LONGEST_VARIABLE = 100_000
"""Bytes: Linux starts no program with a variable of more than 128 KiB."""
_ERROR_LINES = 5
_ERROR_LENGTH = 300


class Command(Subject):
    """An item of `command` that begins with ./ and exists beside the scenario file means that file."""

    starts_programs: ClassVar[bool] = True

    command: tuple[Item, ...] = Field(min_length=1, description="program and arguments; never a shell")
    protocol: Literal["text", "jsonl"] = "text"
    timeout: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="seconds for one answer"
    )
    max_output: int = Field(default=2**20, ge=1, description="bytes of one answer")
    env: dict[Name, str] = Field(default={}, description="variables to set")
    pass_env: tuple[Name, ...] = Field(default=(), description="variables to hand on where they are set")
    _beside: dict[str, Path] = PrivateAttr(default_factory=dict)
    _sha256: dict[str, str] = PrivateAttr(default_factory=dict)

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:
        """Find the program's own files, and remember what is in them: a changed program runs again."""
        settled = self.model_copy()
        for index, item in enumerate(self.command):
            path = folder.path / item
            if item.startswith("./") and path.exists():
                settled._beside[item] = path.absolute()
                if path.is_file():
                    content = folder.read(item, place / "command" / index)
                    settled._sha256[item] = sha256(content).hexdigest()
        return settled

    def identity(self) -> dict[str, Json]:
        """Values of variables only as hashes, since some are secret; those handed on only by name."""
        own = self.model_dump(mode="json", exclude={"timeout", "max_output", "env"})
        env = {name: sha256(value.encode()).hexdigest() for name, value in sorted(self.env.items())}
        return {"type": "command", **own, "env": env, "sha256": self._sha256}

    def open(self, context: Context) -> Session:
        """Nothing is started before the first message."""
        return TextSession(self, context) if self.protocol == "text" else LineSession(self, context)

    def arguments(self) -> list[str]:
        """The command with its own files found."""
        return [str(self._beside.get(item, item)) for item in self.command]

    def environment(self) -> dict[str, str]:
        """What a program sees of ours."""
        kept = {
            name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith("LC_")
        }
        passed = {name: os.environ[name] for name in self.pass_env if name in os.environ}
        return {**kept, **passed, **self.env}


@dataclass
class _CommandSession:
    """What both protocols share: a home for the program, its start, its time limit and its end."""

    subject: Command
    context: Context
    program: Program | None = None
    private: "TemporaryDirectory[str]" = field(
        default_factory=lambda: TemporaryDirectory(prefix="synthesis-", ignore_cleanup_errors=True)
    )

    @property
    def turn(self) -> int:
        """The number of the message that is being answered."""
        return sum(message["role"] == "user" for message in self.context.messages)

    async def start(self, more: dict[str, str]) -> Program:
        """With a home and an environment of its own, and `more` in the latter."""
        launch = Launch(
            self.subject.arguments(),
            self.context.workspace,
            self._environment() | more,
            self.subject.max_output,
        )
        try:
            self.program = await Program.start(launch)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise SubjectError(
                "command", f'"{shown(launch.command[0])}" could not be started: {why}'
            ) from error
        return self.program

    def _environment(self) -> dict[str, str]:
        own = {}
        for name, folder in (("HOME", "home"), ("TMPDIR", "tmp")):
            path = Path(self.private.name, folder)
            path.mkdir(exist_ok=True)
            own[name] = str(path)
        about = {"SYNTHESIS_SCENARIO": self.context.scenario, "SYNTHESIS_SEED": str(self.context.seed)}
        if self.context.system is not None:
            about |= self._about_system(self.context.system)
        return own | self.subject.environment() | about

    def _about_system(self, system: str) -> dict[str, str]:
        content = system.encode()
        file = Path(self.private.name, "system.txt")
        file.write_bytes(content)
        fits = len(content) <= _LONGEST_VARIABLE and "\0" not in system
        return {"SYNTHESIS_SYSTEM_FILE": str(file), **({"SYNTHESIS_SYSTEM": system} if fits else {})}

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """The time limit for one answer."""
        try:
            async with asyncio.timeout(self.subject.timeout):
                yield
        except TimeoutError as error:
            raise self.failed(f"no answer after {self.subject.timeout:g} s", "timeout") from error

    def failed(self, what: str, kind: str = "command") -> SubjectError:
        """With what the program said last on stderr."""
        said = self.program.errors.splitlines() if self.program else []
        lines = [_printable(line) for line in said if line.strip()][-_ERROR_LINES:]
        return SubjectError(kind, f"{what}; stderr: {' | '.join(lines)}" if lines else what)

    def too_much(self) -> SubjectError:
        """The cap was passed."""
        return self.failed(f"more than {self.subject.max_output} bytes of output")

    async def close(self) -> None:
        """End the program and whatever it started."""
        try:
            if self.program is not None:
                await self.program.end()
        finally:
            self.private.cleanup()


class TextSession(_CommandSession):
    """One process a message: the message on stdin, all of stdout is the answer."""

    async def reply(self, message: str) -> Reply:
        """Only the exit code says that the answer is whole."""
        async with self.in_time():
            program = await self.start(self._about_turn())
            program.say(message.encode())
            program.hang_up()
            await program.until(lambda: program.exit_code is not None or program.over)
            await program.end()
        if program.over:
            raise self.too_much()
        if program.exit_code != 0:
            raise self.failed(_exit(program))
        text = self._text(bytes(program.output))
        return Reply(text, result=text)

    def _about_turn(self) -> dict[str, str]:
        messages = Path(self.private.name, "messages.json")
        messages.write_bytes(orjson.dumps(self.context.messages))
        return {"SYNTHESIS_TURN": str(self.turn), "SYNTHESIS_MESSAGES": str(messages)}

    def _text(self, output: bytes) -> str:
        try:
            text = output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.failed(f"the output is not UTF-8 (byte {error.start})") from error
        text = text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
        if not text:
            raise self.failed("no answer: the output is empty")
        return text


class LineSession(_CommandSession):
    """One process for the conversation, one JSON object a line both ways."""

    answered = False

    @cached_property
    def events(self) -> LineEvents:
        """Knows the program's children for as long as the conversation lasts."""
        return LineEvents(self.context.recorder)

    async def reply(self, message: str) -> Reply:
        """Everything up to and with the `reply` line; each line is recorded when it arrives."""
        self.answered = False
        async with self.in_time():
            program = self.program or await self.start({})
            await self._nothing_more(program)
            program.allow_output()
            program.say(orjson.dumps(self._question(message), option=orjson.OPT_APPEND_NEWLINE))
            while True:
                answer = self._taken(await self._next_line(program))
                if answer is not None:
                    self.answered = True
                    return Reply(answer.text, result=answer.final, terminated=answer.terminated)

    async def _nothing_more(self, program: Program) -> None:
        """What it says unasked is an error, not an answer to the next message."""
        await program.catch_up()
        if program.output:
            raise self.failed(f'a line after the reply: "{_quoted(bytes(program.output))}"')

    async def close(self) -> None:
        """A program that has answered and says no more may leave on its own; any other is ended at once."""
        try:
            if self.program is not None and self.answered:
                await self._nothing_more(self.program)
                await self.program.end_by_itself()
        finally:
            await super().close()

    def _question(self, message: str) -> dict[str, Json]:
        about = {"turn": self.turn, "seed": self.context.seed, "scenario": self.context.scenario}
        return {"type": "user", "text": message, **about, "system": self.context.system}

    async def _next_line(self, program: Program) -> bytes:
        def more() -> bool:
            exited = program.exit_code is not None
            return b"\n" in program.output or program.over or program.silent or exited

        await program.until(more)
        line, how = program.take_line(), ""
        if line is None and not program.over:
            await program.exit_soon()
            how = _exit(program)
            await program.end()
            line = program.take_line()
        if line is not None:
            return line
        if program.over:
            raise self.too_much()
        left = f', after half a line: "{_quoted(bytes(program.output))}"' if program.output else ""
        raise self.failed(f"{how} before the reply{left}")

    def _taken(self, said: bytes) -> ReplyLine | None:
        """Record a line, unless it is the reply."""
        try:
            line = parse_line(said)
            if isinstance(line, ReplyLine):
                return line
            self.events.record(line)
        except ValueError as error:
            what = f'not a line of the protocol ({_printable(str(error))}): "{_quoted(said)}"'
            raise self.failed(what) from error
        return None


def _exit(program: Program) -> str:
    code = program.exit_code
    if code is None:
        return "the output was closed"
    if code >= 0:
        return f"exit code {code}"
    names = {int(number): number.name for number in signal.Signals}
    return f"ended by signal {names.get(-code, -code)}"


def _printable(line: str) -> str:
    """Longer than an excerpt from a file may be: the end of a traceback is worth reading whole."""
    return "".join(char if char.isprintable() else "\ufffd" for char in line[:_ERROR_LENGTH])


def _quoted(line: bytes) -> str:
    return shown(line.decode("utf-8", "backslashreplace"))
