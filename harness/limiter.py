"""How many requests a server gets at once: fewer when it says too many, more again when it copes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Limiter:
    """Halved on "too many requests", one more after as many answers as there are slots."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._running = 0
        self._age = 0
        self._not_before = 0.0
        self._freed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Requests that may run at once."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self, deadline: float | None = None) -> AsyncIterator[int]:
        """Wait for one; what it yields has to be handed to `too_many`.

        Raises TimeoutError where the server wants to be left alone until after `deadline`.
        """
        while self._running >= self.limit:
            self._freed.clear()
            await self._freed.wait()
        self._running += 1
        try:
            loop = asyncio.get_running_loop()
            while (wait := self._not_before - loop.time()) > 0:
                if deadline is not None and self._not_before > deadline:
                    raise TimeoutError(f"the server asks everybody to wait for {wait:.3g} s")
                await asyncio.sleep(wait)
            yield self._age
        finally:
            # Nothing is awaited here: a second cancellation would take the slot along.
            self._running -= 1
            self._freed.set()

    def served(self) -> None:
        """A request was answered."""
        self._limit = min(self._limit + 1 / self._limit, float(self._most))

    def too_many(self, age: int, wait: float) -> None:
        """The server asks for fewer; requests made before the last such answer say nothing new."""
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)
        if age == self._age:
            self._age += 1
            self._limit = max(self._limit / 2, 1.0)
