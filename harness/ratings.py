"""What a run's report says that can be compared: per trial, the verdict of every criterion."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard

from pydantic import Field

from harness.agreement_report import MetricName, Opinion, Rater
from harness.errors import SynthesisError
from harness.recorded_run import ReportPart
from harness.records import Status
from harness.run_directory import RunDirectory

_JUDGE = "judge"
_DIGITS = 9
"""Points that are means of others may miss what a person wrote by the last bit."""


class Scale(NamedTuple):
    """The points people may give for a criterion, and from how many a judge would say that it passed."""

    worth: float
    pass_at: float | None


class JudgedCriterion(ReportPart):
    """One criterion on one trial; without a score there is no verdict."""

    name: str
    criterion: str
    status: Status
    score: float | None = Field(allow_inf_nan=False)
    max_score: float = Field(gt=0, allow_inf_nan=False)
    reason: str
    evidence: dict[str, Any]

    @property
    def why_unjudged(self) -> str:
        """Where there is no verdict, in words."""
        kind = "did not apply" if self.status == "not_applicable" else "could not be judged"
        return f"{kind}: {self.reason}"

    @property
    def repeats(self) -> tuple[float, ...]:
        """The shares of a judge that was asked more than once; empty where it was asked once."""
        scores = self.evidence.get("scores")
        given = [score for score in scores if score is not None] if isinstance(scores, list) else []
        if len(given) < 2 or not all(_is_number(score) for score in given):
            return ()
        return tuple(share_of(score, self.max_score) for score in given)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class JudgedTrial(ReportPart):
    """One trial; one that did not finish has an error and no criteria."""

    seed: int
    error: str | None
    criteria: tuple[JudgedCriterion, ...]


class JudgedScenario(ReportPart):
    """One scenario; of trials that were never run a report knows only the number."""

    name: str
    rubric: tuple[dict[str, Any], ...]
    not_run: int
    trials: tuple[JudgedTrial, ...]

    def scales(self) -> dict[str, Scale]:
        """By the names of the criteria; of several with one name, the points that all of them can give."""
        found: dict[str, Scale] = {}
        for trial in self.trials:
            for number, criterion in enumerate(trial.criteria):
                scale = Scale(criterion.max_score, self._pass_mark(number, criterion))
                known = found.setdefault(criterion.name, scale)
                found[criterion.name] = Scale(min(scale.worth, known.worth), known.pass_at or scale.pass_at)
        return found

    def _pass_mark(self, number: int, criterion: JudgedCriterion) -> float | None:
        """Only of a judge is it known how points become a verdict; all of them where its rubric is silent."""
        if criterion.criterion != _JUDGE:
            return None
        mark = self.rubric[number].get("pass_at") if number < len(self.rubric) else None
        return mark if _is_number(mark) else criterion.max_score


@dataclass(frozen=True)
class Rating:
    """What a rater said of a trial, as it was said and as it is compared by each metric that fits."""

    rater: Rater
    opinion: Opinion
    values: Mapping[MetricName, float]
    repeats: tuple[float, ...] = ()


def find_report(run: Path) -> Path:
    """The report of a run's folder, or the very file that was named."""
    report = RunDirectory(run).report if run.is_dir() else run
    if not report.is_file():
        fix = "name the folder of a run, or one of the reports in it"
        raise SynthesisError("there is no report here", where=str(run), fix=fix)
    return report


def ratings_of(trial: JudgedTrial) -> list[Rating]:
    """The verdicts there are. Criteria of the same name are told apart by their number in the rubric."""
    found: list[Rating] = []
    seen: Counter[tuple[str, str]] = Counter()
    for criterion in trial.criteria:
        kind: Literal["judge", "criterion"] = "judge" if criterion.criterion == _JUDGE else "criterion"
        seen[kind, criterion.name] += 1
        if criterion.score is None:
            continue
        passed = criterion.status == "passed"
        rating = Rating(
            Rater(kind=kind, name=criterion.name, number=seen[kind, criterion.name]),
            Opinion(passed=passed, points=criterion.score, reason=criterion.reason),
            {"nominal": float(passed), "interval": share_of(criterion.score, criterion.max_score)},
            criterion.repeats,
        )
        found.append(rating)
    return found


def share_of(points: float, worth: float) -> float:
    """Points as a part of what can be reached, so that criteria of other weights compare with this one."""
    return round(points / worth, _DIGITS)
