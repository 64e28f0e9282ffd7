"""Pass when the run ended the way it should."""

from pydantic import StrictBool

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript


class Terminated(Criterion):
    """For an agent through `done`, for others when the last reply arrived; false asks for the opposite."""

    terminated: StrictBool

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Compare how it ended with what was asked."""
        ended = "ended as it should"
        if not transcript.terminated:
            ended = f"did not end as it should{_why(transcript)}"
        return Verdict.when(transcript.terminated is self.terminated, f"the run {ended}", f"the run {ended}")


def _why(transcript: Transcript) -> str:
    ward = transcript.end and transcript.end.get("ward")
    return f": its ward {ward} ended it" if ward else ""
