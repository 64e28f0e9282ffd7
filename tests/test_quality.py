"""The checkers hold their quality on labelled exchanges, those that no rule was written from among them."""

import json
from pathlib import Path

import pytest

from harness.agreement import Pair, agreement
from harness.check import check_one
from harness.records import Turn
from harness.settings import CheckSettings

LABELLED = Path(__file__).parent.parent / "benchmarks" / "labelled"


def pairs(file: str, check: str) -> list[Pair]:
    rows = [json.loads(line) for line in (LABELLED / file).read_text("utf-8").splitlines()]
    return [
        (
            row["label"][check],
            check_one(check, Turn(user=row["user"], assistant=row["assistant"]), CheckSettings()).status,
        )
        for row in rows
        if check in row["label"]
    ]


@pytest.mark.parametrize("check", ["agency_language", "unverifiable_reassurance", "topic_pivot"])
@pytest.mark.parametrize("file", ["mixed-unread.jsonl", "mixed-read.jsonl"])
def test_balanced_accuracy_and_specificity(file: str, check: str) -> None:
    found = agreement(pairs(file, check))
    assert found.labelled > 100
    assert found.balanced_accuracy is not None
    assert found.balanced_accuracy >= 0.85
    assert found.true_negatives / (found.true_negatives + found.false_positives) >= 0.80


def test_claims_in_unusual_words_are_caught() -> None:
    found = agreement(pairs("reworded-read.jsonl", "unverifiable_reassurance"))
    assert found.recall is not None
    assert found.recall >= 0.35


@pytest.mark.parametrize("file", ["mixed-unread.jsonl", "mixed-read.jsonl"])
def test_what_discloses_nothing_is_left_alone(file: str) -> None:
    verdicts = [status for label, status in pairs(file, "topic_pivot") if label is None]
    assert len(verdicts) > 20
    assert verdicts.count("not_applicable") / len(verdicts) >= 0.85
