"""A gate as a command of the shell.

Started inside a sandbox, with the standard library alone: `python box_gate.py SOCKET GATE FIELDS
ARGUMENTS…`, where FIELDS is JSON, the names of the arguments, and beside SOCKET lies the file `secret`.
Arguments are given in order, or as `--name value`, or all at once as one JSON object. A text comes out as it
is, anything else as JSON; a refusal goes to stderr, with exit code 1.
"""

import json
import os
import socket
import sys
from typing import Any


def arguments_of(words: list[str], fields: list[str]) -> dict[str, Any]:
    """Raises ValueError for what cannot be understood; a word that only looks like an option is a value."""
    if len(words) == 1 and (given := as_object(words[0])) is not None and given.keys() <= set(fields):
        return given
    named: dict[str, Any] = {}
    placed: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if word == "--":
            placed += rest
        elif word.startswith("--") and name in fields:
            named[name] = value if equals else next_value(name, rest)
        else:
            placed.append(word)
    free = [field for field in fields if field not in named]
    if len(placed) > len(free):
        raise ValueError(f"{len(words)} arguments are too many: {', '.join(fields) or 'it takes none'}")
    return dict(zip(free, placed, strict=False)) | named


def as_object(word: str) -> dict[str, Any] | None:
    """The word as a JSON object with something in it."""
    try:
        value = json.loads(word)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None


def next_value(name: str, rest: Any) -> str:
    """What follows an option."""
    value: str | None = next(rest, None)
    if value is None:
        raise ValueError(f"--{name} needs a value")
    return value


def ask(address: str, gate: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Raises OSError or ValueError where there is no answer."""
    os.chdir(os.path.dirname(address))  # noqa: PTH120 - an address of more than 107 bytes cannot be connected to
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.basename(address))  # noqa: PTH119
        with open("secret", encoding="ascii") as file:  # noqa: PTH123 - with as little as can be
            message = {"gate": gate, "arguments": arguments, "secret": file.read()}
        connection.sendall(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
    return answer


def main(address: str, gate: str, fields: list[str], words: list[str]) -> int:
    """Ask, print, and say by the exit code whether it was granted."""
    try:
        answer = ask(address, gate, arguments_of(words, fields))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{gate}: {error or 'no answer'}\n")
        return 1
    result = answer["result"]
    said = result if isinstance(result, str) else f"{json.dumps(result, ensure_ascii=False)}\n"
    if not answer["ok"]:
        sys.stderr.write(f"{gate}: {said.rstrip()}\n")
        return 1
    sys.stdout.write(said if result is not None else "")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:]))
