"""A run as far as comparing needs it: scores by scenario and seed, and what produced them."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, ValidationError, model_validator

from harness.compare_report import ComparedSide
from harness.errors import Exit, SynthesisError
from harness.problems import shown
from harness.recorded_run import ReportPart, read_scenarios
from harness.repeats import passes
from harness.run_directory import RunDirectory
from harness.run_report import RunStamp

BASELINES = "baselines"
_FOREIGN = "name the folder of a run, a report of synthesis eval or score, or a baseline"
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Criterion(ReportPart):
    """One criterion on one trial."""

    name: str
    score: float | None = Field(ge=0, allow_inf_nan=False)
    max_score: float = Field(gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _within_its_points(self) -> "_Criterion":
        if self.score is not None and self.score > self.max_score:
            raise ValueError(f"{self.score:g} points of {self.max_score:g}")
        return self


class _Trial(ReportPart):
    """One trial; without a score it is in no figure."""

    seed: int
    score: Score | None
    criteria: tuple[_Criterion, ...]


class _Scenario(ReportPart):
    """One scenario."""

    name: str
    subject: dict[str, Any]
    system_sha256: str | None
    rubric: tuple[dict[str, Any], ...]
    trials: tuple[_Trial, ...]


class _Summary(ReportPart):
    """The figures of the whole run."""

    trials: int
    scored: int
    errors: int
    not_run: int
    mean: float | None
    worst: float | None


class _Threshold(ReportPart):
    """What a run was held to."""

    name: str
    required: float


class _Timing(ReportPart):
    """When it was run."""

    started: str


class WholeReport(ReportPart):
    """Everything of a report but its scenarios."""

    kind: Literal["run"]
    schema_version: Literal["1"]
    summary: _Summary
    exit_code: int
    thresholds: tuple[_Threshold, ...]
    stamp: RunStamp
    timing: _Timing


@dataclass(frozen=True, slots=True)
class ScenarioFigures:
    """Scores by seed; `criteria` are shares of each criterion's points by seed, where it applied."""

    rubric: tuple[dict[str, Any], ...]
    subject: dict[str, Any]
    system_sha256: str | None
    scores: dict[int, float]
    criteria: dict[str, dict[int, float]]

    @property
    def passed(self) -> int:
        """Trials that reached every point."""
        return passes(list(self.scores.values()))


@dataclass(frozen=True)
class ComparedRun:
    """One side of a comparison."""

    side: ComparedSide
    stamp: RunStamp
    scenarios: dict[str, ScenarioFigures]
    thresholds: dict[str, float]
    started: str

    @property
    def report(self) -> Path:
        """Where it was read."""
        return Path(self.side.report)

    @property
    def place(self) -> RunDirectory:
        """The folder its transcripts lie in."""
        return RunDirectory(self.report.parent)


def find_run(name: str, baselines: Path = Path(BASELINES)) -> Path:
    """The report that is meant: of a run's folder, the file itself, or of a baseline of that name."""
    named = Path(name)
    for place in (named, baselines / name):
        report = RunDirectory(place).report if place.is_dir() else place
        if report.is_file():
            return report
    what = "there is no report here" if named.exists() else "no such run, report or baseline"
    raise SynthesisError(what, where=name, fix=_FOREIGN)


def read_compared(name: str, report: Path) -> ComparedRun:
    """Read one side; what is damaged, foreign or without any score is refused."""
    whole = read_whole(report)
    scenarios: dict[str, ScenarioFigures] = {}
    for part in read_scenarios(report, _Scenario):
        if part.name in scenarios:
            what = f'not a run report: the scenario "{shown(part.name)}" is there twice'
            raise SynthesisError(what, where=str(report), fix="restore the file")
        seeds = Counter(trial.seed for trial in part.trials)
        if len(seeds) < len(part.trials):
            twice = f'the seed {seeds.most_common(1)[0][0]} of "{shown(part.name)}" is there twice'
            raise SynthesisError(f"not a run report: {twice}", where=str(report), fix="restore the file")
        scenarios[part.name] = _figures(part)
    if not any(found.scores for found in scenarios.values()):
        fix = "compare runs that have scores; going on with a run: synthesis eval --resume RUN"
        raise SynthesisError("nothing in this run has a score", where=str(report), fix=fix)
    with report.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    summary = whole.summary
    side = ComparedSide(
        name=name,
        report=report.as_posix(),
        report_sha256=digest,
        scenarios=len(scenarios),
        trials=summary.trials,
        scored=summary.scored,
        errors=summary.errors,
        not_run=summary.not_run,
        mean=summary.mean,
        accepted=whole.exit_code != Exit.FATAL,
    )
    thresholds = {threshold.name: threshold.required for threshold in whole.thresholds}
    return ComparedRun(side, whole.stamp, scenarios, thresholds, whole.timing.started)


def read_whole(report: Path) -> WholeReport:
    """Everything but the scenarios; raises for what is damaged, or no report of a run."""
    try:
        found = b"".join(_without_scenarios(report))
        return WholeReport.model_validate(orjson.loads(found))
    except OSError as error:
        fix = "check the file"
        raise SynthesisError(f"cannot be read: {error.strerror}", where=str(report), fix=fix) from error
    except orjson.JSONDecodeError as error:
        what = "empty" if not report.stat().st_size else f"not a run report: damaged, {error}"
        raise SynthesisError(
            what, where=str(report), fix="restore the file, or score the run again"
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        spot = ".".join(map(str, first["loc"]))
        what = f"not a run report of this version: {spot}: {first['msg']}"
        raise SynthesisError(what, where=str(report), fix=_FOREIGN) from error


def _without_scenarios(report: Path) -> Iterator[bytes]:
    """The first and the last lines of a report as it was written; otherwise all of it."""
    with report.open("rb") as file:
        head = file.readline()
        if not head.startswith(b'{"kind":"run",') or file.readline() != b'"scenarios":[\n':
            file.seek(0)
            yield file.read()
            return
        yield head
        inside = True
        for line in file:
            if not inside:
                yield line
            inside = inside and line != b"],\n"


def _figures(part: _Scenario) -> ScenarioFigures:
    scores: dict[int, float] = {}
    criteria: dict[str, dict[int, float]] = {}
    for trial in part.trials:
        if trial.score is None:
            continue
        scores[trial.seed] = trial.score
        for label, criterion in numbered(trial.criteria):
            shares = criteria.setdefault(label, {})
            if criterion.score is not None:
                shares[trial.seed] = criterion.score / criterion.max_score
    return ScenarioFigures(part.rubric, part.subject, part.system_sha256, scores, criteria)


def numbered(criteria: Sequence[_Criterion]) -> Iterator[tuple[str, _Criterion]]:
    """Criteria by name; of several with one name in a rubric, each has its number."""
    seen: Counter[str] = Counter()
    for criterion in criteria:
        seen[criterion.name] += 1
        number = seen[criterion.name]
        yield criterion.name if number == 1 else f"{criterion.name} #{number}", criterion


def average(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return math.fsum(values) / len(values)
