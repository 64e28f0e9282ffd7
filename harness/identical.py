"""How often identical runs would disagree: pairs of runs drawn, seed by seed, from trials that are there."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

from harness.aa_report import AaReport, LineDisagreement
from harness.comparability import differences, how_scored, refuse_different, scored_again, scored_like
from harness.compared_run import ComparedRun, average
from harness.console import counted
from harness.decide import reaches
from harness.errors import SynthesisError
from harness.intervals import DIFFERENCES, mean_interval
from harness.repeats import is_flaky

SEED = 1
MOST_DRAWS = 2_000
FEWEST_DRAWS = 100
_WORK = 2_000_000
"""Trials drawn in all: it takes about a second."""
_FEW_TRIALS = 5


@dataclass(frozen=True)
class Drawn:
    """One run as it might have come out; `means` are by scenario."""

    mean: float
    worst: float
    means: tuple[float, ...]

    def reaches(self, threshold: str, line: float) -> bool:
        """Whether it would hold a threshold."""
        figure = {"--min-mean": self.mean, "--min-worst": self.worst, "--min-scenario-mean": min(self.means)}
        return reaches(round(figure[threshold], 6), line)


def identical_runs(named: Sequence[ComparedRun], lines: Mapping[str, float]) -> AaReport:
    """`lines` are thresholds; those of the first run's report where none are given."""
    runs = _alike(named)
    for other in runs[1:]:
        refuse_different(runs[0], how_scored(other), other.side.name)
    pools, sizes = _pools(runs)
    trials = sum(sizes)
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, _WORK // (2 * trials)))
    source = random.Random(SEED)  # noqa: S311 - chance that can be had again, not a secret
    pairs = [(_draw(pools, sizes, source), _draw(pools, sizes, source)) for _ in range(draws)]
    wanted = lines or runs[0].thresholds
    differences = sorted(abs(first.mean - second.mean) for first, second in pairs)
    names = _shared(runs)
    return AaReport(
        runs=tuple(run.side.name for run in runs),
        scenarios=len(pools),
        trials=trials,
        means=tuple(round(_seen(run, names).mean, 6) for run in runs),
        mean_deviation=round(stdev([run.mean for pair in pairs for run in pair]), 6),
        usual_difference=round(differences[math.ceil(0.95 * draws) - 1], 6),
        lines=tuple(_disagreement(name, line, pairs, runs) for name, line in wanted.items()),
        false_alarms=round(sum(_alarm(*pair) for pair in pairs) / draws, 4),
        false_alarm_rate=0.05,
        flaky=tuple(name for name, pool in zip(names, pools, strict=True) if is_flaky(pool)),
        draws=draws,
        seed=SEED,
        notes=(*_other_notes(named, runs), *_notes(pools)),
    )


def _alike(named: Sequence[ComparedRun]) -> Sequence[ComparedRun]:
    """The runs by reports that compare; as they are where there are none."""
    for first in (named[0], *scored_again(named[0])):
        scoring = how_scored(first)
        found = [first, *(scored_like(other, scoring) for other in named[1:])]
        if not any(differences(scoring, how_scored(other)) for other in found):
            return found
    return named


def _other_notes(named: Sequence[ComparedRun], runs: Sequence[ComparedRun]) -> Iterator[str]:
    """What makes runs something else than repetitions of one, and which reports were taken."""
    for run, taken in zip(named, runs, strict=True):
        if taken is not run:
            yield f"{run.side.name} is taken as it was scored again: {taken.report}"
    first, names = runs[0], _shared(runs)
    for other in runs[1:]:
        pairs = [(first.scenarios[name], other.scenarios[name]) for name in names]
        subjects = sum(one.subject != two.subject for one, two in pairs)
        prompts = sum(one.system_sha256 != two.system_sha256 for one, two in pairs)
        differing = f"{other.side.name} is no repetition of {first.side.name}: another"
        if subjects:
            yield f"{differing} subject, or one with other parameters, in {counted(subjects, 'scenario')}"
        if prompts:
            yield f"{differing} system prompt in {counted(prompts, 'scenario')}"


def _shared(runs: Sequence[ComparedRun]) -> list[str]:
    """Scenarios with a score in every run."""
    scored = [{name for name, found in run.scenarios.items() if found.scores} for run in runs]
    return [name for name in runs[0].scenarios if all(name in names for names in scored)]


def _pools(runs: Sequence[ComparedRun]) -> tuple[list[list[float]], list[int]]:
    """The trials of each scenario from all runs, and how many the first run has of it."""
    names = _shared(runs)
    if not names:
        fix = "give runs of the same scenarios"
        raise SynthesisError("the runs have no scored scenario in common", fix=fix)
    pools = [[score for run in runs for score in run.scenarios[name].scores.values()] for name in names]
    if max(map(len, pools)) < 2:
        what = "no scenario has two scored trials: chance cannot be measured"
        fix = "run with more than one seed, for example --seeds 3"
        raise SynthesisError(what, where=str(runs[0].report), fix=fix)
    return pools, [len(runs[0].scenarios[name].scores) for name in names]


def _draw(pools: Sequence[Sequence[float]], sizes: Sequence[int], source: random.Random) -> Drawn:
    """Trials with replacement; means are stretched, since few trials show less spread than there is.

    A stretched mean may leave the scale a little. To hold it back would pull all means one way.
    """
    worst, means = 1.0, []
    for pool, size in zip(pools, sizes, strict=True):
        taken = source.choices(pool, k=size)
        worst = min(worst, *taken)
        middle = average(pool)
        stretch = math.sqrt(len(pool) / (len(pool) - 1)) if len(pool) > 1 else 1.0
        means.append(middle + stretch * (average(taken) - middle))
    total = math.fsum(size * mean for size, mean in zip(sizes, means, strict=True))
    return Drawn(total / sum(sizes), worst, tuple(means))


def _seen(run: ComparedRun, names: Sequence[str]) -> Drawn:
    scores = [list(run.scenarios[name].scores.values()) for name in names]
    flat = [score for group in scores for score in group]
    return Drawn(average(flat), min(flat), tuple(map(average, scores)))


def _alarm(base: Drawn, head: Drawn) -> bool:
    lowest, highest = DIFFERENCES
    pairs = zip(base.means, head.means, strict=True)
    differences = [min(highest, max(lowest, after - before)) for before, after in pairs]
    return mean_interval(differences, DIFFERENCES).high < 0


def _disagreement(
    name: str, line: float, pairs: Sequence[tuple[Drawn, Drawn]], runs: Sequence[ComparedRun]
) -> LineDisagreement:
    held = [(first.reaches(name, line), second.reaches(name, line)) for first, second in pairs]
    names = _shared(runs)
    return LineDisagreement(
        name=name,
        required=line,
        reached=round(sum(sum(pair) for pair in held) / (2 * len(held)), 4),
        disagree=round(sum(first != second for first, second in held) / len(held), 4),
        observed_runs=len(runs),
        observed_reached=sum(_seen(run, names).reaches(name, line) for run in runs),
    )


def _notes(pools: Sequence[Sequence[float]]) -> Iterator[str]:
    few = sum(len(pool) < _FEW_TRIALS for pool in pools)
    if few:
        yield f"rough: {few} of {len(pools)} scenarios have fewer than {_FEW_TRIALS} trials"
