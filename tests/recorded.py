"""Transcripts built event by event, as the recorder would write them."""

import json
from typing import Any

from harness.transcript import EVENTS, Json, Transcript


class Recording:
    """Each method adds one event; `transcript()` is what scoring would read."""

    def __init__(self, seed: int = 1) -> None:
        self.events: list[dict[str, Any]] = []
        self.turn = 0
        self.add("start", scenario="talk", seed=seed, fingerprint="f", subject={"type": "none"}, system=None)

    def add(self, kind: str, parent: int | None = None, /, **fields: Json) -> int:
        seq = len(self.events)
        event = {"v": 1, "seq": seq, "type": kind, "turn": self.turn, "parent": parent, **fields}
        EVENTS.validate_python(event)
        self.events.append(event)
        return seq

    def user(self, text: str) -> "Recording":
        self.turn += 1
        self.add("user", text=text)
        return self

    def says(
        self,
        text: str,
        code: str | None = None,
        medium: str = "conversation",
        parent: int | None = None,
    ) -> "Recording":
        self.add("assistant", parent, text=text, code=code, medium=medium)
        return self

    def uses(self, gate: str, parent: int | None = None, *, answered: bool = True) -> "Recording":
        self.add("gate_call", parent, gate=gate, arguments=None)
        if answered:
            self.add("observation", parent, gate=gate, ok=True, result=None)
        return self

    def child(self, medium: str = "conversation") -> int:
        return self.add("child_start", medium=medium, prompt="help")

    def ends(self, result: Json = None, *, reason: str = "completed", terminated: bool = True) -> Transcript:
        self.add("end", reason=reason, terminated=terminated, result=result)
        return self.transcript()

    def transcript(self) -> Transcript:
        return Transcript(json.loads(json.dumps(self.events)))


def exchange(*turns: tuple[str, str], seed: int = 1) -> Transcript:
    """A conversation of plain messages and replies."""
    recording = Recording(seed)
    for user, assistant in turns:
        recording.user(user).says(assistant)
    return recording.ends(turns[-1][1] if turns else None)


def answer(result: Json, *, terminated: bool = True, seed: int = 1) -> Transcript:
    """A trial of which only the final result matters."""
    reason = "completed" if terminated else "ward"
    return Recording(seed).user("hi").says(str(result)).ends(result, reason=reason, terminated=terminated)
