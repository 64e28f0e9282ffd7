"""The time an agent has: its own doing and its model's thinking, not what a server makes it wait."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class WardClock:
    """Stands still while a model is asked, and so does every parent's; what the answer took is charged after.

    Otherwise a server that hangs, or one that asks for patience, would end as a ward, which is scored.
    """

    def __init__(self, seconds: float, above: "WardClock | None" = None) -> None:
        self._limit = asyncio.timeout(seconds)
        self._chain: tuple[WardClock, ...] = (self, *(above._chain if above else ()))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Raises TimeoutError when the time is up."""
        async with self._limit:
            yield

    @property
    def expired(self) -> bool:
        """Whether this one's time was up, and not another's."""
        return self._limit.expired()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """For this one and all above it."""
        now = asyncio.get_running_loop().time
        left = {clock: (clock._limit.when() or now()) - now() for clock in self._chain}
        for clock in self._chain:
            clock._limit.reschedule(None)
        try:
            yield
        finally:
            for clock, seconds in left.items():
                clock._limit.reschedule(now() + seconds)

    async def charge(self, seconds: float) -> None:
        """Take this off; where nothing is left, the time is up here."""
        for clock in self._chain:
            clock._limit.reschedule((clock._limit.when() or 0.0) - seconds)
        await asyncio.sleep(0)
