from harness.records import Status

Alike = tuple[tuple[str, ...], tuple[Status, ...], bool, int]
"""Cases that came out alike: checks, statuses, whether they are meant to fail, how many they are."""
LabelCount = tuple[str, bool | None, Status, int]
"""A check, a label for it and what it said, and how many cases have these."""
SliceCount = tuple[str, int, int]
"""A slice and how many of its fine cases passed and were flagged."""
Missed = tuple[str, tuple[str, ...], tuple[Status, ...]]
"""The id of a planted case, its checks and their statuses, not all of them failed."""
Counts = tuple[list[bytes], list[Alike], list[LabelCount], list[SliceCount], list[str], list[Missed]]
"""First the lines of the first failures of each kind; the strings are the ids of lost cases."""

class Core:
    """The checks in one language; None where only Python can do it."""

    def __new__(cls, description: dict[str, object]) -> Core: ...
    def check(
        self, user: str, assistant: str, names: tuple[str, ...], threshold: float, /
    ) -> list[tuple[Status, bytes, bytes]] | None:
        """Status, result and condensed evidence of each check."""

    def lines(
        self,
        user: str,
        assistant: str,
        names: tuple[str, ...],
        threshold: float,
        id: str,  # noqa: A002 - as in the file
        expected_failure: bool,
        rest: bytes,
        /,
    ) -> tuple[tuple[Status, ...], bytes, bytes | None] | None:
        """The statuses, the line of a case's result, which ends with `rest`, and that of its failure."""

    def block(
        self, content: bytes, threshold: float, shown: int, planted: bool, /
    ) -> tuple[bytes, bytes, bytes, Counts] | None:
        """Lines of a case file: the lines of their results and of failures, and their ids, each one a line.

        None where anything in them is not plainly right, or some text is not for the core.
        """

    def share(self) -> None:
        """Copies of this process that are made from now on tell each other what they find in sentences."""

    def searched(self) -> int:
        """How many sentences have been searched here; what was remembered or told is not among them."""

class Ids:
    """Which ids were used, in a few bits each."""

    def add(self, ids: bytes, /) -> bool:
        """Whether all of them are new: one a line."""

def keep_freed_memory() -> None:
    """From now on this process and its copies keep some megabytes of what they free for what comes next."""
