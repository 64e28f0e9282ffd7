"""Models asked as a trial asks them, and what was written down of it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness.attempt import Asker, Attempt
from harness.endpoint import Endpoint
from harness.errors import SubjectError
from harness.model import Answer, Message, ModelOptions, Question
from harness.models import Models

KEY = "sk-planted-0123456789abcdef"
Result = TypeVar("Result")


def endpoint(base_url: str, model: str = "openai:m", *, key: str | None = KEY, hint: str = "") -> Endpoint:
    return Endpoint(model, base_url, key, hint)


@dataclass
class Trial:
    """Someone who asks; keeps what is written down."""

    seed: int = 1
    scenario: str = "talk"
    deadline: float | None = None
    attempts: list[Attempt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asker = Asker(self.scenario, self.seed, self.attempts.append, self.deadline)

    async def ask(self, models: Models, where: Endpoint, text: str = "Hi.", **options: Any) -> Answer:
        question = Question((Message("user", text),), ModelOptions(**options), seed=self.seed)
        return await models.ask(question, where, self.asker)

    async def fails(self, models: Models, where: Endpoint, **options: Any) -> SubjectError:
        try:
            answer = await self.ask(models, where, **options)
        except SubjectError as error:
            return error
        raise AssertionError(f"it was answered: {answer}")

    @property
    def statuses(self) -> list[int | None]:
        return [attempt.status for attempt in self.attempts]


def run(models: Models, work: Coroutine[Any, Any, Result], *, seconds: float = 20) -> Result:
    """In a loop of its own, with the connections closed at its end."""

    async def whole() -> Result:
        try:
            return await asyncio.wait_for(work, seconds)
        finally:
            await models.close()

    return asyncio.run(whole())
