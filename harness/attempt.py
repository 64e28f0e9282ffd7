"""One request to a model, whatever came of it: what a transcript keeps of it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Annotated

from pydantic import AfterValidator, TypeAdapter

from harness.transcript import Count, Json, Milliseconds, Ordinal

_CLOCK_VALUES = frozenset({"latency_ms", "wait_ms"})


@dataclass(frozen=True)
class Attempt:
    """Tokens as the server counted them; `error` is null where it answered; `wait_ms` is to the next try."""

    model: str
    attempt: Ordinal
    status: Count | None = None
    request_id: str | None = None
    latency_ms: Milliseconds = 0.0
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    finish: str | None = None
    error: str | None = None
    wait_ms: Milliseconds | None = None

    def fields(self) -> dict[str, Json]:
        """As an event has them."""
        return asdict(self)

    def timeless(self) -> dict[str, Json]:
        """The fields that do not come from the clock."""
        return {name: value for name, value in self.fields().items() if name not in _CLOCK_VALUES}


_ATTEMPTS = TypeAdapter(Attempt)


def _read_again(fields: dict[str, Json]) -> dict[str, Json]:
    return _ATTEMPTS.validate_python(fields).timeless()


TimelessFields = Annotated[dict[str, Json], AfterValidator(_read_again)]
"""An attempt as judgments keep it, checked when it is read from a file; what is left out is null."""


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
