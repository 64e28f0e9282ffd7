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
        self._changed = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Requests that may run at once."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for one; what it yields has to be handed to `too_many`."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            loop = asyncio.get_running_loop()
            while (wait := self._not_before - loop.time()) > 0:
                await asyncio.sleep(wait)
            yield self._age
        finally:
            async with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def served(self) -> None:
        """A request was answered."""
        self._limit = min(self._limit + 1 / self._limit, float(self._most))

    def too_many(self, age: int, wait: float) -> None:
        """The server asks for fewer; requests made before the last such answer say nothing new."""
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)
        if age == self._age:
            self._age += 1
            self._limit = max(self._limit / 2, 1.0)
