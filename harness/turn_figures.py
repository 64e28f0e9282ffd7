"""Figures over evaluated turns: for each dimension how good, how bad at worst, and how many issues."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.run_report import DimensionSummary
from harness.transcript import Json
from harness.turn_evaluation import Severity

Turns = Sequence[Mapping[str, Json]]
"""The turns that one criterion looked at, as a report keeps them."""


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


def figures_of(evaluated: Iterable[Turns]) -> Figures:
    """Of one trial. A turn that two criteria look at counts once, as the fuller of them saw it."""
    found: Figures = {}
    seen: set[tuple[str, int]] = set()
    ordered = sorted(evaluated, key=_dimensions, reverse=True)
    for name, turn, one in (figure for turns in ordered for figure in _turn_figures(turns)):
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


def _dimensions(turns: Turns) -> int:
    return max((len(turn["scores"]) for turn in turns), default=0)


def _turn_figures(turns: Turns) -> Iterator[tuple[str, int, DimensionFigures]]:
    for turn in turns:
        for name, value in turn["scores"].items():
            if name not in turn["not_applicable"]:
                counts: dict[Severity, int] = {}
                for issue in turn["issues"]:
                    if issue["dimension"] == name:
                        counts[issue["severity"]] = counts.get(issue["severity"], 0) + 1
                yield name, turn["turn"], DimensionFigures(1, value, value, counts)
