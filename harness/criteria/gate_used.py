"""Pass when a gate was used: it gave an observation, a mere request is not enough."""

from typing import ClassVar

from harness.criterion import Criterion, Scope, Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript


class GateUsed(Criterion):
    """Counts observations; with scope `parent`, not those of children."""

    reads_words: ClassVar[bool] = False

    gate_used: str
    scope: Scope = "any"

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Look through the observations."""
        used = [event["gate"] for event in transcript.of_type("observation", scope=self.scope)]
        others = ", ".join(dict.fromkeys(used)) or "none"
        return Verdict.when(
            self.gate_used in used,
            f"{self.gate_used} was used {used.count(self.gate_used)}×",
            f"{self.gate_used} was not used; used: {others}",
        )
