"""One part of an audit's input, from rows to what is written and counted of it.

A pure function of what is asked for and the part, so that any engine can do it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from harness.audit_aggregate import MOST_WORST, Aggregate, CheckSums, worst_of
from harness.audit_finding import Place, Side, encoded, lost_criteria, short, turn_failure, writable
from harness.audit_rubric import AuditRubric, Judged, Result
from harness.choose import Condition, Lots, Spot, smallest
from harness.chunk import Chunk, read_chunk
from harness.collector import without_collector
from harness.importer import Found, PassedOver, Rejected
from harness.records import Turn
from harness.redact import Redaction

BATCH = 2000
"""Rows that are looked at together."""
_STATUSES = ("passed", "failed", "not_applicable", "error")
_HELD = {"passed": True, "failed": False, "not_applicable": None, "error": None}


@dataclass(frozen=True)
class Draw:
    """A sample: conversations whose lot is not beyond the cutoff."""

    seed: int
    cutoff: bytes


@dataclass(frozen=True)
class AuditConfig:
    """What shapes findings and counts."""

    rubric: AuditRubric
    where: tuple[Condition, ...] = ()
    redaction: Redaction | None = None
    draw: Draw | None = None


@dataclass(frozen=True)
class Part:
    """A chunk and the number of its input, counted from 0."""

    source: int
    chunk: Chunk


@dataclass(frozen=True)
class PartResult:
    """What is appended to the two files, and what is added up."""

    findings: bytes
    rejects: bytes
    aggregate: Aggregate


@without_collector
def audit_part(config: AuditConfig, part: Part) -> PartResult:
    """Every conversation in it that is asked for, scored."""
    audit = _PartAudit(config, part)
    placed = _placed(part)
    while rows := list(islice(placed, BATCH)):
        audit.prepare(rows)
        for spot, row in rows:
            audit.take(row, spot)
    return audit.result()


def draw_part(where: tuple[Condition, ...], seed: int, size: int, part: Part) -> Lots:
    """The lots of the conversations in it that could be drawn."""
    lots = [
        spot.lot(seed)
        for spot, row in _placed(part)
        if type(row) is Found and all(condition.holds(row.conversation) for condition in where)
    ]
    return smallest(lots, size)


def _placed(part: Part) -> Iterator[tuple[Spot, Found | PassedOver | Rejected]]:
    """Rows with their places; of several conversations of one record each has its own."""
    before: tuple[str, int] | None = None
    index = 0
    for row in read_chunk(part.chunk):
        if type(row) is Found:
            here = (row.file, row.line)
            index = index + 1 if here == before else 0
            before = here
            yield Spot(part.source, row.file.removeprefix(part.chunk.path), row.line, index), row
        else:
            yield Spot(part.source, "", 0, 0), row


class _PartAudit:
    """Collects what a part comes to."""

    def __init__(self, config: AuditConfig, part: Part) -> None:
        self._config = config
        self._rubric = config.rubric
        self._redaction = config.redaction
        self._clean: Callable[[str], str] = str if config.redaction is None else config.redaction.text
        self._sums = Aggregate(
            checks={column.name: CheckSums() for column in config.rubric.columns},
            criteria={label: [0] * 4 for label in config.rubric.labels},
        )
        self._checks = [self._sums.checks[column.name] for column in config.rubric.columns]
        self._counts = self._sums.counts
        self._source = self._sums.source(part.source)
        self._findings: list[bytes] = []
        self._rejects: list[bytes] = []
        self._files: dict[str, str] = {}

    def result(self) -> PartResult:
        self._sums.worst = worst_of(self._sums.worst)
        return PartResult(b"".join(self._findings), b"".join(self._rejects), self._sums)

    def prepare(self, rows: Iterable[tuple[Spot, Found | PassedOver | Rejected]]) -> None:
        """Let checkers look at all turns that are to be judged, together."""
        chosen = [row for spot, row in rows if isinstance(row, Found) and self._left_out(row, spot) is None]
        turns = [turn for row in chosen for turn in row.conversation.turns()]
        self._rubric.prepare(turns)

    def take(self, row: Found | PassedOver | Rejected, spot: Spot) -> None:
        if isinstance(row, Found):
            self._found(row, spot)
        elif isinstance(row, PassedOver):
            self._count("passed_over")
            self._sums.passed_over.count(short(self._clean(row.reason)), 1, {})
        else:
            self._count("rejected")
            place = {"file": writable(self._file(row.file)), "line": row.line}
            reason = row.redacted(self._clean)
            self._rejects.append(encoded({**place, "reason": reason}))
            self._sums.rejects.count(short(reason), 1, place)

    def _count(self, name: str, number: int = 1) -> None:
        self._counts[name] += number
        if name in self._source:
            self._source[name] += number

    def _file(self, name: str) -> str:
        if name not in self._files:
            self._files[name] = self._clean(name)
        return self._files[name]

    def _found(self, row: Found, spot: Spot) -> None:
        conversation = row.conversation
        reason = self._left_out(row, spot)
        if reason is not None:
            self._count(reason)
            return
        turns = conversation.turns()
        self._count("conversations")
        self._count("turns", len(turns))
        self._counts["unprompted"] += conversation.unprompted
        self._counts["alone"] += sum(not turn.user for turn in turns)
        if not turns:
            self._counts["without_turns"] += 1
            return
        judged = self._rubric.judge(conversation, turns)
        self._add_turns(judged, conversation.earlier)
        self._record(row, turns, judged)

    def _left_out(self, row: Found, spot: Spot) -> str | None:
        """Under which name a conversation is counted that is not judged."""
        config = self._config
        if config.where and not all(condition.holds(row.conversation) for condition in config.where):
            return "left_out"
        if config.draw is not None and spot.lot(config.draw.seed) > config.draw.cutoff:
            return "not_drawn"
        return None

    def _add_turns(self, judged: Judged, earlier: int) -> None:
        for sums, statuses in zip(self._checks, judged.statuses, strict=True):
            sums.add_conversation([_HELD[status] for status in statuses], earlier)
            if "error" in statuses:
                sums.errors += statuses.count("error")
                sums.not_applicable -= statuses.count("error")
        for label, verdict in zip(self._rubric.labels, judged.verdicts, strict=True):
            self._sums.criteria[label][_STATUSES.index(verdict.status)] += 1

    def _record(self, row: Found, turns: list[Turn], judged: Judged) -> None:
        """What is written of the conversation: where it failed, and what it adds to the scores."""
        failed = sorted(
            {
                number
                for statuses in judged.statuses
                if "failed" in statuses
                for number, status in enumerate(statuses, 1)
                if status == "failed"
            }
        )
        if judged.error is None and judged.score == 1 and not failed and self._redaction is None:
            self._sums.scores.add_score(1)
            return
        place = Place(self._file(row.file), row.line, self._clean(row.conversation.id))
        sides = self._sides(turns, judged)
        self._counts["failed_turns"] += len(failed)
        earlier = row.conversation.earlier
        for number in failed:
            results = [results[number - 1] for results in judged.results]
            self._turn(place, earlier + number, sides[number - 1], results)
        self._conversation(row, place, sides, judged)
        self._add_score(place, judged, len(turns), len(failed))

    def _sides(self, turns: Iterable[Turn], judged: Judged) -> list[Side]:
        """The turns as they are shown; those that redaction changes are checked again as they would be."""
        if self._redaction is None:
            return [Side(turn) for turn in turns]
        sides = [Side.redacted(turn, self._redaction) for turn in turns]
        changed = [number for number, side in enumerate(sides) if side.changed]
        self._counts["redacted_turns"] += len(changed)
        self._counts["redacted_conversations"] += bool(changed)
        for number in changed:
            side = sides[number]
            side.results = self._rubric.check_turn(side.shown)
            for sums, now, before in zip(self._checks, side.results, judged.results, strict=True):
                sums.redaction_changes += now.status != before[number].status
            for detail in (*side.user_details, *side.assistant_details):
                self._sums.kinds[detail.kind] = self._sums.kinds.get(detail.kind, 0) + 1
        return sides

    def _turn(self, place: Place, number: int, side: Side, results: list[Result]) -> None:
        failures = []
        for index, (column, result) in enumerate(zip(self._rubric.columns, results, strict=True)):
            if result.status == "failed":
                failure, rules = turn_failure(column.name, result, side, index)
                failures.append(failure)
                for rule, times, example in rules:
                    name = f"{column.name}\n{rule}"
                    if not self._sums.rules.again(name, times):
                        self._sums.rules.count(name, times, {**place.short(), "turn": number, **example()})
        self._findings.append(encoded({
            "kind": "turn", **place.full(), "turn": number, "failed": failures,
            "user": side.shown.user, "assistant": side.shown.assistant, "redacted": side.changed,
        }))  # fmt: skip

    def _conversation(self, row: Found, place: Place, sides: list[Side], judged: Judged) -> None:
        """Criteria that fail on the whole, where no failing turn says so already."""
        shown = [side.shown for side in sides] if any(side.changed for side in sides) else None
        failed = list(lost_criteria(self._rubric, judged, row.conversation, shown))
        if failed:
            line = {"kind": "conversation", **place.full(), "failed": failed, "redacted": shown is not None}
            self._findings.append(encoded(line))

    def _add_score(self, place: Place, judged: Judged, turns: int, failed: int) -> None:
        if judged.error is not None:
            self._counts["errors"] += 1
            self._sums.errors.count(short(self._clean(judged.error)), 1, place.short())
            return
        if judged.score is None:
            self._counts["not_applicable"] += 1
            return
        self._sums.scores.add_score(judged.score)
        if judged.score < 1:
            statuses = zip(self._rubric.labels, judged.verdicts, strict=True)
            lost = [label for label, verdict in statuses if verdict.status == "failed"]
            score = round(judged.score, 6)
            counts = {"score": score, "turns": turns, "failed_turns": failed, "lost": lost}
            self._sums.worst.append({**place.short(), **counts})
            if len(self._sums.worst) > 10 * MOST_WORST:
                self._sums.worst = worst_of(self._sums.worst)
