"""What an audit keeps of everything it has read: sums, and a few examples. It does not grow with the input.

Everything is made of whole numbers, texts, lists and dictionaries: it adds up to the same however the input
was cut, and it can be written down and read again as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from pydantic import TypeAdapter

from harness.transcript import Json

UNIT = 10**9
"""Scores are added up as whole billionths: sums of floats depend on the order."""
LAST_TURN = 21
"""The number under which all later turns are counted."""
MOST_REASONS = 50
MOST_RULES = 1000
MOST_SOURCES = 1000
MOST_WORST = 20
BINS = 10
_COUNTS = (
    "conversations", "turns", "failed_turns", "errors", "not_applicable", "without_turns", "unprompted",
    "alone", "left_out", "not_drawn", "rejected", "passed_over", "redacted_turns", "redacted_conversations",
)  # fmt: skip
SOURCE_COUNTS = ("conversations", "turns", "rejected", "passed_over", "left_out", "not_drawn")


def _added(left: list[int], right: Iterable[int]) -> None:
    for place, value in enumerate(right):
        left[place] += value


@dataclass(slots=True)
class CheckSums:
    """One check over turns; the products are what intervals by conversation need."""

    passed: int = 0
    failed: int = 0
    not_applicable: int = 0
    errors: int = 0
    conversations: int = 0
    squares: list[int] = field(default_factory=lambda: [0] * 3)
    """Over conversations: failed², failed × applicable, applicable²."""
    applicable_by_turn: list[int] = field(default_factory=lambda: [0] * LAST_TURN)
    failed_by_turn: list[int] = field(default_factory=lambda: [0] * LAST_TURN)
    thirds: list[int] = field(default_factory=lambda: [0] * 15)
    """How many conversations; sums of early failed, early applicable, late failed, late applicable; then all
    products of two of these four, over conversations of three turns and more."""
    redaction_changes: int = 0

    @property
    def applicable(self) -> int:
        """Turns that were judged: those it does not apply to are no passes."""
        return self.passed + self.failed

    def add(self, other: "CheckSums") -> None:
        """What another part of the input came to."""
        self.passed += other.passed
        self.failed += other.failed
        self.not_applicable += other.not_applicable
        self.errors += other.errors
        self.conversations += other.conversations
        self.redaction_changes += other.redaction_changes
        _added(self.squares, other.squares)
        _added(self.applicable_by_turn, other.applicable_by_turn)
        _added(self.failed_by_turn, other.failed_by_turn)
        _added(self.thirds, other.thirds)

    def add_conversation(self, held: list[bool | None], earlier: int = 0) -> None:
        """One conversation by its turns: true passed, false failed, null did not apply.

        `earlier` turns came before these and are not judged here.
        """
        failed, passed = held.count(False), held.count(True)
        applicable = failed + passed
        self.failed += failed
        self.passed += passed
        self.not_applicable += len(held) - applicable
        if not applicable:
            return
        self.conversations += 1
        self.squares[1] += failed * applicable
        self.squares[0] += failed * failed
        self.squares[2] += applicable * applicable
        for number, verdict in enumerate(held, earlier):
            if verdict is not None:
                place = min(number, LAST_TURN - 1)
                self.applicable_by_turn[place] += 1
                self.failed_by_turn[place] += not verdict
        if len(held) >= 3:
            self._add_thirds(held[: len(held) // 3], held[-(len(held) // 3) :])

    def _add_thirds(self, early: list[bool | None], late: list[bool | None]) -> None:
        a, b = early.count(False), len(early) - early.count(None)
        c, d = late.count(False), len(late) - late.count(None)
        if a or c:
            _added(
                self.thirds,
                (1, a, b, c, d, a * a, a * b, a * c, a * d, b * b, b * c, b * d, c * c, c * d, d * d),
            )
            return
        thirds = self.thirds  # most conversations fail nowhere, and nine sums stay what they are
        thirds[0] += 1
        thirds[2] += b
        thirds[4] += d
        thirds[9] += b * b
        thirds[11] += b * d
        thirds[14] += d * d


@dataclass(slots=True)
class Scores:
    """Of conversations that have one."""

    scored: int = 0
    perfect: int = 0
    total: int = 0
    squares: int = 0
    worst: int = UNIT
    bins: list[int] = field(default_factory=lambda: [0] * BINS)

    def add_score(self, score: float) -> None:
        """One conversation's."""
        units = round(score * UNIT)
        self.scored += 1
        self.perfect += units == UNIT
        self.total += units
        self.squares += units * units
        self.worst = min(self.worst, units)
        self.bins[min(BINS - 1, units * BINS // UNIT)] += 1

    def add(self, other: "Scores") -> None:
        """What another part of the input came to."""
        self.scored += other.scored
        self.perfect += other.perfect
        self.total += other.total
        self.squares += other.squares
        self.worst = min(self.worst, other.worst)
        _added(self.bins, other.bins)


@dataclass(slots=True)
class Tally:
    """How often things happened, each with its first example; beyond `most` names only their sum is kept.

    The part of a chunk keeps every name, so that it does not matter how the input was cut.
    """

    most: int | None = None
    named: dict[str, dict[str, Json]] = field(default_factory=dict)
    others: int = 0

    def again(self, name: str, times: int) -> bool:
        """Whether it had happened before; then it is counted."""
        if (known := self.named.get(name)) is None:
            return False
        known["count"] += times
        return True

    def count(self, name: str, times: int, example: Mapping[str, Json]) -> None:
        """It happened; `example` counts only for the first."""
        if self.again(name, times):
            return
        if self.most is None or len(self.named) < self.most:
            self.named[name] = {**example, "count": times}
        else:
            self.others += times

    def add(self, other: "Tally") -> None:
        """What a later part of the input came to."""
        self.others += other.others
        for name, known in other.named.items():
            self.count(name, known["count"], known)


@dataclass(slots=True)
class Aggregate:
    """All of it; `whole()` is the one that parts are added to, in the order of the input."""

    checks: dict[str, CheckSums] = field(default_factory=dict)
    criteria: dict[str, list[int]] = field(default_factory=dict)
    """By label: conversations that passed, failed, were not applicable, could not be judged."""
    scores: Scores = field(default_factory=Scores)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    kinds: dict[str, int] = field(default_factory=dict)
    sources: dict[str, dict[str, int]] = field(default_factory=dict)
    rules: Tally = field(default_factory=Tally)
    rejects: Tally = field(default_factory=Tally)
    passed_over: Tally = field(default_factory=Tally)
    errors: Tally = field(default_factory=Tally)
    worst: list[dict[str, Json]] = field(default_factory=list)

    @classmethod
    def whole(cls) -> Self:
        """Bounded, whatever is added."""
        return cls(
            rules=Tally(MOST_RULES),
            rejects=Tally(MOST_REASONS),
            passed_over=Tally(MOST_REASONS),
            errors=Tally(MOST_REASONS),
        )

    def source(self, number: int) -> dict[str, int]:
        """The counts of one input."""
        return self.sources.setdefault(str(number), dict.fromkeys(SOURCE_COUNTS, 0))

    def add(self, other: "Aggregate") -> None:
        """What the next part of the input came to."""
        for name, sums in other.checks.items():
            self.checks.setdefault(name, CheckSums()).add(sums)
        for label, held in other.criteria.items():
            _added(self.criteria.setdefault(label, [0] * 4), held)
        for name, count in other.counts.items():
            self.counts[name] += count
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        for number, counts in other.sources.items():
            if int(number) < MOST_SOURCES:
                mine = self.source(int(number))
                for name, count in counts.items():
                    mine[name] += count
        self.scores.add(other.scores)
        self.rules.add(other.rules)
        self.rejects.add(other.rejects)
        self.passed_over.add(other.passed_over)
        self.errors.add(other.errors)
        self.worst = worst_of([*self.worst, *other.worst])


def worst_of(found: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    """The lowest scores, then the most failing turns, then whichever came first."""
    ordered = sorted(found, key=lambda each: (each["score"], -each["failed_turns"]))
    return list(islice(ordered, MOST_WORST))


_AGGREGATE: TypeAdapter[Aggregate] = TypeAdapter(Aggregate)


def read_aggregate(value: Json) -> Aggregate:
    """From what `dataclasses.asdict` gave; raises ValueError for anything else."""
    return _AGGREGATE.validate_python(value)
