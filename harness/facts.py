"""What criteria may need to know of their scenario beside what was recorded."""

from dataclasses import dataclass, field

from harness.endpoint import ModelAccess
from harness.model import ModelOptions
from harness.settings import TurnSettings
from harness.turn_evaluation import Memory


@dataclass(frozen=True)
class RecordedAccess(ModelAccess):
    """Of a run that is scored again: who is named nowhere is found later, in what the run recorded."""


@dataclass(frozen=True)
class ScenarioFacts:
    """Criteria that have one of these themselves keep their own."""

    judges: ModelAccess = field(default_factory=ModelAccess)
    """What the command line says about judges."""
    judge_model: str | ModelOptions | None = None
    confined: bool = False
    """Whether a file may not name a server."""
    memories: tuple[Memory, ...] = ()
    expects_refusal: bool | None = None
    turns: TurnSettings = TurnSettings()
