"""Criteria that have to ask a model: what they may use, and when they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.criterion import Criterion, Verdict
from harness.endpoint import ModelAccess
from harness.errors import Place, SynthesisError
from harness.model import ModelOptions
from harness.models import Models
from harness.transcript import Transcript


@dataclass(frozen=True)
class JudgeChoice:
    """Which judge serves criteria that name none: the scenario's, else the one of the command line."""

    access: ModelAccess = field(default_factory=ModelAccess)
    model: str | ModelOptions | None = None
    confined: bool = False
    """Whether a file may not name a server."""


@dataclass(frozen=True)
class Judging:
    """How judges are asked; what they said is kept in `folder`, and is not asked again."""

    models: Models = field(default_factory=Models)
    folder: Path | None = None


def settle_criteria(
    criteria: Sequence[Criterion], choice: JudgeChoice, place: Place, problems: list[SynthesisError]
) -> tuple[Criterion, ...]:
    """The criteria with their judges found, before anything runs."""
    settled = []
    for criterion in criteria:
        try:
            settled.append(criterion.settle(choice, place))
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
