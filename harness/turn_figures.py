"""Figures over evaluated turns: for each dimension how good, how bad at worst, and how many issues."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from harness.run_report import CriterionScore, DimensionSummary
from harness.turn_evaluation import Severity

KEYS = ("turn_quality", "dimension")
"""The criteria that keep turns in their evidence, the fuller one first."""


@dataclass
class DimensionFigures:
    """What is needed of a dimension to add up trials, and no more: there may be very many."""

    turns: int = 0
    total: float = 0.0
    worst: float = 1.0
    issues: dict[Severity, int] = field(default_factory=dict)

    def add(self, other: "DimensionFigures") -> None:
        """Both together."""
        self.turns += other.turns
        self.total += other.total
        self.worst = min(self.worst, other.worst)
        for severity, count in other.issues.items():
            self.issues[severity] = self.issues.get(severity, 0) + count

    def summary(self) -> DimensionSummary:
        """As reports have it."""
        return DimensionSummary(
            turns=self.turns,
            mean=round(self.total / self.turns, 6),
            worst=round(self.worst, 6),
            critical=self.issues.get("critical", 0),
            error=self.issues.get("error", 0),
            warning=self.issues.get("warning", 0),
        )


Figures = dict[str, DimensionFigures]


def figures_of(scores: Iterable[CriterionScore]) -> Figures:
    """Of one trial. A turn that two criteria look at counts once, as the first of them saw it."""
    found: Figures = {}
    seen: set[tuple[str, int]] = set()
    ordered = sorted((score for score in scores if score.criterion in KEYS), key=_fuller_first)
    for name, turn, one in (figure for score in ordered for figure in _turn_figures(score)):
        if (name, turn) not in seen:
            seen.add((name, turn))
            found.setdefault(name, DimensionFigures()).add(one)
    return found


def added(many: Iterable[Figures]) -> Figures:
    """Of all trials together."""
    whole: Figures = {}
    for figures in many:
        for name, one in figures.items():
            whole.setdefault(name, DimensionFigures()).add(one)
    return whole


def summaries(figures: Figures) -> dict[str, DimensionSummary]:
    """Critical issues first, then errors, then what scores worst."""
    found = {name: one.summary() for name, one in figures.items()}
    return dict(
        sorted(found.items(), key=lambda item: (-item[1].critical, -item[1].error, item[1].mean, item[0]))
    )


def _fuller_first(score: CriterionScore) -> int:
    return KEYS.index(score.criterion)


def _turn_figures(score: CriterionScore) -> Iterator[tuple[str, int, DimensionFigures]]:
    for turn in score.evidence.get("turns", ()):
        for name, value in turn["scores"].items():
            if name not in turn["not_applicable"]:
                counts: dict[Severity, int] = {}
                for issue in turn["issues"]:
                    if issue["dimension"] == name:
                        counts[issue["severity"]] = counts.get(issue["severity"], 0) + 1
                yield name, turn["turn"], DimensionFigures(1, value, value, counts)
