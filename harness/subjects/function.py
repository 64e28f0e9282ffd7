"""A Python function, sync or async, called with `(prompt, context)` (trusted Python only)."""

import asyncio
import contextvars
import functools
import inspect
import threading
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from pydantic import field_validator
from pydantic.json_schema import SkipJsonSchema

from harness.errors import words_of
from harness.problems import shown
from harness.subject import Context, Reply, Subject, SubjectError
from harness.transcript import Json

GRACE = 1.0
"""Seconds a cancelled coroutine has to tidy up before it is left to itself."""

Answer = Callable[..., Any]


class Function(Subject):
    """Returns the answer's text, or a Reply."""

    code: ClassVar[bool] = True

    function: SkipJsonSchema[Answer]

    @field_validator("function")
    @classmethod
    def _takes_prompt_and_context(cls, function: Answer) -> Answer:
        try:
            signature = inspect.signature(function)
        except ValueError:
            return function
        try:
            signature.bind("prompt", "context")
        except TypeError as error:
            raise ValueError(f"{name_of(function)} has to take (prompt, context): {error}") from error
        return function

    def identity(self) -> dict[str, Json]:
        """Name and file contents: an edited file runs again. What the function imports is not looked at."""
        path = source_of(self.function)
        digest = None if path is None else sha256(path.read_bytes()).hexdigest()
        return {"type": "function", "function": name_of(self.function), "sha256": digest}

    def open(self, context: Context) -> "FunctionSession":
        """Nothing is called before the first message."""
        return FunctionSession(self.function, context)


@dataclass
class FunctionSession:
    """Calls the function once a message."""

    function: Answer
    context: Context
    task: "asyncio.Task[Any] | None" = None

    async def reply(self, message: str) -> Reply:
        """A sync function runs in a thread of its own, an async one in a task of its own."""
        call = functools.partial(self.function, message, self.context)
        given = call() if is_async(self.function) else await self._in_thread(call)
        if inspect.isawaitable(given):
            given = await self._in_task(given)
        return self._reply(given)

    async def close(self) -> None:
        """Let a cancelled coroutine tidy up; one that will not be cancelled is left behind, unheard."""
        if self.task is not None and not self.task.done():
            await asyncio.wait({self.task}, timeout=GRACE)

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        """A daemon thread, not a pool's: a pool is waited for when the interpreter exits."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        variables = contextvars.copy_context()

        def hand_over(given: Any, error: SubjectError | None) -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(given)
            else:
                answer.set_exception(error)

        def run() -> None:
            given, error = None, None
            try:
                given = variables.run(call)
            except BaseException as raised:  # noqa: BLE001 - around a subject: sys.exit() in it ends no run of ours
                error = self._failure(raised)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(hand_over, given, error)

        threading.Thread(target=run, name=f"subject {name_of(self.function)}", daemon=True).start()
        return await answer

    async def _in_task(self, awaitable: Awaitable[Any]) -> Any:
        """Its own task: one that answers its cancellation with a reply is not heard."""
        self.task = asyncio.ensure_future(self._guarded(awaitable))
        try:
            await asyncio.wait({self.task})
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        if self.task.cancelled():
            raise SubjectError("CancelledError", f"{name_of(self.function)} cancelled itself")
        given, error = self.task.result()
        if error is not None:
            raise error
        return given

    async def _guarded(self, awaitable: Awaitable[Any]) -> tuple[Any, SubjectError | None]:
        """Errors as values: nobody may be there any more to look at them."""
        try:
            return await awaitable, None
        except (Exception, SystemExit) as raised:  # noqa: BLE001 - around a subject
            return None, self._failure(raised)

    def _failure(self, raised: BaseException) -> SubjectError:
        """With the line in the function's own file, where the error passed through it."""
        if isinstance(raised, SubjectError):
            return raised
        path = source_of(self.function)
        frames = traceback.extract_tb(raised.__traceback__)
        own = [frame for frame in frames if path is not None and Path(frame.filename) == path] or frames
        where = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        return SubjectError(type(raised).__name__, f"{name_of(self.function)}, {where}: {words_of(raised)}")

    def _reply(self, given: Any) -> Reply:
        if isinstance(given, str):
            return Reply(given, result=given)
        if isinstance(given, Reply) and isinstance(given.text, str) and isinstance(given.terminated, bool):
            return given if given.result is not None else replace(given, result=given.text)
        what = f"{name_of(self.function)} returned {shown(given)}, not a text or a Reply"
        raise SubjectError("function", what)


def _unwrapped(function: Answer) -> Any:
    """The function under decorators and partial arguments, or the class of an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = inspect.unwrap(function)
    return plain if inspect.isroutine(plain) or inspect.isclass(plain) else type(plain)


def name_of(function: Answer) -> str:
    """How messages and reports call it."""
    return str(_unwrapped(function).__qualname__)


def source_of(function: Answer) -> Path | None:
    """The file it is written in; None for what was not read from a file."""
    try:
        found = inspect.getsourcefile(_unwrapped(function))
    except TypeError:
        return None
    return Path(found) if found is not None and Path(found).is_file() else None


def is_async(function: Answer) -> bool:
    """Whether calling it gives something to wait for, and takes no time itself."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is what is asked about
    )
