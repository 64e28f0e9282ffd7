"""Whoever answers as the model of one conversation: a server, or a script."""

from dataclasses import dataclass, replace
from typing import Protocol

from harness.attempt import Asker, Attempt
from harness.endpoint import Endpoint
from harness.errors import SubjectError
from harness.model import Answer, Message, ModelOptions, Question, ScriptedLine, ScriptedModel, Tool
from harness.models import Models


class Speaker(Protocol):
    """One side of a conversation."""

    seconds: float
    """How long its last answer took, waits and failed attempts not counted."""

    async def answer(self, messages: tuple[Message, ...], tools: tuple[Tool, ...] = ()) -> Answer:
        """What it says next; raises SubjectError where it cannot."""


@dataclass
class ServedSpeaker:
    """A model behind a server, asked under the trial's seed."""

    models: Models
    endpoint: Endpoint
    options: ModelOptions
    asker: Asker
    seconds: float = 0.0

    async def answer(self, messages: tuple[Message, ...], tools: tuple[Tool, ...] = ()) -> Answer:
        """Ask, with as many attempts as it takes."""
        question = Question(messages, self.options, tools, self.asker.seed)
        asker = replace(self.asker, attempted=self._attempted)
        return await self.models.ask(question, self.endpoint, asker)

    def _attempted(self, attempt: Attempt) -> None:
        self.seconds = attempt.latency_ms / 1000
        self.asker.attempted(attempt)


@dataclass
class ScriptedSpeaker:
    """Says its lines in order and does not listen."""

    lines: tuple[ScriptedLine, ...]
    children: tuple[ScriptedModel, ...]
    seed: int
    said: int = 0
    cast: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, model: ScriptedModel, seed: int) -> "ScriptedSpeaker":
        """The lines of this seed."""
        return cls(model.lines(seed), model.children, seed)

    async def answer(self, messages: tuple[Message, ...], tools: tuple[Tool, ...] = ()) -> Answer:  # noqa: ARG002 - as above
        """The next line; running out of them is an error."""
        if self.said >= len(self.lines):
            what = f"the script has {len(self.lines)} answers, and one more was asked for"
            raise SubjectError("script", what)
        line = self.lines[self.said]
        self.said += 1
        return Answer(line, finish="stop") if isinstance(line, str) else line.answer(self.said)

    def child(self) -> "ScriptedSpeaker":
        """Who answers for the next child that is cast."""
        if self.cast >= len(self.children):
            what = f"the script has {len(self.children)} children, and one more was cast"
            raise SubjectError("script", what)
        self.cast += 1
        return ScriptedSpeaker.of(self.children[self.cast - 1], self.seed)
