"""Batches grow while tasks are short and what comes of them is small, and never far at once."""

import pytest

from harness.batch_size import BYTES, MOST, SECONDS, BatchSize


def after(*batches: tuple[int, float, int]) -> int:
    size = BatchSize()
    for batch in batches:
        size.note(*batch)
    return size.tasks


def test_the_first_task_is_handed_over_alone() -> None:
    assert BatchSize().tasks == 1


def test_batches_of_short_tasks_double_up_to_the_most() -> None:
    sizes = [after(*[(1, 0.0, 0)] * count) for count in range(6)]
    assert sizes == [1, 2, 4, MOST, MOST, MOST]


@pytest.mark.parametrize(
    ("tasks", "seconds", "size", "then"),
    [
        (1, SECONDS, 0, 1),
        (1, 100 * SECONDS, 0, 1),
        (1, SECONDS / 5, 0, 5),
        (4, SECONDS, 0, 4),
        (1, 0.0, BYTES, 1),
        (1, 0.0, BYTES // 3, 3),
        (4, SECONDS, 2 * BYTES, 2),
        (2, SECONDS / 3, BYTES // 2, 4),
    ],
)
def test_a_batch_holds_what_fits_of_work_and_of_results(
    tasks: int, seconds: float, size: int, then: int
) -> None:
    assert after(*[(1, 0.0, 0)] * 3, (tasks, seconds, size)) == then
