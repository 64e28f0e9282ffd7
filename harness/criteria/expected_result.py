"""Pass when the final result equals the given JSON value."""

from pydantic import JsonValue

from harness.criterion import Criterion, Verdict
from harness.settings import CheckSettings
from harness.transcript import Json, Transcript


class ExpectedResult(Criterion):
    """Equal as JSON: `1` and `true` differ, `1` and `1.0` do not."""

    expected_result: JsonValue

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Compare the whole result."""
        return Verdict.when(
            _same(transcript.result, self.expected_result),
            "the result is as expected",
            f"the result is {_short(transcript.result)}, not {_short(self.expected_result)}",
        )


def _same(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return bool(left == right)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
