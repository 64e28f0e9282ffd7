"""The pipeline's data types: frozen, validated, no I/O."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Side = Literal["user", "assistant"]
Status = Literal["passed", "failed", "not_applicable", "error"]


class Record(BaseModel):
    """A frozen value; unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Turn(Record):
    """What one person said and what the assistant answered; `user` is empty where it is not known."""

    user: str = ""
    assistant: str


class Hit(Record):
    """One place where a rule matched; offsets are code points of the original text."""

    rule: str
    group: str
    text: str
    start: int
    end: int
    side: Side = Field(default="assistant", description="whose text the offsets point into")


class CheckResult(Record):
    """What every checker returns; a checker adds its own evidence fields."""

    status: Status
    passed: bool | None = Field(alias="pass")
    reason: str
    spans: tuple[Hit, ...]

    def condensed(self) -> dict[str, object]:
        """The evidence that belongs in a list of failures, under the names used there."""
        return {}


def distinct_texts(hits: Iterable[Hit]) -> tuple[str, ...]:
    """The matched texts, each once, in the order they first appear."""
    return tuple(dict.fromkeys(hit.text for hit in hits))


def distinct_rules(hits: Iterable[Hit]) -> int:
    """How many different rules matched: a rule counts once however often it matched."""
    return len({hit.rule for hit in hits})
