"""Score the turns of a trial in all eight dimensions at once."""

from typing import Literal

from harness.criterion import Verdict
from harness.settings import CheckSettings
from harness.transcript import Transcript
from harness.turn_criterion import TurnCriterion, latency, shown_turns


class TurnQuality(TurnCriterion):
    """Worth the overall score, the mean of it over several turns; passes where every turn reaches `min`."""

    turn_quality: Literal[True]

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Turns without anything to go by are left out."""
        evaluations = self.evaluations(transcript)
        if not evaluations:
            return Verdict.failed(f"there is no turn {self.turns}")
        overall = {
            number: evaluation.overall
            for number, evaluation in evaluations.items()
            if evaluation.overall is not None
        }
        if not overall:
            return Verdict.not_applicable("no turn has anything to go by")
        least = self.settings.pass_at if self.min is None else self.min
        passed, number = self.holds(overall, least)
        mean = sum(overall.values()) / len(overall)
        issues = evaluations[number].issues
        why = f": {issues[0].severity} in {issues[0].dimension}: {issues[0].message}" if issues else ""
        return Verdict(
            status="passed" if passed else "failed",
            reason=f"overall {mean:.3g}; turn {number} has {overall[number]:.3g}{why}",
            points=mean * self.worth,
            latency_ms=latency(evaluations),
            evidence={
                "turns": list(shown_turns(evaluations)),
                "drift": round(list(overall.values())[-1] - next(iter(overall.values())), 6),
            },
        )
