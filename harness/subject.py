"""What is being evaluated: anything that answers a person's messages."""

import random
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol, Self

from pydantic import Field

from harness.attempt import Asker, Attempt
from harness.endpoint import ModelAccess
from harness.errors import Place, SynthesisError
from harness.errors import SubjectError as SubjectError  # noqa: PLC0414 - subjects find it here
from harness.json_file import read_regular
from harness.models import Models
from harness.problems import shown
from harness.record import Sink
from harness.records import Record
from harness.transcript import Json


@dataclass
class Context:
    """What a subject knows about its trial; `messages` grows as the conversation goes on."""

    scenario: str
    seed: int
    workspace: Path
    system: str | None
    recorder: Sink
    messages: list[dict[str, str]] = field(default_factory=list)
    turns: int = 1
    """How many messages the person has for this conversation."""
    models: Models = field(default_factory=Models, repr=False)
    deadline: float | None = None
    """When the trial's time is up, by the loop's clock."""

    @cached_property
    def random(self) -> random.Random:
        """One generator for the whole trial; what it gives depends on the seed alone."""
        return random.Random(self.seed)  # noqa: S311 - repeatability, not secrecy

    @cached_property
    def asker(self) -> Asker:
        """Every model this trial asks is asked for it; each attempt is recorded."""
        return Asker(self.scenario, self.seed, self.recorder.attempt, self.deadline)

    def child_asker(self, parent: int) -> Asker:
        """The same for a child: its attempts are recorded under it."""

        def attempted(attempt: Attempt) -> None:
            self.recorder.attempt(attempt, parent)

        return Asker(self.scenario, self.seed, attempted, self.deadline, self.asker.asked)


@dataclass(frozen=True)
class Reply:
    """One answer; `text` is recorded unless the session `recorded` its turns itself."""

    text: str
    result: Json = None
    terminated: bool = True
    recorded: bool = False
    ward: str | None = None
    """What ended it, where it did not end by itself."""


class Session(Protocol):
    """One conversation with the subject."""

    async def reply(self, message: str) -> Reply:
        """Answer the person's next message."""

    async def close(self) -> None:
        """Let go of whatever the conversation held; called once, also after a timeout."""


class FileText(Record):
    """Text or bytes from a file, its path relative to the scenario file."""

    file: str = Field(min_length=1)


@dataclass(frozen=True)
class ScenarioFolder:
    """Where a scenario file lies and what it may use: with `confined`, no file elsewhere and no server."""

    path: Path
    confined: bool = False
    access: ModelAccess = field(default_factory=ModelAccess)

    def fixed(self) -> "ScenarioFolder":
        """For a subject that the command line does not replace."""
        return replace(self, access=replace(self.access, override=False))

    def read(self, name: str, place: Place) -> bytes:
        """The bytes of a file named at a place in the scenario file."""
        try:
            path = self.path / name
            if self.confined and not path.resolve().is_relative_to(self.path.resolve()):
                fix = "keep it beside the scenario file, or run without --data-only"
                raise SynthesisError(
                    f'"{shown(name)}" is outside the scenario\'s folder', where=place, fix=fix
                )
            return read_regular(path)
        except (OSError, ValueError, RuntimeError) as error:
            what = f'"{shown(name)}" cannot be read: {error}'
            fix = "check the path, relative to the scenario file"
            raise SynthesisError(what, where=place, fix=fix) from error

    def read_text(self, text: FileText, place: Place) -> str:
        """The text of a file named at a place in the scenario file."""
        try:
            return self.read(text.file, place / "file").decode("utf-8")
        except UnicodeDecodeError as error:
            what = "the file is not UTF-8"
            raise SynthesisError(what, where=place / "file", fix="save it as UTF-8") from error


class Subject(Record):
    """A subclass's fields are its keys in a scenario file; `type` is the name of its file."""

    code: ClassVar[bool] = False
    """Whether it is Python code, which only a trusted .py file may name."""
    starts_programs: ClassVar[bool] = False
    """Whether it starts programs, which --data-only refuses."""
    asks_model: ClassVar[bool] = False
    """Whether a language model answers, which --model can name."""

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:  # noqa: ARG002 - for those that have files
        """The subject with the files it names read, before anything runs; raises what is wrong with them."""
        return self

    def system_prompt(self, system: str | None) -> str | None:
        """What is really sent as the system prompt, `system` being the scenario's."""
        return system

    @abstractmethod
    def open(self, context: Context) -> Session:
        """Begin one conversation, in a fresh workspace."""

    def identity(self) -> dict[str, Json]:
        """What reports and fingerprints keep of it."""
        return {"type": type(self).__module__.rpartition(".")[2], **self.model_dump(mode="json")}
