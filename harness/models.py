"""Ask models: with retries that are written down, within a budget, no faster than a server can take."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from harness.attempt import Asker, Attempt
from harness.client import Client, Failure, Try, read
from harness.endpoint import Endpoint
from harness.errors import Refused, SubjectError, Withdrawn
from harness.limiter import Limiter
from harness.model import Answer, Question
from harness.recordings import RecordedFailure, RecordedTry, RecordingKey, Recordings, key_of
from harness.retry import backoff
from harness.run_report import StopReason
from harness.secrets import Redactor
from harness.spending import Budget
from harness.transcript import Json

PATIENCE = 2.0
"""Seconds that others wait for the first answer of a model, since a wrong key is told at once."""
Ended = Callable[[StopReason], None]


@dataclass
class Models:
    """Every model of a run is asked through one of these; `ended` hears why the run cannot go on."""

    redactor: Redactor = field(default_factory=Redactor)
    recordings: Recordings | None = None
    budget: Budget = field(default_factory=Budget)
    retries: int = 5
    at_once: int = 8
    ended: Ended = field(default=lambda _: None)

    def __post_init__(self) -> None:
        self._client = Client(self.redactor)
        self._limiters: dict[str, Limiter] = {}
        self._firsts: dict[Endpoint, _First] = {}

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.close()

    async def ask(self, question: Question, endpoint: Endpoint, asker: Asker) -> Answer:
        """The answer; raises SubjectError where there is none, Withdrawn where the run must end first."""
        body = endpoint.provider.body(question, endpoint.name)
        key = key_of(asker, endpoint.model.partition(":")[0], body)
        request = _Request(question, endpoint, body, asker)
        if self.recordings is not None and self.recordings.mode == "replay":
            return self._replayed(key, self.recordings, request)
        if endpoint.lacks:
            self.ended("model")
            raise Refused(endpoint.lacks)
        failed: SubjectError | None = None
        try:
            return await self._asked(request)
        except SubjectError as error:
            failed = error
            raise
        finally:
            self._record(key, request.tries, failed)

    def _replayed(self, key: RecordingKey, recordings: Recordings, request: "_Request") -> Answer:
        """The same attempts with the same figures; nothing waits and nothing is sent."""
        recorded = recordings.load(key)
        for entry in recorded.tries:
            request.asker.attempted(entry.attempt)
        if recorded.failure is not None:
            raise SubjectError(recorded.failure.kind, recorded.failure.message)
        last = recorded.tries[-1]
        if last.attempt.error is not None:
            raise SubjectError("replay", f"the recording ends without an answer: {last.attempt.error}")
        return _answer(read(request.endpoint, last.attempt, last.payload, self.redactor))

    def _record(self, key: RecordingKey, tries: list[Try], failed: SubjectError | None) -> None:
        if self.recordings is None or not tries:
            return
        failure = None
        if failed is not None and tries[-1].answer is None:
            failure = RecordedFailure(kind=failed.kind, message=str(failed))
        entries = [RecordedTry(attempt=made.attempt, payload=made.payload) for made in tries]
        self.recordings.save(key, entries, failure)

    async def _asked(self, request: "_Request") -> Answer:
        first = self._firsts.setdefault(request.endpoint, _First())
        while True:
            self._check_budget()
            async with first.go_ahead():
                made = await self._tried(request)
                first.heard(made.failure)
            wait = self._wait(made, request)
            if wait is not None:
                made = _with_wait(made, wait, request.asker.deadline)
                wait = wait if made.attempt.wait_ms is not None else None
            request.note(made)
            if wait is None:
                return self._settled(made, first)
            await asyncio.sleep(wait)

    async def _tried(self, request: "_Request") -> Try:
        limiter = self._limiters.setdefault(request.endpoint.base_url, Limiter(self.at_once))
        try:
            async with limiter.slot(request.asker.deadline) as age:
                made = await self._sent(request)
                if made.attempt.status == 429:
                    limiter.too_many(age, (made.failure and made.failure.after) or 0.0)
                elif made.answer is not None:
                    limiter.served()
        except TimeoutError as error:
            raise SubjectError("http", f"{error}, and the trial ends before") from error
        return replace(made, attempt=replace(made.attempt, attempt=len(request.tries) + 1))

    async def _sent(self, request: "_Request") -> Try:
        """A request that is not waited for until its end is written down, too."""
        began = time.perf_counter()
        try:
            return await self._client.ask(request.endpoint, request.question, request.body)
        except asyncio.CancelledError:
            waited = round((time.perf_counter() - began) * 1000, 1)
            given_up = "given up before an answer came"
            number = len(request.tries) + 1
            request.note(Try(Attempt(request.endpoint.model, number, latency_ms=waited, error=given_up)))
            raise

    def _wait(self, made: Try, request: "_Request") -> float | None:
        """Seconds until the next try; None where there is none."""
        failure, number = made.failure, len(request.tries) + 1
        if failure is None or not failure.retry or number > self.retries:
            return None
        chance = random.Random(f"{request.asker.scenario}/{request.asker.seed}/{number}")  # noqa: S311 - no secret
        return backoff(number, failure.after, chance)

    def _settled(self, made: Try, first: "_First") -> Answer:
        """What the last try came to."""
        first.given_up(made.failure)
        if made.failure is not None and first.refusal is made.failure:
            self.ended("model")
            raise Refused(made.failure.message)
        if made.failure is not None and made.failure.refused and first.refusal is not None:
            raise Withdrawn(f"the model was refused at the same time: {made.failure.message}")
        answer = _answer(made)
        model = made.attempt.model
        if answer.tokens is not None and self.budget.knows(model):
            self.budget.add(model, answer.tokens.input, answer.tokens.output)
        elif self.budget.limited:
            # The others would be asked for nothing, and nobody knows at which price.
            self.ended("model")
            lacks = "the server counts no tokens" if answer.tokens is None else f"{model} has no price"
            raise SubjectError("usage", f"{lacks}, so --max-cost and --max-tokens cannot be kept")
        return answer

    def _check_budget(self) -> None:
        spent = self.budget.spent()
        if spent is not None:
            self.ended(spent)
            raise Withdrawn(f"--{spent} is reached")


@dataclass(frozen=True)
class _Request:
    question: Question
    endpoint: Endpoint
    body: dict[str, Json]
    asker: Asker
    tries: list[Try] = field(default_factory=list)

    def note(self, made: Try) -> None:
        """One more attempt, for the transcript and for a recording."""
        self.tries.append(made)
        self.asker.attempted(made.attempt)


def _with_wait(made: Try, wait: float, deadline: float | None) -> Try:
    """A wait that ends after the trial has to is not begun."""
    assert made.failure is not None
    left = float("inf") if deadline is None else deadline - asyncio.get_running_loop().time()
    if wait < left:
        return replace(made, attempt=replace(made.attempt, wait_ms=round(wait * 1000, 1)))
    message = f"{made.failure.message}; the next try would be in {wait:.3g} s, and the trial ends before"
    return replace(made, failure=replace(made.failure, message=message))


def _answer(made: Try) -> Answer:
    if made.answer is not None:
        return made.answer
    assert made.failure is not None
    tried = f" (attempt {made.attempt.attempt})" if made.attempt.attempt > 1 else ""
    raise SubjectError(made.failure.kind, f"{made.failure.message}{tried}")


class _First:
    """The first request to a model: a wrong key or name shall be told once, not by every trial at once."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self.proven = False
        self.refusal: Failure | None = None

    @asynccontextmanager
    async def go_ahead(self) -> AsyncIterator[None]:
        """At once where the model has answered before; else after whoever asks it first, or in a while."""
        held = False
        if not self.proven:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    held = await self._lock.acquire()
        if held and self.proven:
            self._lock.release()
            held = False
        try:
            if self.refusal is not None:
                raise Withdrawn(f"the model was refused before: {self.refusal.message}")
            yield
        finally:
            if held:
                self._lock.release()

    def given_up(self, failure: Failure | None) -> None:
        """A server that never was there will not be there for the other trials either."""
        if failure is not None and failure.kind == "unreachable" and not self.proven and self.refusal is None:
            self.refusal = failure

    def heard(self, failure: Failure | None) -> None:
        """A model that has answered before is not refused for one question that it will not answer."""
        if failure is None:
            self.proven = True
        elif failure.refused and self.refusal is None and (not self.proven or failure.kind == "key"):
            self.refusal = failure
