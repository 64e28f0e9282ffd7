"""Score a recorded trial with its rubric. Reads the transcript, nothing else; judges are asked before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from harness.criterion import Criterion, Verdict
from harness.errors import Withdrawn
from harness.judging import Judging, ask_judges
from harness.run_report import CriterionScore, TrialReport, TrialStatus
from harness.secrets import Redactor
from harness.settings import CheckSettings
from harness.spending import Prices, Usage, usage_of
from harness.transcript import Json, SandboxLevel, Transcript, weakest
from harness.turn_figures import Figures, figures_of

Result = TypeVar("Result")
_OURS = frozenset({"status", "transcript", "fingerprint"})
"""What a trial is found by."""


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """What the figures need of a trial, and its part of the report already written out, without keys.

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
    redactor: Redactor = Redactor()


async def judge_and_score(
    transcript: Transcript, criteria: Sequence[Criterion], judging: Judging, scoring: Scoring, path: str
) -> ScoredTrial | None:
    """With all verdicts, those among them that have to be asked for; None where the run ends before."""
    try:
        judged = await ask_judges(transcript, criteria, judging)
    except Withdrawn:
        return None
    return score_trial(transcript, criteria, replace(scoring, judged=judged), path)


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
    judge_usage = usage_of((attempt for _, verdict in judged for attempt in verdict.attempts), scoring.prices)
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
    encoded = scoring.redactor.line(report.model_dump_json(by_alias=True).encode(), _OURS)
    seconds = sum(attempt["latency_ms"] for attempt in attempts) / 1000 if attempts else None
    latencies = [verdict.latency_ms for _, verdict in judged if verdict.latency_ms is not None]
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
        figures_of([criterion.evaluated_turns(verdict) for criterion, verdict in judged]),
    )


def _own_attempts(transcript: Transcript) -> Iterator[dict[str, Json]]:
    """What is only said again from a recording was not asked again."""
    if transcript.start["subject"].get("type") != "replay":
        yield from transcript.of_type("attempt")


def _judged(
    transcript: Transcript, criteria: Sequence[Criterion], scoring: Scoring
) -> Iterator[tuple[Criterion, Verdict]]:
    for index, criterion in enumerate(criteria):
        yield criterion, scoring.judged.get(index) or judge_one(criterion, transcript, scoring.settings)


def judge_one(criterion: Criterion, transcript: Transcript, settings: CheckSettings) -> Verdict:
    """One criterion; whatever it raises is recorded and is no score."""
    return guarded(lambda: criterion.score(transcript, settings).checked())


def guarded(judge: Callable[[], Result]) -> Result | Verdict:
    """What someone else's code finds, or a verdict that says what it raised."""
    try:
        return judge()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one of the two places: someone else's code
        return Verdict.raised(error)


def _criterion_score(criterion: Criterion, verdict: Verdict) -> CriterionScore:
    return CriterionScore.model_construct(
        name=criterion.label,
        criterion=criterion.key,
        status=verdict.status,
        passed={"passed": True, "not_applicable": True, "failed": False, "error": None}[verdict.status],
        score=points_of(criterion, verdict),
        max_score=criterion.worth,
        reason=verdict.reason,
        evidence=verdict.evidence,
        hits=verdict.hits,
    )


def points_of(criterion: Criterion, verdict: Verdict) -> float | None:
    """What a verdict adds to the score; null where it did not apply or could not be given."""
    if verdict.status in ("error", "not_applicable"):
        return None
    if verdict.points is not None:
        return min(max(verdict.points, 0.0), criterion.worth)
    return criterion.worth if verdict.status == "passed" else 0.0


def _share(scores: Sequence[CriterionScore]) -> float | None:
    counted = [score for score in scores if score.score is not None]
    worth = sum(score.max_score for score in counted)
    return sum(score.score or 0.0 for score in counted) / worth if worth else None
