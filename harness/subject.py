"""What is being evaluated: anything that answers a person's messages."""

import random
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from harness.record import Recorder
from harness.records import Record
from harness.transcript import Json


class SubjectError(Exception):
    """The subject could not answer; the trial is recorded as an error, never as a score."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Context:
    """What a subject knows about its trial; `messages` grows as the conversation goes on."""

    scenario: str
    seed: int
    workspace: Path
    system: str | None
    recorder: Recorder
    messages: list[dict[str, str]] = field(default_factory=list)

    @property
    def random(self) -> random.Random:
        """A generator that depends on the seed alone."""
        return random.Random(self.seed)  # noqa: S311 - repeatability, not secrecy


@dataclass(frozen=True)
class Reply:
    """One answer; `text` is recorded unless the session `recorded` its turns itself."""

    text: str
    result: Json = None
    terminated: bool = True
    recorded: bool = False


class Session(Protocol):
    """One conversation with the subject."""

    async def reply(self, message: str) -> Reply:
        """Answer the person's next message."""

    async def close(self) -> None:
        """Let go of whatever the conversation held; called once, also after a timeout."""


class Subject(Record):
    """A subclass's fields are its keys in a scenario file; `type` is the name of its file."""

    code: ClassVar[bool] = False
    """Whether it is Python code, which only a trusted .py file may name."""
    starts_programs: ClassVar[bool] = False
    """Whether it starts programs, which --data-only refuses."""

    @abstractmethod
    def open(self, context: Context) -> Session:
        """Begin one conversation, in a fresh workspace."""

    def identity(self) -> dict[str, Json]:
        """What reports and fingerprints keep of it."""
        return {"type": type(self).__module__.rpartition(".")[2], **self.model_dump(mode="json")}
