"""Run an agent's code, piece by piece, with variables that stay and gates as functions.

Started inside a sandbox, with the standard library alone: `python box_runner.py FD GATES`, where FD is a
socket and GATES is JSON, the names of each gate's arguments. One JSON object a line: `{"run": 1, "code":
…}` comes in, `{"gate": …, "arguments": {…}}` asks for a gate, `{"run": 1, "error": …}` is the end of that
piece; run 0 is the start. What the code prints goes to stdout, which is not ours to use.
"""

import ast
import json
import linecache
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

LONGEST_ECHO = 10_000
LONGEST_ERROR = 4_000
LONGEST_LINE = 2**23


class GateError(Exception):
    """A gate refused, and says why."""


class Stop(BaseException):
    """A gate said that nothing more is to be done; not an Exception, which ordinary code would catch."""


class Channel:
    """The line to whoever started us."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self._socket = socket.socket(fileno=fd)
        self._lines = self._socket.makefile("rb")
        self._one_at_a_time = threading.Lock()
        self._owner = os.getpid()

    def say(self, message: dict[str, Any]) -> None:
        """Raises what json raises for values that are not JSON, and ValueError for text that is not UTF-8."""
        line = json.dumps(message, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        if len(line) > LONGEST_LINE:
            raise GateError(f"more than {LONGEST_LINE} bytes of arguments")
        self._socket.sendall(line)

    def hear(self) -> dict[str, Any]:
        """The next message; ends us where there is nobody left to send one."""
        line = self._lines.readline()
        if not line:
            os._exit(0)
        heard: dict[str, Any] = json.loads(line)
        return heard

    def call(self, gate: str, arguments: dict[str, Any]) -> Any:
        """Ask for a gate and wait for its answer."""
        self.stay_alone()
        with self._one_at_a_time:
            self.say({"gate": gate, "arguments": arguments})
            answer = self.hear()
        if answer["final"]:
            raise Stop
        if not answer["ok"]:
            raise GateError(answer["result"])
        return answer["result"]

    def stay_alone(self) -> None:
        """A process that the code forked must not speak for us."""
        if os.getpid() != self._owner:
            os._exit(1)


def gate_function(channel: Channel, name: str, fields: list[str]) -> Callable[..., Any]:
    """A gate as a function of its arguments, by position or by name."""

    def gate(*values: Any, **named: Any) -> Any:
        if len(values) > len(fields):
            raise TypeError(f"{name}() takes {len(fields)} arguments, not {len(values)}: {', '.join(fields)}")
        placed = dict(zip(fields, values, strict=False))
        for twice in placed.keys() & named.keys():
            raise TypeError(f'{name}() got "{twice}" twice')
        return channel.call(name, placed | named)

    gate.__name__ = gate.__qualname__ = name
    return gate


def execute(code: str, name: str, variables: dict[str, Any]) -> str | None:
    """Run one piece; says what went wrong, or None. The value of a last expression is printed."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    try:
        statements, last = compiled(code, name)
        exec(statements, variables)  # noqa: S102 - the point of it
        value = eval(last, variables) if last else None  # noqa: S307 - the point of it
        if value is not None:
            said = repr(value)
            print(said if len(said) <= LONGEST_ECHO else f"{said[:LONGEST_ECHO]}…")  # noqa: T201 - like a prompt
    except Stop:
        return None
    except BaseException as error:  # noqa: BLE001 - all of it is the agent's, SystemExit too
        return explained(error)
    return None


def compiled(code: str, name: str) -> tuple[CodeType, CodeType | None]:
    """The statements, and the expression after them if the code ends with one."""
    tree = ast.parse(code, name)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return compile(tree, name, "exec"), None
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    return compile(tree, name, "exec"), compile(ast.Expression(last.value), name, "eval")


def explained(error: BaseException) -> str:
    """A traceback with the agent's own frames alone."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<code ")
    ]
    lines = ["Traceback (most recent call last):\n", *traceback.StackSummary.from_list(frames).format()]
    said = "".join([*(lines if frames else ()), *traceback.format_exception_only(error)]).rstrip()
    said = said.encode("utf-8", "backslashreplace").decode()
    return said if len(said) <= LONGEST_ERROR else f"…{said[-LONGEST_ERROR:]}"


def fresh_output() -> None:
    """The code may have closed or replaced what it prints to; errors join it, in order."""
    output = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)  # noqa: SIM115
    sys.stdout = sys.stderr = output


def flush_output() -> None:
    """The code may have closed its output, or put something else in its place."""
    try:
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - whatever the code put there may raise what it likes
        return


def main(fd: int, gates: dict[str, list[str]]) -> None:
    """Serve pieces of code until there is nobody left to send one."""
    channel = Channel(fd)
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - with as little as can be
    own = {name: gate_function(channel, name, fields) for name, fields in gates.items()}
    vars(module).update(own, GateError=GateError)
    channel.say({"run": 0, "error": None})
    while True:
        piece = channel.hear()
        fresh_output()
        error = execute(piece["code"], f"<code {piece['run']}>", vars(module))
        channel.stay_alone()
        flush_output()
        channel.say({"run": piece["run"], "error": error})


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
