"""Criteria that have to ask a model: what they may use, and when they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.criterion import Criterion, Verdict
from harness.errors import Place, SynthesisError
from harness.facts import ScenarioFacts
from harness.models import Models
from harness.transcript import Transcript


@dataclass(frozen=True)
class Judging:
    """How judges are asked; what they said is kept in `folder`, and is not asked again."""

    models: Models = field(default_factory=Models)
    folder: Path | None = None


def settle_criteria(
    criteria: Sequence[Criterion], facts: ScenarioFacts, place: Place, problems: list[SynthesisError]
) -> tuple[Criterion, ...]:
    """The criteria with what they need of their scenario, before anything runs."""
    settled = []
    for criterion in criteria:
        try:
            settled.append(criterion.settle(facts, place))
        except SynthesisError as error:
            problems.append(error)
    return tuple(settled)


async def ask_judges(
    transcript: Transcript, criteria: Sequence[Criterion], judging: Judging
) -> dict[int, Verdict]:
    """The verdicts that have to be asked for, by the place of their criterion; none for a failed trial."""
    if not transcript.finished:
        return {}
    return {
        index: await criterion.ask(transcript, judging)
        for index, criterion in enumerate(criteria)
        if criterion.asks
    }
