"""Do many things, a few of them at once, until all are done or the run is told to stop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from harness.run_report import StopReason

Item = TypeVar("Item")


@dataclass
class Stop:
    """How a run is told to end early: start nothing more, or drop everything."""

    reason: StopReason | None = None
    interrupts: int = 0
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def ask(self, reason: StopReason) -> None:
        """Start nothing more; interrupted a second time, drop what runs."""
        self.reason = self.reason or reason
        self.interrupts += reason == "interrupted"
        if self.interrupts > 1:
            for task in self.tasks:
                task.cancel()


async def work_off(
    items: Iterable[Item], do: Callable[[Item], Awaitable[None]], at_once: int, stop: Stop
) -> None:
    """Each worker takes the next item when it is free; what one raises ends all, when the others are done."""
    waiting = iter(items)
    stop.tasks = {asyncio.create_task(_worker(waiting, do, stop)) for _ in range(at_once)}
    done = await asyncio.gather(*stop.tasks, return_exceptions=True)
    for outcome in done:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


async def _worker(waiting: Iterator[Item], do: Callable[[Item], Awaitable[None]], stop: Stop) -> None:
    for item in waiting:
        if stop.reason:
            return
        await do(item)
        await asyncio.sleep(0)  # work that never waits must still let signals and others through
