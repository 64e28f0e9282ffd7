"""Which ids were used, in little memory: a set of a million would be most of what a run keeps."""

from typing import Protocol


class Ids(Protocol):
    """What keeps them."""

    def add(self, ids: bytes, /) -> bool:
        """Whether all of them are new: one a line."""


def new_ids() -> Ids:
    """By the compiled core, where there is one."""
    try:
        from harness._core import Ids as CompactIds
    except ModuleNotFoundError:
        return PlainIds()
    return CompactIds()


class PlainIds:
    """A page for every thousand that differ in their last three digits only."""

    def __init__(self) -> None:
        self._pages: dict[bytes, int] = {}

    def add(self, ids: bytes, /) -> bool:
        """Whether all of them are new: one a line."""
        for identity in ids.split(b"\n") if ids else ():
            short = not identity[-3:].isdigit()
            page, number = (b"=" + identity, b"0") if short else (identity[:-3], identity[-3:])
            bit = 1 << int(number)
            used = self._pages.get(page, 0)
            if used & bit:
                return False
            self._pages[page] = used | bit
        return True
