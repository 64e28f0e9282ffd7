"""Agreement with labels, worked by hand."""

import pytest

from harness.agreement import Pair, agreement, label_accuracy
from harness.records import Agreement, LabelAccuracy

PASS, FAIL = True, False


def pairs(both: int, wrongly: int, missed: int, neither: int) -> list[Pair]:
    """As many of each: flagged rightly, flagged wrongly, bad but kept, kept rightly."""
    rows: list[Pair] = [(FAIL, "failed")] * both
    rows += [(PASS, "failed")] * wrongly
    rows += [(FAIL, "passed")] * missed
    rows += [(PASS, "passed")] * neither
    return rows


def test_the_figures_of_a_mixed_table() -> None:
    # 6 caught, 2 false alarms, 3 missed, 9 kept: 20 in all.
    # chance: flagged 8/20 and bad 9/20 give 72/400; not flagged 12/20 and good 11/20 give 132/400; 0.51.
    # kappa: (15/20 - 0.51) / (1 - 0.51) = 0.24 / 0.49.
    assert agreement(pairs(6, 2, 3, 9)) == Agreement(
        labelled=20,
        true_positives=6,
        false_positives=2,
        true_negatives=9,
        false_negatives=3,
        precision=0.75,
        recall=0.6667,
        f1=0.7059,  # 12 / 17
        balanced_accuracy=0.7424,  # (6/9 + 9/11) / 2 = 0.742424...
        kappa=0.4898,
    )


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = pairs(6, 2, 3, 9)
    assert agreement(reversed(rows)) == agreement(rows)


@pytest.mark.parametrize(
    ("table", "precision", "recall", "f1", "balanced", "kappa"),
    [
        ((5, 0, 0, 5), 1.0, 1.0, 1.0, 1.0, 1.0),
        ((0, 5, 5, 0), 0.0, 0.0, 0.0, 0.0, -1.0),
        ((1, 1, 1, 1), 0.5, 0.5, 0.5, 0.5, 0.0),
        ((0, 0, 3, 7), None, 0.0, 0.0, 0.5, 0.0),
        ((3, 7, 0, 0), 0.3, 1.0, 0.4615, 0.5, 0.0),
        ((0, 0, 0, 4), None, None, None, None, None),
        ((4, 0, 0, 0), 1.0, 1.0, 1.0, None, None),
        ((0, 2, 0, 2), 0.0, None, 0.0, None, 0.0),
        ((0, 0, 0, 0), None, None, None, None, None),
    ],
)
def test_edges(
    table: tuple[int, int, int, int],
    precision: float | None,
    recall: float | None,
    f1: float | None,
    balanced: float | None,
    kappa: float | None,
) -> None:
    found = agreement(pairs(*table))
    assert (found.precision, found.recall, found.f1) == (precision, recall, f1)
    assert (found.balanced_accuracy, found.kappa) == (balanced, kappa)
    assert found.labelled == sum(table)


def test_balanced_accuracy_is_not_made_of_rounded_parts() -> None:
    # recall 1/3 and specificity 2/3 give exactly one half; 2/7 and 1/3 give 13/42 = 0.309523...
    assert agreement(pairs(1, 1, 2, 2)).balanced_accuracy == 0.5
    assert agreement(pairs(2, 2, 5, 1)).balanced_accuracy == 0.3095


def test_abstaining_from_a_label_counts_as_not_flagged() -> None:
    found = agreement(
        [(FAIL, "not_applicable"), (PASS, "not_applicable"), (FAIL, "failed"), (PASS, "passed")]
    )
    assert (found.labelled, found.true_positives, found.false_negatives) == (4, 1, 1)
    assert (found.true_negatives, found.recall, found.balanced_accuracy) == (2, 0.5, 0.75)


def test_a_null_label_is_left_out_of_agreement() -> None:
    found = agreement([(None, "not_applicable"), (None, "failed"), (None, "passed"), (FAIL, "failed")])
    assert (found.labelled, found.true_positives, found.false_positives) == (1, 1, 0)


def test_label_accuracy_leaves_out_what_does_not_apply() -> None:
    rows: list[Pair] = [
        (PASS, "passed"),
        (PASS, "failed"),
        (FAIL, "failed"),
        (FAIL, "not_applicable"),
        (PASS, "not_applicable"),
        (None, "not_applicable"),
        (None, "passed"),
    ]
    assert label_accuracy(rows) == LabelAccuracy(total=3, matched=2, accuracy=66.67)


@pytest.mark.parametrize("pair", [(None, "passed"), (FAIL, "not_applicable"), (FAIL, "error")])
def test_accuracy_of_nothing_is_null(pair: Pair) -> None:
    assert label_accuracy([pair]) == LabelAccuracy(total=0, matched=0, accuracy=None)
    assert label_accuracy([]) == LabelAccuracy(total=0, matched=0, accuracy=None)


def test_a_full_match_is_one_hundred() -> None:
    assert label_accuracy(pairs(2, 0, 0, 3)) == LabelAccuracy(total=5, matched=5, accuracy=100.0)
