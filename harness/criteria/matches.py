"""Pass when the final result matches the given regular expression."""

import re2
from pydantic import field_validator

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript


class Matches(Criterion):
    """RE2 syntax, so that no pattern can be slow; found anywhere in the result unless anchored."""

    matches: str

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        options = re2.Options()
        options.log_errors = False
        try:
            re2.compile(pattern, options)
        except re2.error as error:
            why = error.args[0].decode("utf-8", "backslashreplace")
            raise ValueError(f"not a regular expression (RE2 syntax): {why}") from error
        return pattern

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Search the final result."""
        if not isinstance(transcript.result, str):
            return Verdict.failed("the run ended without a text as its result")
        found = re2.search(self.matches, transcript.result)
        return Verdict.when(
            found is not None,
            f"the result matches {self.matches!r}",
            f"the result does not match {self.matches!r}",
        )
