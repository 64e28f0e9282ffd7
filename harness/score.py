"""Score a recorded trial with its rubric. Reads the transcript, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.criterion import Criterion, Verdict
from harness.errors import words_of
from harness.run_report import CriterionScore, TrialReport, TrialStatus
from harness.settings import CheckSettings
from harness.transcript import Transcript


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """What the figures need of a trial, and its part of the report already written out.

    The encoded form is what keeps a run of many thousand trials small in memory. `score` is exact;
    reports round it.
    """

    seed: int
    status: TrialStatus
    score: float | None
    encoded: bytes

    def report(self) -> TrialReport:
        """The trial's part of the report as a record."""
        return TrialReport.model_validate_json(self.encoded)


def score_trial(
    transcript: Transcript, criteria: Sequence[Criterion], settings: CheckSettings, path: str
) -> ScoredTrial:
    """A trial that did not finish is an error; one where nothing applies has no score."""
    error = transcript.error
    scores = () if error else tuple(_judge(criterion, transcript, settings) for criterion in criteria)
    broken = [f"{score.name}: {score.reason}" for score in scores if score.status == "error"]
    error = error or ("; ".join(broken) if broken else None)
    score = None if error else _share(scores)
    status: TrialStatus = "error" if error else "not_applicable" if score is None else "scored"
    start = transcript.start
    report = TrialReport.model_construct(
        seed=start["seed"],
        status=status,
        score=None if score is None else round(score, 6),
        error=error,
        terminated=transcript.terminated,
        transcript=path,
        fingerprint=start["fingerprint"],
        criteria=scores,
    )
    return ScoredTrial(start["seed"], status, score, report.model_dump_json(by_alias=True).encode())


def _judge(criterion: Criterion, transcript: Transcript, settings: CheckSettings) -> CriterionScore:
    """One criterion; whatever it raises is recorded and is no score."""
    try:
        verdict = criterion.score(transcript, settings)
        verdict.model_dump_json()  # what cannot be written down is the criterion's fault, not the report's
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one of the two places: someone else's code
        verdict = Verdict.error(f"raised {type(error).__name__}: {words_of(error)}")
    return CriterionScore.model_construct(
        name=criterion.label,
        criterion=criterion.key,
        status=verdict.status,
        passed={"passed": True, "not_applicable": True, "failed": False, "error": None}[verdict.status],
        score=_points(criterion, verdict),
        max_score=criterion.worth,
        reason=verdict.reason,
        evidence=verdict.evidence,
        hits=verdict.hits,
    )


def _points(criterion: Criterion, verdict: Verdict) -> float | None:
    if verdict.status in ("error", "not_applicable"):
        return None
    if verdict.points is not None:
        return min(max(verdict.points, 0.0), criterion.worth)
    return criterion.worth if verdict.status == "passed" else 0.0


def _share(scores: Sequence[CriterionScore]) -> float | None:
    counted = [score for score in scores if score.score is not None]
    worth = sum(score.max_score for score in counted)
    return sum(score.score or 0.0 for score in counted) / worth if worth else None
