"""Write a trial down as it happens: one event a line, flushed before the next thing is done."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

import orjson
from pydantic import ValidationError

from harness.attempt import Attempt
from harness.errors import SubjectError, words_of
from harness.problems import first_mistake
from harness.secrets import Redactor
from harness.transcript import VERSION, AttemptEvent, Json, Medium, Transcript

_OURS = frozenset({"type", "scenario", "fingerprint", "medium", "level"})
"""What no subject says, and what others look a trial up by."""
_OURS_AT_THE_END = _OURS | {"reason"}
"""Why a child ended is for its subject to say; why the trial did is not."""

MOST_BYTES, MOST_EVENTS = 2**26, 2**16
"""Of one transcript, which is held in memory as well, where each event takes some kilobytes."""


def encode_event(seq: int, kind: str, turn: int, parent: int | None, fields: dict[str, Json]) -> bytes:
    """The one line that stands for an event; raises SubjectError for a value that JSON cannot hold."""
    event = {"v": VERSION, "seq": seq, "type": kind, "turn": turn, "parent": parent, **fields}
    try:
        line = orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise SubjectError("json", f"a value of its {kind} is not JSON: {words_of(error)}") from error
    for key, value in fields.items():
        if not _finite(value):  # orjson would write null
            raise SubjectError("json", f'the "{key}" of its {kind} is not JSON: it holds nan or infinity')
    return line


def end_fields(reason: str, *, terminated: bool, result: Json, ward: str | None) -> dict[str, Json]:
    """What the last event says; a ward only where one ended it."""
    fields = {"reason": reason, "terminated": terminated, "result": result}
    return fields if ward is None else {**fields, "ward": ward}


def _finite(value: Json) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return not isinstance(value, list | tuple) or all(map(_finite, value))


class Recorder:
    """Appends to one transcript, from any thread; after `close`, what still arrives is dropped.

    A file that cannot be written raises OSError with the first event and every later one. After `seal` it
    does not: the error and the end are then kept in memory, so that the trial can be reported. A transcript
    that grows too large raises SubjectError in the same way; the error and the end have room in it always.
    """

    def __init__(self, path: Path, redactor: Redactor = Redactor()) -> None:
        self._redactor = redactor
        self._file = -1
        self._unwritable: OSError | None = None
        self._size = 0
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        except OSError as error:
            self._unwritable = error
        self._lines: list[bytes] = []
        self._lock = Lock()
        self._open = True
        self._sealed = False
        self._children: set[int] = set()
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

    def attempt(self, attempt: Attempt, parent: int | None = None) -> None:
        """A model was asked; figures that are none raise SubjectError, since they are added up later."""
        fields = attempt.fields()
        try:
            AttemptEvent.model_validate({"seq": 0, "turn": 0, "parent": None, **fields}, strict=True)
        except ValidationError as error:
            where, what = first_mistake(error)
            raise SubjectError("attempt", f"its {where}: {what}") from error
        self._write("attempt", fields, parent)

    def sandbox(self, level: str, *, network: bool, parent: int | None = None) -> None:
        """A program of the agent's was started, contained like this."""
        self._write("sandbox", {"level": level, "network": network}, parent)

    def error(self, kind: str, message: str) -> None:
        """Something went wrong that is not the subject's answer."""
        self._write("error", {"kind": kind, "message": message}, None)

    def end(self, reason: str, *, terminated: bool, result: Json = None, ward: str | None = None) -> None:
        """The trial is over."""
        self._write("end", end_fields(reason, terminated=terminated, result=result, ward=ward), None)

    def replay(self, lines: Iterable[bytes]) -> None:
        """Events recorded before, byte for byte but for keys; their `seq` has to go on where we are."""
        with self._lock:
            for line in lines:
                self._append(self._redactor.line(line, _OURS))

    def seal(self) -> None:
        """Only an error and the end are taken from here on: what a failed subject still says is too late."""
        with self._lock:
            self._sealed = True

    def close(self) -> Transcript:
        """Write nothing more, and hand over what was written, read back from its own bytes."""
        with self._lock:
            if self._open:
                self._open = False
                if self._file >= 0:
                    os.close(self._file)
            return Transcript([orjson.loads(line) for line in self._lines])

    def _write(self, kind: str, fields: dict[str, Json], parent: int | None) -> int:
        with self._lock:
            seq = len(self._lines)
            if parent is not None and parent not in self._children:
                raise SubjectError("child", f"there is no child {parent!r} that its {kind} could belong to")
            if kind == "child_start":
                self._children.add(seq)
            if not self._sealed or kind in ("error", "end"):
                ours = _OURS_AT_THE_END if kind == "end" else _OURS
                self._append(self._redactor.line(encode_event(seq, kind, self.turn, parent, fields), ours))
            return seq

    def _append(self, line: bytes) -> None:
        if not self._open:
            return
        self._size += len(line)
        if self._lines and not self._sealed:
            self._refuse_too_much()
        if self._unwritable is None:
            try:
                _write_whole(self._file, line)
            except OSError as error:
                self._unwritable = error
        if self._unwritable is None or self._sealed or not self._lines:
            self._lines.append(line)
        if self._unwritable is not None and not self._sealed:
            raise self._unwritable

    def _refuse_too_much(self) -> None:
        """Once and for all: were a shorter event taken later, the trial could be scored with a gap in it."""
        if self._size > MOST_BYTES:
            raise SubjectError("size", f"its transcript has more than {MOST_BYTES} bytes")
        if len(self._lines) >= MOST_EVENTS:
            raise SubjectError("size", f"its transcript has more than {MOST_EVENTS} events")


def _write_whole(file: int, line: bytes) -> None:
    """A disk that is nearly full takes a part of a line, and says so only when asked to take the rest."""
    written = os.write(file, line)
    while written < len(line):
        written += os.write(file, line[written:])


class Sink:
    """Where a subject says what it does besides answering; the rest of the transcript is not its to write."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def assistant(
        self,
        text: str,
        *,
        code: str | None = None,
        medium: Medium = "conversation",
        parent: int | None = None,
    ) -> None:
        """The subject spoke, on the way to its answer."""
        self._recorder.assistant(text, code=code, medium=medium, parent=parent)

    def gate_call(self, gate: str, arguments: Json, parent: int | None = None) -> None:
        """The subject asked for a gate."""
        self._recorder.gate_call(gate, arguments, parent)

    def observation(self, gate: str, *, ok: bool, result: Json, parent: int | None = None) -> None:
        """A gate answered."""
        self._recorder.observation(gate, ok=ok, result=result, parent=parent)

    def child_start(self, medium: Medium, prompt: str, parent: int | None = None) -> int:
        """A child begins; the number returned is the parent of everything that happens in it."""
        return self._recorder.child_start(medium, prompt, parent)

    def child_end(self, child: int, reason: str, *, terminated: bool, result: Json) -> None:
        """A child ended."""
        self._recorder.child_end(child, reason, terminated=terminated, result=result)

    def attempt(self, attempt: Attempt, parent: int | None = None) -> None:
        """A model was asked."""
        self._recorder.attempt(attempt, parent)

    def sandbox(self, level: str, *, network: bool, parent: int | None = None) -> None:
        """A program of the agent's was started, contained like this."""
        self._recorder.sandbox(level, network=network, parent=parent)


def replay(sink: Sink, lines: Iterable[bytes]) -> None:
    """Events recorded before, taken over byte for byte; not for a subject's own code, so no method."""
    sink._recorder.replay(lines)
