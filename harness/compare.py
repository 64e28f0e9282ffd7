"""Two runs of the same scenarios: what changed, how sure that is, and where."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.comparability import how_scored, refuse_different
from harness.compare_report import (
    Change,
    CompareReport,
    CompareStamp,
    CompareSummary,
    CriterionChange,
    MeanChange,
    ScenarioChange,
)
from harness.compared_run import ComparedRun, ScenarioFigures, average
from harness.console import counted
from harness.decide import ComparisonLimits, decide_comparison
from harness.errors import SynthesisError
from harness.holm import holm
from harness.intervals import DIFFERENCES, mean_interval
from harness.pairing import Paired, pair
from harness.permutation import sign_flip
from harness.power import detectable
from harness.side_by_side import prompt_changes, worst_drops
from harness.version import VERSION

SEED = 1
RARELY = 1 / 3
_NOTHING = ScenarioFigures((), {}, None, {}, {})


def compare(base: ComparedRun, head: ComparedRun, limits: ComparisonLimits) -> CompareReport:
    """Both runs were read; what was not scored alike, or has no scenario in common, is refused."""
    refuse_different(base, how_scored(head), head.side.name)
    paired = _paired(base, head)
    if not paired:
        what = "the two runs have no scored scenario in common"
        fix = "compare runs of the same scenarios"
        raise SynthesisError(what, where=f"{base.side.name} and {head.side.name}", fix=fix)
    scenarios = tuple(_scenario_changes(base, head, paired))
    criteria = tuple(_criterion_changes(base, head))
    found = Found(_mean_change(list(paired.values())), scenarios, criteria)
    decision = decide_comparison(found.mean, scenarios, criteria, (base.side, head.side), limits)
    return CompareReport(
        base=base.side,
        head=head.side,
        summary=_summary(found, paired),
        mean=found.mean,
        scenarios=scenarios,
        criteria=criteria,
        prompts=tuple(prompt_changes(base, head)),
        drops=tuple(worst_drops(base, head, paired)),
        notes=tuple(_notes(base, head, paired)),
        limits=decision.limits,
        exit_code=int(decision.exit),
        stamp=CompareStamp(tool_version=VERSION, seed=SEED),
    )


@dataclass(frozen=True)
class Found:
    """The figures of a comparison."""

    mean: MeanChange
    scenarios: tuple[ScenarioChange, ...]
    criteria: tuple[CriterionChange, ...]


def _paired(base: ComparedRun, head: ComparedRun) -> dict[str, Paired]:
    both = ((name, head.scenarios.get(name, _NOTHING)) for name in base.scenarios)
    found = ((name, pair(base.scenarios[name].scores, other.scores)) for name, other in both)
    return {name: one for name, one in found if one is not None}


def _mean_change(paired: Sequence[Paired]) -> MeanChange:
    differences = [one.difference for one in paired]
    interval = mean_interval(differences, DIFFERENCES)
    test = sign_flip(differences, SEED)
    known = interval.standard_error if math.isfinite(interval.standard_error) else 0.0
    return MeanChange(
        base=round(average([one.base for one in paired]), 6),
        head=round(average([one.head for one in paired]), 6),
        difference=round(interval.estimate, 6) + 0.0,
        low=round(interval.low, 6) + 0.0,
        high=round(interval.high, 6) + 0.0,
        level=interval.level,
        rough=interval.rough,
        p=round(test.p, 6),
        draws=test.draws,
        detectable=_seen(known, len(paired) - 1),
    )


def _seen(standard_error: float, df: int) -> float | None:
    if not standard_error:
        return None
    drop = round(detectable(standard_error, df), 6)
    return drop if drop <= 1 else None


def _scenario_changes(
    base: ComparedRun, head: ComparedRun, paired: Mapping[str, Paired]
) -> Iterator[ScenarioChange]:
    """In the order of the base, then what is new."""
    for name in dict.fromkeys((*base.scenarios, *head.scenarios)):
        before, after = base.scenarios.get(name, _NOTHING), head.scenarios.get(name, _NOTHING)
        one = paired.get(name)
        yield ScenarioChange(
            name=name,
            change=one.change if one else _unpaired(name in base.scenarios, name in head.scenarios),
            base=_rounded(one.base) if one else _mean_of(before),
            head=_rounded(one.head) if one else _mean_of(after),
            difference=_rounded(one.difference) if one else None,
            paired_by=one.paired_by if one else None,
            pairs=one.pairs if one else 0,
            base_trials=len(before.scores),
            base_passed=before.passed,
            head_trials=len(after.scores),
            head_passed=after.passed,
            fell=one is not None and _fell(before, after),
        )


def _unpaired(in_base: bool, in_head: bool) -> Change:
    if in_base and in_head:
        return "not scored"
    return "missing" if in_base else "new"


def _fell(before: ScenarioFigures, after: ScenarioFigures) -> bool:
    return before.passed == len(before.scores) and after.passed <= RARELY * len(after.scores)


def _mean_of(found: ScenarioFigures) -> float | None:
    return _rounded(average(list(found.scores.values()))) if found.scores else None


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0


def _criterion_changes(base: ComparedRun, head: ComparedRun) -> list[CriterionChange]:
    names = dict.fromkeys(
        label for run in (base, head) for found in run.scenarios.values() for label in found.criteria
    )
    pairs = {name: _criterion_pairs(name, base, head) for name in names}
    means = {name: _mean_change(found) for name, found in pairs.items() if found}
    corrected = dict(zip(means, holm([mean.p for mean in means.values()]), strict=True))
    return [
        CriterionChange(
            name=name,
            change=_direction(means[name].difference)
            if name in means
            else _unpaired(_has(base, name), _has(head, name)),
            scenarios=len(found),
            worse=sum(one.change == "worse" for one in found),
            better=sum(one.change == "better" for one in found),
            mean=means.get(name),
            corrected_p=round(corrected[name], 6) if name in corrected else None,
        )
        for name, found in pairs.items()
    ]


def _criterion_pairs(name: str, base: ComparedRun, head: ComparedRun) -> list[Paired]:
    found = (
        pair(before.criteria.get(name, {}), head.scenarios.get(scenario, _NOTHING).criteria.get(name, {}))
        for scenario, before in base.scenarios.items()
    )
    return [one for one in found if one is not None]


def _direction(difference: float) -> Change:
    return "better" if difference > 0 else "worse" if difference < 0 else "same"


def _has(run: ComparedRun, criterion: str) -> bool:
    return any(criterion in found.criteria for found in run.scenarios.values())


def _summary(found: Found, paired: Mapping[str, Paired]) -> CompareSummary:
    changes = [scenario.change for scenario in found.scenarios]
    return CompareSummary(
        scenarios=len(paired),
        pairs=sum(one.pairs for one in paired.values()),
        better=changes.count("better"),
        worse=changes.count("worse"),
        same=changes.count("same"),
        new=changes.count("new"),
        missing=changes.count("missing"),
        not_scored=changes.count("not scored"),
        tests=sum(criterion.mean is not None for criterion in found.criteria),
    )


def _notes(base: ComparedRun, head: ComparedRun, paired: Mapping[str, Paired]) -> Iterator[str]:
    unseeded = sum(one.paired_by == "scenario" for one in paired.values())
    if unseeded:
        yield f"{counted(unseeded, 'scenario')} without a seed in common, compared by their means"
    for run in (base, head):
        lost = [
            f"{counted(number, 'trial')} {what}"
            for number, what in ((run.side.errors, "with an error"), (run.side.not_run, "not run"))
            if number
        ]
        if lost:
            yield f"{run.side.name} is without the scores of {' and '.join(lost)}"
    others = sum(base.scenarios[name].subject != head.scenarios[name].subject for name in paired)
    if others:
        yield f"another subject, or one with other parameters, in {counted(others, 'scenario')}"
