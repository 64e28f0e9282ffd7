"""Hold the turns of a trial to a least score in one dimension of the turn evaluator."""

from pydantic import field_validator

from harness.criterion import Verdict
from harness.dimension import dimensions
from harness.problems import shown
from harness.settings import CheckSettings
from harness.transcript import Transcript
from harness.turn_criterion import TurnCriterion, latency, shown_turns


class Dimension(TurnCriterion):
    """Turns that lack what the dimension needs are left out; without `min`, an issue is what fails."""

    dimension: str

    @field_validator("dimension")
    @classmethod
    def _known(cls, name: str) -> str:
        there = [each.name for each in dimensions()]
        if name not in there:
            raise ValueError(f'there is no dimension "{shown(name)}"; there are: {", ".join(there)}')
        return name

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Each turn by itself, then all of them together; `mean` gives the share of turns that hold."""
        evaluations = self.evaluations(transcript)
        if not evaluations:
            return Verdict.failed(f"there is no turn {self.turns}")
        scores = {
            number: evaluation.scores[self.dimension]
            for number, evaluation in evaluations.items()
            if self.dimension not in evaluation.not_applicable
        }
        if not scores:
            return Verdict.not_applicable(f"no turn has what {self.dimension} needs")
        least = self._least()
        passed, number = self.holds(scores, least)
        share = sum(score >= least for score in scores.values()) / len(scores)
        return Verdict(
            status="passed" if passed else "failed",
            reason=f"turn {number}: {self.dimension} {scores[number]:.3g}, at least {least:g} wanted",
            points=share * self.worth if self.combine == "mean" else None,
            latency_ms=latency(evaluations),
            evidence={"turns": list(shown_turns(evaluations, (self.dimension,)))},
        )

    def _least(self) -> float:
        if self.min is not None:
            return self.min
        issue = next(each.numbers.issue for each in dimensions() if each.name == self.dimension)
        return self.settings.warn_below if issue is None else issue.below
