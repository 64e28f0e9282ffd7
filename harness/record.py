"""Write a trial down as it happens: one event a line, flushed before the next thing is done."""

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Protocol

import orjson

from harness.transcript import VERSION, Json, Medium, Transcript


class Sink(Protocol):
    """Where a subject says what it does besides answering."""

    def gate_call(self, gate: str, arguments: Json) -> None:
        """The subject asked for a gate."""

    def observation(self, gate: str, *, ok: bool, result: Json) -> None:
        """A gate answered."""


def encode_event(seq: int, kind: str, turn: int, parent: int | None, fields: dict[str, Json]) -> bytes:
    """The one line that stands for an event."""
    event = {"v": VERSION, "seq": seq, "type": kind, "turn": turn, "parent": parent, **fields}
    return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


class Recorder:
    """Appends to one transcript, from any thread; after `close`, what still arrives is dropped."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self._lines: list[bytes] = []
        self._lock = Lock()
        self._open = True
        self._sealed = False
        self.turn = 0

    def start(self, fields: dict[str, Json]) -> None:
        """The trial begins."""
        self._write("start", fields, None)

    def user(self, text: str) -> None:
        """The person's next message; everything up to the one after belongs to its turn."""
        self.turn += 1
        self._write("user", {"text": text}, None)

    def assistant(
        self,
        text: str,
        *,
        code: str | None = None,
        medium: Medium = "conversation",
        parent: int | None = None,
    ) -> None:
        """The subject spoke."""
        self._write("assistant", {"text": text, "code": code, "medium": medium}, parent)

    def gate_call(self, gate: str, arguments: Json, parent: int | None = None) -> None:
        """The subject asked for a gate."""
        self._write("gate_call", {"gate": gate, "arguments": arguments}, parent)

    def observation(self, gate: str, *, ok: bool, result: Json, parent: int | None = None) -> None:
        """A gate answered."""
        self._write("observation", {"gate": gate, "ok": ok, "result": result}, parent)

    def child_start(self, medium: Medium, prompt: str, parent: int | None = None) -> int:
        """A child begins; the number returned is the parent of everything that happens in it."""
        return self._write("child_start", {"medium": medium, "prompt": prompt}, parent)

    def child_end(self, child: int, reason: str, *, terminated: bool, result: Json) -> None:
        """A child ended."""
        self._write("child_end", {"reason": reason, "terminated": terminated, "result": result}, child)

    def error(self, kind: str, message: str) -> None:
        """Something went wrong that is not the subject's answer."""
        self._write("error", {"kind": kind, "message": message}, None)

    def end(self, reason: str, *, terminated: bool, result: Json = None) -> None:
        """The trial is over."""
        self._write("end", {"reason": reason, "terminated": terminated, "result": result}, None)

    def replay(self, lines: Iterable[bytes]) -> None:
        """Events recorded before, taken over byte for byte; their `seq` has to go on where we are."""
        with self._lock:
            for line in lines:
                self._append(line)

    def seal(self) -> None:
        """Only an error and the end are taken from here on: what a failed subject still says is too late."""
        with self._lock:
            self._sealed = True

    def close(self) -> Transcript:
        """Write nothing more, and hand over what was written, read back from its own bytes."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._file)
            return Transcript([orjson.loads(line) for line in self._lines])

    def _write(self, kind: str, fields: dict[str, Json], parent: int | None) -> int:
        with self._lock:
            seq = len(self._lines)
            if not self._sealed or kind in ("error", "end"):
                self._append(encode_event(seq, kind, self.turn, parent, fields))
            return seq

    def _append(self, line: bytes) -> None:
        if self._open:
            os.write(self._file, line)
            self._lines.append(line)
