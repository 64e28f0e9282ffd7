"""How far the judge, the other criteria and people agree about the trials of a run."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from harness.agreement_figures import (
    Pair,
    PairKey,
    Panel,
    PanelKey,
    pair_agreement,
    panel_agreement,
    repeat_agreement,
)
from harness.agreement_report import (
    AgreementReport,
    AgreementStamp,
    AgreementSummary,
    Difference,
    Rater,
    UnjudgedLabel,
)
from harness.errors import SynthesisError
from harness.labels import Label, Labels, read_labels
from harness.ratings import JudgedScenario, JudgedTrial, Rating, Scale, find_report, ratings_of
from harness.recorded_run import read_scenarios
from harness.reliability import Values
from harness.version import VERSION


def agree(run: Path, labels: Path | None = None) -> AgreementReport:
    """Read a run's report, and labels for it, and compare everyone who judged the same trials."""
    report = find_report(run)
    given = None if labels is None else read_labels(labels)
    comparison = Comparison(given)
    for scenario in read_scenarios(report, JudgedScenario):
        comparison.add(scenario)
    stamp = AgreementStamp(
        tool_version=VERSION,
        report=report.as_posix(),
        report_sha256=_sha256(report),
        labels=None if labels is None else labels.as_posix(),
        labels_sha256=None if labels is None else _sha256(labels),
    )
    return comparison.conclude(stamp)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Comparison:
    """Collects, scenario by scenario, what two or more raters said of the same trial."""

    def __init__(self, labels: Labels | None) -> None:
        self._labels = labels
        self._scenarios: list[str] = []
        self._trials = 0
        self._judges: set[Rater] = set()
        self._pairs: dict[PairKey, Pair] = {}
        self._panels: dict[PanelKey, Panel] = {}
        self._repeats: dict[Rater, list[Values]] = {}
        self._unjudged: list[UnjudgedLabel] = []

    def add(self, scenario: JudgedScenario) -> None:
        """Every trial by itself, with the labels that are about it."""
        self._scenarios.append(scenario.name)
        self._trials += len(scenario.trials)
        labels = {} if self._labels is None else self._labels.of(scenario)
        scales = scenario.scales()
        by_seed: dict[int, list[Label]] = {}
        for label in labels.values():
            by_seed.setdefault(label.seed, []).append(label)
        for trial in scenario.trials:
            ratings = ratings_of(trial)
            self._add_labels(scenario.name, trial, ratings, _people(by_seed.get(trial.seed, ()), scales))
            self._add_criteria(scenario.name, trial.seed, ratings)
        trials = {trial.seed: trial for trial in scenario.trials}
        for line, label in labels.items():
            for why in _unjudged(label, trials.get(label.seed)):
                of_label = label.model_dump(include={"scenario", "seed", "criterion", "rater"})
                self._unjudged.append(UnjudgedLabel(line=line, why=why, **of_label))

    def _add_labels(
        self, scenario: str, trial: JudgedTrial, ratings: Sequence[Rating], people: Mapping[str, list[Rating]]
    ) -> None:
        for name, humans in people.items():
            judged = [rating for rating in ratings if rating.rater.name == name]
            beside = [(rating, human) for rating in judged for human in humans]
            among = list(combinations(humans, 2)) if judged else []
            for metric in humans[0].values:
                for first, second in (*beside, *among):
                    key = PairKey(name, first.rater, second.rater, metric)
                    self._add_pair(key, first, second, (scenario, trial.seed))
                for rating in judged:
                    self._add_panel(PanelKey(name, rating.rater, metric), [rating, *humans])
                if judged:
                    self._add_panel(PanelKey(name, None, metric), humans)

    def _add_criteria(self, scenario: str, seed: int, ratings: Sequence[Rating]) -> None:
        """A judge with every other criterion; criteria without a judge are meant to say different things."""
        judges = [rating for rating in ratings if rating.rater.kind == "judge"]
        others = [rating for rating in ratings if rating.rater.kind != "judge"]
        for number, judge in enumerate(judges, 1):
            self._judges.add(judge.rater)
            if judge.repeats:
                self._repeats.setdefault(judge.rater, []).append(judge.repeats)
            for other in (*judges[number:], *others):
                key = PairKey(judge.rater.name, judge.rater, other.rater, "nominal")
                self._add_pair(key, judge, other, (scenario, seed))

    def _add_pair(self, key: PairKey, first: Rating, second: Rating, trial: tuple[str, int]) -> None:
        pair = self._pairs.setdefault(key, Pair([], []))
        values = (first.values[key.metric], second.values[key.metric])
        pair.values.append(values)
        if values[0] != values[1]:
            difference = Difference(
                scenario=trial[0], seed=trial[1], first=first.opinion, second=second.opinion
            )
            pair.differences.append(difference)

    def _add_panel(self, key: PanelKey, ratings: Sequence[Rating]) -> None:
        panel = self._panels.setdefault(key, Panel({}, []))
        panel.raters.update(dict.fromkeys(rating.rater for rating in ratings))
        if len(ratings) > 1:
            panel.units.append([rating.values[key.metric] for rating in ratings])

    def conclude(self, stamp: AgreementStamp) -> AgreementReport:
        """The figures; raises for labels that cannot be meant, and where nothing can be compared."""
        if self._labels is not None:
            self._labels.finish(self._scenarios)
        if not self._pairs and not self._repeats:
            raise self._nothing(stamp.report)
        order = {key.criterion: number for number, key in reversed(list(enumerate(self._pairs)))}
        ranked = sorted(self._pairs, key=lambda key: (order[key.criterion], key.rank))
        return AgreementReport(
            summary=AgreementSummary(
                scenarios=len(self._scenarios),
                trials=self._trials,
                labels=0 if self._labels is None else self._labels.number,
                unjudged=len({label.line for label in self._unjudged}),
            ),
            pairs=tuple(pair_agreement(key, self._pairs[key]) for key in ranked),
            panels=tuple(
                panel_agreement(key, panel)
                for key, panel in self._panels.items()
                if panel.units and sum(rater.kind == "human" for rater in panel.raters) > 1
            ),
            repeats=tuple(repeat_agreement(judge, units) for judge, units in self._repeats.items()),
            unjudged=tuple(sorted(self._unjudged, key=lambda label: label.line)),
            stamp=stamp,
        )

    def _nothing(self, report: str) -> SynthesisError:
        if self._unjudged:
            first = self._unjudged[0]
            what = f"no label is of a trial that was judged; that of line {first.line}: {first.why}"
            fix = "label trials that have a verdict, or finish the run with: synthesis eval --resume RUN"
        elif self._judges:
            what = "no trial has two verdicts to compare: the judge stands alone"
            fix = "give human labels with --labels, or let the judge be asked more than once"
        else:
            what = "no trial has two verdicts to compare: the run was scored without a judge"
            fix = "give human labels with --labels, or put a judge into the rubric"
        return SynthesisError(what, where=report, fix=fix)


def _people(labels: Iterable[Label], scales: Mapping[str, Scale]) -> dict[str, list[Rating]]:
    """What people said of one trial, by criterion, always in the order of their names."""
    people: dict[str, list[Rating]] = {}
    for label in sorted(labels, key=lambda label: label.rater):
        if label.criterion in scales:
            people.setdefault(label.criterion, []).append(label.rating(scales[label.criterion]))
    return people


def _unjudged(label: Label, trial: JudgedTrial | None) -> list[str]:
    """Why there is no verdict beside a label, once for every criterion of the name that gave none."""
    if trial is None:
        return ["the trial was not run"]
    named = [criterion for criterion in trial.criteria if criterion.name == label.criterion]
    if not named:
        return [f"the trial ended in an error: {trial.error or 'nothing is known of it'}"]
    return [criterion.why_unjudged for criterion in named if criterion.score is None]
