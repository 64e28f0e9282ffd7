"""Ask one judge about one trial, a bounded number of times."""

import asyncio
from dataclasses import dataclass, field
from hashlib import sha256

from harness.attempt import Asker, Attempt
from harness.endpoint import Endpoint
from harness.errors import SubjectError
from harness.judge_answer import AnswerReader, Reading
from harness.judging import Judging
from harness.judgments import JudgeAnswer, Judgment
from harness.model import Message, ModelOptions, Question, ScriptedModel
from harness.speaker import ScriptedSpeaker
from harness.transcript import Json, Transcript

TRIES = 3
"""Answers to one question; what the network does is tried again elsewhere."""


@dataclass
class Inquiry:
    """One judge asked about one trial; keeps all that was said."""

    transcript: Transcript
    messages: tuple[Message, ...]
    options: ModelOptions
    endpoint: Endpoint | None
    judging: Judging
    answers: list[JudgeAnswer] = field(default_factory=list)
    attempts: list[dict[str, Json]] = field(default_factory=list)

    def __post_init__(self) -> None:
        start = self.transcript.start
        self._asker = Asker(start["scenario"], start["seed"], self._attempted)
        self._speaker: ScriptedSpeaker | None = None

    def judgment(self) -> Judgment:
        """What was said so far."""
        return Judgment(answers=tuple(self.answers), attempts=tuple(self.attempts))

    async def ask(self, repeats: int, reader: AnswerReader) -> str | None:
        """As often as wanted; gives what kept one of the repeats from coming to a score."""
        limit = asyncio.timeout_at(self.judging.deadline)
        try:
            async with limit:
                return await self._scores(repeats, reader)
        except TimeoutError:
            if not limit.expired():
                raise
            return self.judging.too_late

    async def _scores(self, repeats: int, reader: AnswerReader) -> str | None:
        for repeat in range(1, repeats + 1):
            problem = await self._score(repeat, reader)
            if problem is not None:
                return problem if repeats == 1 else f"question {repeat} of {repeats}: {problem}"
        return None

    async def _score(self, repeat: int, reader: AnswerReader) -> str | None:
        """One score, with as many answers as that takes; gives why there is none."""
        own = asyncio.get_running_loop().time() + self.options.request_timeout * TRIES
        self._asker.deadline = own if self.judging.deadline is None else min(own, self.judging.deadline)
        problem = ""
        for number in range(1, TRIES + 1):
            try:
                text = await self._answer(repeat, number)
            except SubjectError as error:
                return f"the judge gave no answer: {error}"
            self.answers.append(JudgeAnswer(repeat=repeat, number=number, text=text))
            reading = reader.read(text)
            if isinstance(reading, Reading):
                return None
            problem = reading
        return f"no score in {TRIES} answers; the last: {problem}"

    async def _answer(self, repeat: int, number: int) -> str:
        """Each under a seed of its own: under the same one, a server would say the same again."""
        if self.endpoint is None:
            return await self._scripted()
        seed = _derived(self.transcript.seed, repeat, number)
        question = Question(self.messages, self.options, seed=seed)
        answer = await self.judging.models.ask(question, self.endpoint, self._asker)
        return answer.text

    async def _scripted(self) -> str:
        if self._speaker is None:
            assert isinstance(self.options.model, ScriptedModel)  # `settle` has seen to it
            self._speaker = ScriptedSpeaker.of(self.options.model, self.transcript.seed)
        answer = await self._speaker.answer(self.messages)
        return answer.text

    def _attempted(self, attempt: Attempt) -> None:
        self.attempts.append(attempt.timeless())


def _derived(*parts: int) -> int:
    """A seed that every server takes: 31 bits."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
