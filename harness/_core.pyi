from harness.records import Status

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
