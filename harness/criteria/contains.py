"""Pass when the final result contains the given text."""

from pydantic import StrictBool

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript


class Contains(Criterion):
    """The final result only, never the whole transcript; a result that is not text never contains any."""

    contains: str
    ignore_case: StrictBool = False

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Look for the text, letter for letter unless `ignore_case`."""
        if not isinstance(transcript.result, str):
            return Verdict.failed("the run ended without a text as its result")
        fold = str.casefold if self.ignore_case else str
        return Verdict.when(
            fold(self.contains) in fold(transcript.result),
            f"the result contains {self.contains!r}",
            f"the result does not contain {self.contains!r}",
        )
