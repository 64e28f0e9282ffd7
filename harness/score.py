"""Score a recorded trial with its rubric. Reads the transcript, nothing else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.criterion import Criterion, Verdict
from harness.errors import words_of
from harness.run_report import CriterionScore, TrialReport, TrialStatus
from harness.settings import CheckSettings
from harness.spending import Prices, Usage, usage_of
from harness.transcript import Json, SandboxLevel, Transcript, weakest
from harness.turn_figures import KEYS as TURN_KEYS
from harness.turn_figures import Figures, figures_of


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
    usage: Usage | None = None
    judge_usage: Usage | None = None
    sandbox: SandboxLevel | None = None
    model_seconds: float | None = None
    turns_latency_ms: float | None = None
    figures: Figures = field(default_factory=dict)

    def report(self) -> TrialReport:
        """The trial's part of the report as a record."""
        return TrialReport.model_validate_json(self.encoded)


@dataclass(frozen=True)
class Scoring:
    """What scoring reads beside the transcript; `judged` are the verdicts that had to be asked for."""

    settings: CheckSettings = CheckSettings()
    prices: Prices = field(default_factory=dict)
    judged: Mapping[int, Verdict] = field(default_factory=dict)


def score_trial(
    transcript: Transcript, criteria: Sequence[Criterion], scoring: Scoring, path: str
) -> ScoredTrial:
    """A trial that did not finish is an error; one where nothing applies has no score."""
    error = transcript.error
    judged = () if error else tuple(_judged(transcript, criteria, scoring))
    scores = tuple(_criterion_score(criterion, verdict) for criterion, verdict in judged)
    broken = [f"{score.name}: {score.reason}" for score in scores if score.status == "error"]
    error = error or ("; ".join(broken) if broken else None)
    score = None if error else _share(scores)
    status: TrialStatus = "error" if error else "not_applicable" if score is None else "scored"
    start = transcript.start
    attempts = list(_own_attempts(transcript))
    usage = usage_of(attempts, scoring.prices)
    judge_usage = usage_of(_judges_attempts(scores), scoring.prices)
    sandbox = weakest(event["level"] for event in transcript.of_type("sandbox"))
    report = TrialReport.model_construct(
        seed=start["seed"],
        status=status,
        score=None if score is None else round(score, 6),
        error=error,
        terminated=transcript.terminated,
        transcript=path,
        fingerprint=start["fingerprint"],
        usage=usage,
        judge_usage=judge_usage,
        sandbox=sandbox,
        criteria=scores,
    )
    encoded = report.model_dump_json(by_alias=True).encode()
    seconds = sum(attempt["latency_ms"] for attempt in attempts) / 1000 if attempts else None
    latencies = [verdict.latency_ms for criterion, verdict in judged if criterion.key in TURN_KEYS]
    return ScoredTrial(
        start["seed"],
        status,
        score,
        encoded,
        usage,
        judge_usage,
        sandbox,
        seconds,
        sum(latencies) if latencies else None,
        figures_of(scores),
    )


def _own_attempts(transcript: Transcript) -> Iterator[dict[str, Json]]:
    """What is only said again from a recording was not asked again."""
    if transcript.start["subject"].get("type") != "replay":
        yield from transcript.of_type("attempt")


def _judges_attempts(scores: Iterable[CriterionScore]) -> Iterator[dict[str, Json]]:
    for score in scores:
        if score.criterion == "judge":
            yield from score.evidence.get("attempts", ())


def _judged(
    transcript: Transcript, criteria: Sequence[Criterion], scoring: Scoring
) -> Iterator[tuple[Criterion, Verdict]]:
    for index, criterion in enumerate(criteria):
        yield criterion, scoring.judged.get(index) or _judge(criterion, transcript, scoring.settings)


def _judge(criterion: Criterion, transcript: Transcript, settings: CheckSettings) -> Verdict:
    """One criterion; whatever it raises is recorded and is no score."""
    try:
        verdict = criterion.score(transcript, settings)
        verdict.model_dump_json()  # what cannot be written down is the criterion's fault, not the report's
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one of the two places: someone else's code
        verdict = Verdict.error(f"raised {type(error).__name__}: {words_of(error)}")
    return verdict


def _criterion_score(criterion: Criterion, verdict: Verdict) -> CriterionScore:
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
