"""Many tests at once: Holm's correction, which keeps the chance of any false alarm at what one test has."""

from collections.abc import Sequence


def holm(ps: Sequence[float]) -> list[float]:
    """The corrected p-values, in the order given."""
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    corrected = [0.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        corrected[index] = highest
    return corrected
