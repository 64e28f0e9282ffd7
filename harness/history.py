"""A folder of runs, in the order they were made: how every scenario went, and since when it is lower."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.comparability import HowScored, differences
from harness.errors import SynthesisError
from harness.history_reader import RunFigures, read_figures
from harness.history_report import HistoryReport, RunPoint, ScenarioTrend
from harness.problems import shown
from harness.run_directory import REPORT

DROP = 0.1
_SHOWN = 3


@dataclass(frozen=True)
class _Found:
    """A run that could be read."""

    name: str
    figures: RunFigures


def history(folder: Path, globs: Sequence[str] = (), drop: float = DROP) -> HistoryReport:
    """Every run right in the folder; what cannot be read is named, and is no reason to show nothing."""
    if not folder.is_dir():
        fix = "name the folder that your runs lie in, for example: runs"
        raise SynthesisError("there is no such folder", where=str(folder), fix=fix)
    found, skipped = _read(folder)
    if not found:
        raise _nothing(folder, skipped)
    found.sort(key=lambda one: (one.figures.started, one.name))
    names = [
        name
        for name in dict.fromkeys(name for one in found for name in one.figures.means)
        if not globs or any(fnmatchcase(name, glob) for glob in globs)
    ]
    trends = tuple(trend for name in names if (trend := _trend(name, found, drop)) is not None)
    if globs and not trends:
        raise SynthesisError("no scenario is left by --scenario", where=str(folder), fix="loosen the filter")
    return HistoryReport(
        folder=folder.as_posix(), runs=tuple(_points(found)), scenarios=trends, skipped=skipped
    )


def _nothing(folder: Path, skipped: Mapping[str, str]) -> SynthesisError:
    if not skipped:
        fix = "name the folder that your runs lie in, for example: runs"
        return SynthesisError("there is no run in this folder", where=str(folder), fix=fix)
    why = "; ".join(f"{shown(name)}: {reason}" for name, reason in list(skipped.items())[:_SHOWN])
    more = f" and {len(skipped) - _SHOWN} more" if len(skipped) > _SHOWN else ""
    fix = "restore the reports, or go on with the runs: synthesis eval --resume RUN"
    return SynthesisError(f"no run in this folder can be read: {why}{more}", where=str(folder), fix=fix)


def _read(folder: Path) -> tuple[list[_Found], dict[str, str]]:
    found: list[_Found] = []
    skipped: dict[str, str] = {}
    for report in sorted(folder.glob(f"*/{REPORT}")):
        name = report.parent.name
        try:
            found.append(_Found(name, read_figures(report)))
        except SynthesisError as error:
            skipped[name] = error.what
    return found, skipped


def _points(found: Sequence[_Found]) -> Iterator[RunPoint]:
    before: HowScored | None = None
    for one in found:
        figures = one.figures
        other = differences(before, figures.scored_by) if before is not None else []
        before = figures.scored_by
        yield RunPoint(
            run=one.name,
            started=figures.started,
            mean=figures.mean,
            worst=figures.worst,
            scenarios=len(figures.means),
            scored=figures.scored,
            errors=figures.errors,
            exit_code=figures.exit_code,
            scored_otherwise=tuple(other[:_SHOWN]),
        )


def _trend(name: str, found: Sequence[_Found], drop: float) -> ScenarioTrend | None:
    means = tuple(one.figures.means.get(name) for one in found)
    there = [(one.name, mean) for one, mean in zip(found, means, strict=True) if mean is not None]
    if not there:
        return None
    since = _dropped([mean for _, mean in there], drop)
    return ScenarioTrend(
        name=name,
        means=means,
        first=there[0][1],
        last=there[-1][1],
        dropped_in=None if since is None else there[since][0],
        drop=None if since is None else round(max(mean for _, mean in there[:since]) - there[-1][1], 6),
    )


def _dropped(means: Sequence[float], drop: float) -> int | None:
    """The first place from which all are lower, by `drop` or more, than the best before it."""
    best = means[0]
    for place in range(1, len(means)):
        if max(means[place:]) <= best - drop + 1e-9:
            return place
        best = max(best, means[place])
    return None
