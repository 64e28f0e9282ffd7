"""Pass when no recorded code contains the given text."""

from typing import ClassVar

from harness.criterion import Criterion, Scope, Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript


class ForbidCodeContains(Criterion):
    """Code turns only; prose may say it."""

    reads_words: ClassVar[bool] = False

    forbid_code_contains: str
    scope: Scope = "any"

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Look through every piece of code."""
        for event in transcript.of_type("assistant", scope=self.scope):
            if event["code"] is not None and self.forbid_code_contains in event["code"]:
                return Verdict.failed(f"code in turn {event['turn']} contains {self.forbid_code_contains!r}")
        return Verdict.passed(f"no code contains {self.forbid_code_contains!r}")
