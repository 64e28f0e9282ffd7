"""How many tasks are handed over at once where that costs more than a short task does."""

SECONDS = 0.25
"""Of work in a batch: about a hundred times what it takes to hand one over."""
BYTES = 8 << 20
"""Of what comes of a batch: all that is done ahead may have to wait for what comes first."""
MOST = 8
"""Tasks, since what comes next may take far longer than what came last."""


class BatchSize:
    """Follows what the last batches took, from one task on."""

    def __init__(self) -> None:
        self.tasks = 1

    def note(self, tasks: int, seconds: float, size: int) -> None:
        """How long so many took where they were done, and how large what came of them was."""
        fitting = min(SECONDS / max(seconds, 1e-6), BYTES / max(size, 1)) * tasks
        self.tasks = max(1, min(int(fitting), 2 * self.tasks, MOST))
