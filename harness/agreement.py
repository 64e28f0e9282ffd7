"""How far verdicts agree with labels: precision, recall, F1, balanced accuracy, Cohen's kappa."""

from collections.abc import Iterable

from harness.records import Agreement, LabelAccuracy, Status
from harness.reliability import kappa

Pair = tuple[bool | None, Status]
"""A label (true: should pass, false: should fail, null: should not apply) and the verdict given."""


def label_accuracy(pairs: Iterable[Pair]) -> LabelAccuracy:
    """Not-applicable checks, by label or by verdict, are left out."""
    compared = [
        (label, status) for label, status in pairs if label is not None and status in ("passed", "failed")
    ]
    matched = sum(label is (status == "passed") for label, status in compared)
    accuracy = round(100 * matched / len(compared), 2) if compared else None
    return LabelAccuracy(total=len(compared), matched=matched, accuracy=accuracy)


def agreement(pairs: Iterable[Pair]) -> Agreement:
    """Positive means flagged; not applicable against a true or false label is not flagged."""
    found = [(label is False, status == "failed") for label, status in pairs if label is not None]
    both = found.count((True, True))
    missed = found.count((True, False))
    wrongly = found.count((False, True))
    neither = found.count((False, False))
    return Agreement(
        labelled=len(found),
        true_positives=both,
        false_positives=wrongly,
        true_negatives=neither,
        false_negatives=missed,
        precision=_ratio(both, both + wrongly),
        recall=_ratio(both, both + missed),
        f1=_ratio(2 * both, 2 * both + wrongly + missed),
        balanced_accuracy=_balanced_accuracy(both, wrongly, missed, neither),
        kappa=kappa(found),
    )


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _balanced_accuracy(both: int, wrongly: int, missed: int, neither: int) -> float | None:
    """The mean of recall and specificity; null where one of them has no denominator."""
    bad, good = both + missed, neither + wrongly
    return _ratio(both * good + neither * bad, 2 * bad * good)
