"""One request to a model, whatever came of it: what a transcript keeps of it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from harness.transcript import Json


@dataclass(frozen=True)
class Attempt:
    """Tokens as the server counted them; `error` is null where it answered; `wait_ms` is to the next try."""

    model: str
    attempt: int
    status: int | None = None
    request_id: str | None = None
    latency_ms: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    error: str | None = None
    wait_ms: float | None = None

    def fields(self) -> dict[str, Json]:
        """As an event has them."""
        return asdict(self)


@dataclass
class Asker:
    """On whose behalf a model is asked; one for each trial, and one for each judge of a trial."""

    scenario: str
    seed: int
    attempted: Callable[[Attempt], None]
    deadline: float | None = None
    """By the loop's clock: no wait goes beyond it."""
    asked: Counter[str] = field(default_factory=Counter)
    """How often each request was made: asked again, it is another question with another answer."""
