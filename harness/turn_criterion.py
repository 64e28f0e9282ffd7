"""What criteria share that put the turns of a trial to the turn evaluator."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Annotated, Literal, Self

import orjson
from pydantic import Field, PrivateAttr, StrictBool, StrictInt

from harness.criterion import Criterion, CriterionStamp, Verdict, select_turns
from harness.dimension import dimensions
from harness.errors import Place
from harness.facts import ScenarioFacts
from harness.run_report import TurnStamp
from harness.settings import CheckSettings, TurnSettings
from harness.transcript import Json, Transcript
from harness.turn_evaluation import Memory, Source, Stance, ToolInvocation, TurnContext, TurnEvaluation

Golden = str | Annotated[tuple[str, ...], Field(min_length=1)]
_NO_TOOLS = frozenset({"done"})
"""Ends the work; that it was called says nothing about tools."""


class TurnCriterion(Criterion):
    """The golden answer, what is known of the person, and which turns; tools come from the transcript."""

    golden: Golden = Field(default="", description="the answer to compare with; a list has one for each turn")
    stance: Stance | None = Field(default=None, description="the tone that is asked for")
    memories: tuple[Memory, ...] | None = Field(default=None, description="the scenario's if left out")
    expects_refusal: StrictBool | None = Field(default=None, description="the scenario's if left out")
    sources: tuple[Source, ...] = ()
    turns: Literal["every", "last"] | Annotated[StrictInt, Field(ge=1)] = Field(
        default="every", description="which turns; a number counts from 1"
    )
    combine: Literal["all", "any", "mean"] = Field(
        default="all", description="what makes one verdict of many"
    )
    min: float | None = Field(default=None, ge=0, le=1, strict=True, description="the least a turn may have")
    _settings: TurnSettings = PrivateAttr(default=TurnSettings())

    def settle(self, facts: ScenarioFacts, place: Place) -> Self:  # noqa: ARG002 - as others
        """What the scenario knows becomes part of the definition, so that a report can be scored again."""
        given = {"memories": facts.memories or None, "expects_refusal": facts.expects_refusal}
        new = {
            name: value for name, value in given.items() if value is not None and getattr(self, name) is None
        }
        settled = self.model_copy(update=new)
        settled._settings = facts.turns
        return settled

    @property
    def settings(self) -> TurnSettings:
        """How dimensions make a score."""
        return self._settings

    def stamp(self, settings: CheckSettings) -> CriterionStamp:  # noqa: ARG002 - as others
        """How dimensions are weighed; all criteria of a run share the project's settings."""
        own = self._settings
        weights = {each.name: each.weight for each in dimensions()} | own.weights
        numbers = _numbers_hash()
        stamp = TurnStamp(weights=weights, pass_at=own.pass_at, warn_below=own.warn_below, numbers=numbers)
        return CriterionStamp(turns=stamp)

    def evaluated_turns(self, verdict: Verdict) -> Sequence[Mapping[str, Json]]:
        """Every verdict on turns keeps them in its evidence."""
        turns: Sequence[Mapping[str, Json]] = verdict.evidence.get("turns", ())
        return turns

    def holds(self, scores: Mapping[int, float], least: float) -> tuple[bool, int]:
        """Whether the turns hold together, and the turn that decided it."""
        held = {number: score >= least for number, score in scores.items()}
        passed = any(held.values()) if self.combine == "any" else all(held.values())
        return passed, next((number for number, good in held.items() if good is passed), next(iter(held)))

    def evaluations(self, transcript: Transcript) -> dict[int, TurnEvaluation]:
        """Each chosen turn by its number, counted from 1."""
        from harness import evaluate_turn

        tools = _tools_by_turn(transcript)
        return {
            number: evaluate_turn(
                turn.user,
                turn.assistant,
                self._golden(number),
                self._context(number, tools.get(number, ())),
                settings=self._settings,
            )
            for number, turn in select_turns(transcript.turns, self.turns).items()
        }

    def _golden(self, number: int) -> str:
        if isinstance(self.golden, str):
            return self.golden
        return self.golden[number - 1] if number <= len(self.golden) else ""

    def _context(self, number: int, tools: tuple[ToolInvocation, ...]) -> TurnContext:
        return TurnContext(
            turn_index=number - 1,
            stance=self.stance,
            memories=self.memories or (),
            tool_invocations=tools,
            is_harmful_request=self.expects_refusal,
            sources=self.sources,
        )


@cache
def _numbers_hash() -> str:
    """Of every dimension's numbers."""
    numbers = orjson.dumps([[each.name, each.numbers.model_dump(mode="json")] for each in dimensions()])
    return sha256(numbers).hexdigest()


def _tools_by_turn(transcript: Transcript) -> dict[int, tuple[ToolInvocation, ...]]:
    """By the number of the turn among those that were answered, as `Transcript.turns` counts them."""
    answered = {event["turn"] for event in transcript.of_type("assistant", scope="parent")}
    numbers = {turn: number for number, turn in enumerate(sorted(answered - {0}), 1)}
    found: dict[int, tuple[ToolInvocation, ...]] = {}
    for event in transcript.of_type("observation"):
        number = numbers.get(event["turn"])
        if number is not None and event["gate"] not in _NO_TOOLS:
            found[number] = (*found.get(number, ()), _tool(event))
    return found


def _tool(event: Mapping[str, Json]) -> ToolInvocation:
    status: Literal["success", "failure"] = "success" if event["ok"] else "failure"
    return ToolInvocation(name=event["gate"], status=status, result=event["result"])


def latency(evaluations: Mapping[int, TurnEvaluation]) -> float:
    """Clock time, in milliseconds."""
    return sum(evaluation.latency_ms for evaluation in evaluations.values())


def shown_turns(
    evaluations: Mapping[int, TurnEvaluation], only: Collection[str] | None = None
) -> Iterator[dict[str, Json]]:
    """What a report keeps of each turn: every score, so that drift can be seen, and no clock."""
    for number, evaluation in evaluations.items():
        yield {
            "turn": number,
            "overall": evaluation.overall if only is None else None,
            "scores": {
                name: score for name, score in evaluation.scores.items() if only is None or name in only
            },
            "not_applicable": [name for name in evaluation.not_applicable if only is None or name in only],
            "issues": [
                issue.model_dump(mode="json")
                for issue in evaluation.issues
                if only is None or issue.dimension in only
            ],
        }
