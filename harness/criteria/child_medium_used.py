"""Pass when a child worked in the given medium."""

from typing import ClassVar

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Medium, Transcript


class ChildMediumUsed(Criterion):
    """A child that was started and took no turn does not count."""

    reads_words: ClassVar[bool] = False

    child_medium_used: Medium

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Look through the turns of children."""
        used = [event["medium"] for event in transcript.of_type("assistant") if event["parent"] is not None]
        others = ", ".join(dict.fromkeys(used)) or "none"
        return Verdict.when(
            self.child_medium_used in used,
            f"a child used {self.child_medium_used}",
            f"no child used {self.child_medium_used}; used: {others}",
        )
