"""Let a function of the scenario's author judge the run (trusted Python only)."""

import inspect
import math
from collections.abc import Callable
from typing import Any

from pydantic import Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.subjects.function import is_async
from harness.transcript import Json, Transcript


class Score(Criterion):
    """Called with the transcript, or with the transcript and the seed; returns bool, number or Verdict."""

    score_: SkipJsonSchema[Callable[..., Any]] = Field(alias="score")

    @field_validator("score_")
    @classmethod
    def _answers_at_once(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        if is_async(function):
            raise ValueError(f"{_name(function)} is async: a score is worked out without waiting")
        return function

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
        given = _called(self.score_, transcript)
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


def _called(function: Callable[..., Any], transcript: Transcript) -> Any:
    """With the seed where it asks for one: by the name `seed`, or by a second parameter without a default."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    more = list(inspect.signature(function).parameters.values())[1:]
    if any(parameter.name == "seed" and parameter.kind != positional[0] for parameter in more):
        return function(transcript, seed=transcript.seed)
    needed = [
        parameter
        for parameter in more
        if parameter.kind in positional and parameter.default is parameter.empty
    ]
    return function(transcript, transcript.seed) if needed else function(transcript)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
