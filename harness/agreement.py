"""How far verdicts agree with labels: precision, recall, F1, balanced accuracy, Cohen's kappa."""

from collections import Counter
from collections.abc import Iterable

from harness.records import Agreement, LabelAccuracy, Status
from harness.reliability import kappa

Pair = tuple[bool | None, Status]
"""A label (true: should pass, false: should fail, null: should not apply) and the verdict given."""


def label_accuracy(pairs: Iterable[Pair]) -> LabelAccuracy:
    """Not-applicable checks, by label or by verdict, are left out; pairs that are counted already will do."""
    compared = {
        (label, status): count
        for (label, status), count in Counter(pairs).items()
        if label is not None and status in ("passed", "failed")
    }
    total = sum(compared.values())
    matched = compared.get((True, "passed"), 0) + compared.get((False, "failed"), 0)
    accuracy = round(100 * matched / total, 2) if total else None
    return LabelAccuracy(total=total, matched=matched, accuracy=accuracy)


def agreement(pairs: Iterable[Pair]) -> Agreement:
    """Positive means flagged; not applicable against a true or false label is not flagged."""
    found: Counter[tuple[bool, bool]] = Counter()
    for (label, status), count in Counter(pairs).items():
        if label is not None:
            found[label is False, status == "failed"] += count
    both, missed = found[True, True], found[True, False]
    wrongly, neither = found[False, True], found[False, False]
    return Agreement(
        labelled=found.total(),
        true_positives=both,
        false_positives=wrongly,
        true_negatives=neither,
        false_negatives=missed,
        precision=_ratio(both, both + wrongly),
        recall=_ratio(both, both + missed),
        f1=_ratio(2 * both, 2 * both + wrongly + missed),
        balanced_accuracy=_balanced_accuracy(both, wrongly, missed, neither),
        kappa=kappa(list(found.elements())),
    )


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _balanced_accuracy(both: int, wrongly: int, missed: int, neither: int) -> float | None:
    """The mean of recall and specificity; null where one of them has no denominator."""
    bad, good = both + missed, neither + wrongly
    return _ratio(both * good + neither * bad, 2 * bad * good)
