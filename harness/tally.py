"""What is kept of checked cases to sum them up: counts, which two parts of a file can add together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from harness.agreement import Pair, agreement, label_accuracy
from harness.errors import SynthesisError
from harness.records import CaseResult, CheckCounts, CheckSummary, Failure, Slice, Status, is_negative

Kind = TypeVar("Kind")
SLICES = ("brief", "informal")
"""Reported even when no case belongs to them; any other tag `slice:NAME` makes a slice too."""
SLICE = "slice:"
"""What such a tag begins with."""
SHOWN_FAILURES = 5
"""Of each kind, kept for the terminal; the report has them all."""


class Labelled(Protocol):
    """What is known of a case beforehand."""

    @property
    def id(self) -> str:
        """Its own."""

    @property
    def expected(self) -> Mapping[str, bool | None]:
        """Labels by check."""

    @property
    def tags(self) -> Sequence[str]:
        """Slices and negative examples among them."""


@dataclass
class Tally:
    """Adding cases in order, or the tallies of parts in order, gives the same."""

    verdicts: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    statuses: dict[str, Counter[Status]] = field(default_factory=dict)
    labels: dict[str, Counter[Pair]] = field(default_factory=dict)
    slices: dict[str, Counter[bool]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    failures: dict[bool, list[Failure]] = field(default_factory=lambda: {False: [], True: []})
    missed: list[str] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        """Count one case; a negative example that passes is lost."""
        self.count({name: verdict.status for name, verdict in result.checks.items()}, result.expected_failure)
        statuses = [verdict.status for verdict in result.checks.values()]
        self.add_labels(result, tuple(result.checks), statuses)

    def count(self, statuses: Mapping[str, Status], expected_failure: bool, times: int = 1) -> None:
        """So many cases with these verdicts."""
        self.verdicts["failed" not in statuses.values(), expected_failure] += times
        for name, status in statuses.items():
            if name not in self.statuses:
                self.statuses[name] = Counter()
                self.labels.setdefault(name, Counter())
            self.statuses[name][status] += times

    def add_labels(self, case: "Labelled", names: Sequence[str], statuses: Sequence[Status]) -> None:
        """What else counts of a case that is counted: its labels, its slices, and whether it was to fail."""
        passed = "failed" not in statuses
        for name, status in zip(names, statuses, strict=True):
            if name in case.expected:
                self.labels.setdefault(name, Counter())[case.expected[name], status] += 1
        if is_negative(case.tags) and passed:
            self.lost.append(case.id)
        if case.tags:
            self._add_slices(case, passed=passed)

    def add_failure(self, failure: Failure) -> None:
        """Keep the first few of each kind."""
        kept = self.failures[failure.expected_failure]
        if len(kept) < SHOWN_FAILURES:
            kept.append(failure)

    def _add_slices(self, case: "Labelled", *, passed: bool) -> None:
        """Only replies that are fine by every label they have count: those are flagged wrongly."""
        fine = not is_negative(case.tags) and False not in case.expected.values()
        for tag in dict.fromkeys(case.tags):
            if tag.startswith(SLICE):
                counts = self.slices.setdefault(tag.removeprefix(SLICE), Counter())
                if fine:
                    counts[not passed] += 1

    def merge(self, later: "Tally") -> None:
        """Add what comes behind."""
        self.verdicts.update(later.verdicts)
        _add(self.statuses, later.statuses)
        _add(self.labels, later.labels)
        _add(self.slices, later.slices)
        self.lost += later.lost
        self.missed += later.missed
        for failures in later.failures.values():
            for failure in failures:
                self.add_failure(failure)

    @property
    def names(self) -> list[str]:
        """The checks that were asked for."""
        return sorted(self.statuses)

    def summary(self) -> CheckSummary:
        """Counts, agreement with the labels, false positives per slice, and what is no longer caught."""
        verdicts, names = self.verdicts, self.names
        if not verdicts:
            raise SynthesisError("there are no cases to sum up", fix="give at least one case")
        every = sum((self.labels[name] for name in names), Counter[Pair]())
        return CheckSummary(
            cases=verdicts.total(),
            passed=verdicts[True, False] + verdicts[True, True],
            failed=verdicts[False, False] + verdicts[False, True],
            strict_passed=verdicts[True, False],
            strict_failed=verdicts[False, False],
            expected_failures=verdicts[False, True],
            unexpected_failures=verdicts[False, False],
            by_check={name: _counts(self.statuses[name]) for name in names},
            label_accuracy=label_accuracy(every),
            label_accuracy_by_check={name: label_accuracy(self.labels[name]) for name in names},
            agreement_by_check={name: agreement(self.labels[name]) for name in names if self.labels[name]},
            slices={
                name: _slice(self.slices.get(name, Counter())) for name in sorted({*SLICES, *self.slices})
            },
            lost_catches=tuple(self.lost),
        )


def tally_of(results: Iterable[CaseResult]) -> Tally:
    """All of them."""
    tally = Tally()
    for result in results:
        tally.add(result)
    return tally


def _add(counts: dict[str, Counter[Kind]], more: dict[str, Counter[Kind]]) -> None:
    for name, counted in more.items():
        counts.setdefault(name, Counter()).update(counted)


def _counts(seen: Counter[Status]) -> CheckCounts:
    return CheckCounts(passed=seen["passed"], failed=seen["failed"], not_applicable=seen["not_applicable"])


def _slice(flagged: Counter[bool]) -> Slice:
    checked = flagged.total()
    rate = round(flagged[True] / checked, 4) if checked else None
    return Slice(checked=checked, flagged=flagged[True], false_positive_rate=rate)
