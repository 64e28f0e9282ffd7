"""Criteria that have to ask a model: what they may use, and when they are asked."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic_core import to_json

from harness.criterion import Criterion, Verdict, refuse_unreadable
from harness.errors import Place, SynthesisError, Withdrawn
from harness.facts import ScenarioFacts
from harness.models import Models
from harness.problems import shown
from harness.transcript import Transcript

_GRACE = 1.0
"""Seconds in which a criterion whose time is up can still say what it has asked until then."""


@dataclass(frozen=True)
class Judging:
    """How judges are asked; what they said is kept in `folder`, and is not asked again."""

    models: Models = field(default_factory=Models)
    folder: Path | None = None
    ask: bool = True
    """Whether anybody may be asked; else only what is kept counts."""
    seconds: float | None = None
    """For all judges of one trial together."""
    deadline: float | None = None
    """When that time is up, by the loop's clock."""

    @property
    def too_late(self) -> str:
        """What a verdict says that did not come in time."""
        return f"not judged after {self.seconds:g} s"

    def begun(self) -> "Judging":
        """For one trial, whose time runs from now."""
        if self.seconds is None:
            return self
        return replace(self, deadline=asyncio.get_running_loop().time() + self.seconds)


def settle_criteria(
    criteria: Sequence[Criterion], facts: ScenarioFacts, place: Place, problems: list[SynthesisError]
) -> tuple[Criterion, ...]:
    """The criteria with what they need of their scenario, before anything runs."""
    settled = []
    for criterion in criteria:
        try:
            settled.append(criterion.settle(facts, place))
            refuse_unreadable(to_json(settled[-1].definition()))
        except SynthesisError as error:
            problems.append(error)
        except ValueError as error:
            what = f'a report cannot hold "{shown(criterion.name or criterion.key)}": {error}'
            problems.append(SynthesisError(what, where=place, fix="nest its values less deeply"))
    return tuple(settled)


async def ask_judges(
    transcript: Transcript, criteria: Sequence[Criterion], judging: Judging
) -> dict[int, Verdict]:
    """The verdicts that have to be asked for, by the place of their criterion; none for a failed trial."""
    if not transcript.finished:
        return {}
    begun = judging.begun()
    return {
        index: await _ask(criterion, transcript, begun)
        for index, criterion in enumerate(criteria)
        if criterion.asks
    }


async def _ask(criterion: Criterion, transcript: Transcript, judging: Judging) -> Verdict:
    """One criterion; what it raises is no score, unless the run ends. One that keeps no time is cut off."""
    limit = asyncio.timeout_at(None if judging.deadline is None else judging.deadline + _GRACE)
    try:
        async with limit:
            verdict = await criterion.ask(transcript, judging)
        return verdict.checked()
    except Withdrawn:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one of the two places: someone else's code
        return Verdict.error(judging.too_late) if limit.expired() else Verdict.raised(error)
