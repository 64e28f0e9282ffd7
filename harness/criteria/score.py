"""Let a function of the scenario's author judge the run (trusted Python only)."""

import inspect
import math
from collections.abc import Callable
from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Json, Transcript


class Score(Criterion):
    """Called with the transcript, or with the transcript and the seed; returns bool, number or Verdict."""

    score_: SkipJsonSchema[Callable[..., Any]] = Field(alias="score")

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or f"score: {_name(self.score_)}"

    def definition(self) -> dict[str, Json]:
        """Code cannot be kept in a report; its name can."""
        return {
            **self.model_dump(mode="json", exclude={"score_"}, exclude_unset=True),
            "score": _name(self.score_),
        }

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """A boolean is worth the maximum or nothing, a number is clamped to it, anything else is an error."""
        given = (
            self.score_(transcript, transcript.seed) if _takes_seed(self.score_) else self.score_(transcript)
        )
        if isinstance(given, Verdict):
            return given
        if isinstance(given, bool):
            return Verdict.when(given, "the function said true", "the function said false")
        if isinstance(given, int | float) and not math.isnan(given):
            points = min(max(float(given), 0.0), self.worth)
            reason = f"the function gave {given:g} of {self.worth:g}"
            return Verdict(
                status="passed" if points == self.worth else "failed", reason=reason, points=points
            )
        kind = type(given).__name__
        return Verdict.error(f"the function returned a value of type {kind}, not a bool, number or Verdict")


def _takes_seed(function: Callable[..., Any]) -> bool:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return sum(parameter.kind in positional for parameter in parameters) > 1


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
