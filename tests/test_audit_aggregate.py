"""What an audit keeps adds up to the same however the input is cut, and stays small."""

import json
import random
from dataclasses import asdict

import pytest

from harness.audit_aggregate import (
    MOST_REASONS,
    MOST_RULES,
    MOST_SOURCES,
    MOST_WORST,
    Aggregate,
    CheckSums,
    Tally,
    read_aggregate,
)


def part(*numbers: int) -> Aggregate:
    """What some conversations come to."""
    found = Aggregate(checks={"check": CheckSums()}, criteria={"check": [0] * 4})
    for number in numbers:
        held: list[bool | None] = [bool(number >> bit & 1) for bit in range(number % 7)]
        found.checks["check"].add_conversation(held)
        found.criteria["check"][number % 4] += 1
        found.counts["conversations"] += 1
        found.scores.add_score(number % 11 / 10)
        found.source(number // 10)["turns"] += len(held)
        found.kinds[f"kind-{number % 3}"] = found.kinds.get(f"kind-{number % 3}", 0) + 1
        found.rules.count(f"rule-{number % 1500}", 1, {"line": number})
        found.rejects.count(f"reason-{number % 70}", 1, {"line": number})
        found.worst.append({"score": number % 11 / 10, "failed_turns": number % 5, "line": number})
    return found


def whole(numbers: list[int], cuts: list[int]) -> dict[str, object]:
    total = Aggregate.whole()
    for start, end in zip([0, *cuts], [*cuts, len(numbers)], strict=True):
        total.add(part(*numbers[start:end]))
    return asdict(total)


def test_it_does_not_matter_where_the_input_is_cut() -> None:
    chance = random.Random(2)
    numbers = [chance.randrange(20_000) for _ in range(3000)]
    one_by_one = whole(numbers, list(range(1, len(numbers))))
    for pieces in (0, 1, 7, 100):
        assert whole(numbers, sorted(chance.sample(range(1, 3000), pieces))) == one_by_one


def test_it_can_be_written_down_and_gone_on_with() -> None:
    total = Aggregate.whole()
    total.add(part(*range(500)))
    again = read_aggregate(json.loads(json.dumps(asdict(total))))
    for each in (total, again):
        each.add(part(*range(500, 2500)))
    assert asdict(again) == asdict(total)
    assert again.rules.others == 500


@pytest.mark.parametrize("value", [None, [], {"checks": 1}, {"checks": {"check": {"passed": "many"}}}])
def test_what_is_no_aggregate_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Aggregate"):
        read_aggregate(value)


def test_it_stays_small() -> None:
    total = Aggregate.whole()
    for start in range(0, 30_000, 1000):
        total.add(part(*range(start, start + 1000)))
    assert len(total.rules.named) == MOST_RULES
    assert len(total.rejects.named) == MOST_REASONS
    assert len(total.sources) == MOST_SOURCES
    assert len(total.worst) == MOST_WORST
    assert sum(each["count"] for each in total.rules.named.values()) + total.rules.others == 30_000
    assert total.scores.scored == 30_000


def test_the_worst_are_the_lowest_then_those_with_most_failing_turns_then_the_first() -> None:
    total = Aggregate.whole()
    total.add(part(*range(2000)))
    zero = [number for number in range(2000) if number % 11 == 0]
    expected = sorted(zero, key=lambda number: (-(number % 5), number))[:MOST_WORST]
    assert [each["line"] for each in total.worst] == expected


def test_the_first_example_stays() -> None:
    tally = Tally(2)
    for line, name in enumerate(["a", "b", "a", "c"], 1):
        tally.count(name, line, {"line": line})
    assert tally.named == {"a": {"line": 1, "count": 4}, "b": {"line": 2, "count": 2}}
    assert tally.others == 4


def test_scores_add_up_exactly() -> None:
    """A third, three times, is one; the sum of floats would depend on the order."""
    total = Aggregate()
    for score in (1 / 3, 1, 0, 0.95):
        total.scores.add_score(score)
    assert (total.scores.perfect, total.scores.worst) == (1, 0)
    assert total.scores.total == 2_283_333_333
    assert total.scores.bins == [1, 0, 0, 1, 0, 0, 0, 0, 0, 2]
