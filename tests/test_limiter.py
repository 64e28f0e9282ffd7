"""A server gets as many requests at once as it takes: fewer when it says so, and more again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from harness.limiter import Limiter


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(limited())


class Crowd:
    """Requests that hold their slot until they are let go."""

    def __init__(self, limiter: Limiter, size: int) -> None:
        self.limiter = limiter
        self.inside = 0
        self.most = 0
        self.leave = asyncio.Event()
        self.tasks = [asyncio.create_task(self._one()) for _ in range(size)]

    async def _one(self) -> None:
        async with self.limiter.slot():
            self.inside += 1
            self.most = max(self.most, self.inside)
            await self.leave.wait()
            self.inside -= 1


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_no_more_than_the_limit_run_at_once_and_all_get_their_turn() -> None:
    async def test() -> None:
        crowd = Crowd(Limiter(3), 10)
        await settle()
        assert crowd.inside == 3
        crowd.leave.set()
        await asyncio.gather(*crowd.tasks)
        assert crowd.most == 3

    run(test)


def test_the_limit_is_halved_down_to_one_and_grows_to_where_it_was() -> None:
    async def test() -> None:
        limiter = Limiter(8)
        found = []
        for _ in range(5):
            async with limiter.slot() as age:
                limiter.too_many(age, 0)
            found.append(limiter.limit)
        assert found == [4, 2, 1, 1, 1]
        limits = []
        for _ in range(100):
            limiter.served()
            limits.append(limiter.limit)
        assert limits == sorted(limits)
        assert limits[-1] == 8
        assert 25 <= limits.index(8) <= 40, "one more after about as many answers as there are slots"

    run(test)


def test_many_complaints_about_the_same_moment_halve_it_once() -> None:
    async def test() -> None:
        limiter = Limiter(8)
        async with limiter.slot() as one, limiter.slot() as two:
            limiter.too_many(one, 0)
            limiter.too_many(two, 0)
        assert limiter.limit == 4
        async with limiter.slot() as later:
            limiter.too_many(later, 0)
        assert limiter.limit == 2

    run(test)


def test_after_a_complaint_fewer_run_at_once() -> None:
    async def test() -> None:
        limiter = Limiter(4)
        async with limiter.slot() as age:
            limiter.too_many(age, 0)
        crowd = Crowd(limiter, 6)
        await settle()
        assert crowd.inside == 2
        crowd.leave.set()
        await asyncio.gather(*crowd.tasks)

    run(test)


def test_everybody_waits_as_long_as_the_server_asked() -> None:
    async def test() -> None:
        limiter = Limiter(4)
        loop = asyncio.get_running_loop()
        async with limiter.slot() as age:
            until = loop.time() + 0.05
            limiter.too_many(age, 0.05)
            limiter.too_many(age, 0.01)
        async with limiter.slot(loop.time() + 60):
            assert loop.time() >= until

    run(test)


def test_who_has_to_end_before_the_server_may_be_asked_is_told_at_once() -> None:
    async def test() -> None:
        limiter = Limiter(1)
        loop = asyncio.get_running_loop()
        async with limiter.slot() as age:
            limiter.too_many(age, 3600)
        for _ in range(3):
            with pytest.raises(TimeoutError, match=r"asks everybody to wait for 3\.6e\+03 s"):
                async with limiter.slot(loop.time() + 300):
                    raise AssertionError("it was let in")

    run(test)


def test_who_is_cancelled_leaves_no_slot_taken() -> None:
    async def test() -> None:
        limiter = Limiter(2)
        crowd = Crowd(limiter, 6)
        await settle()
        for task in crowd.tasks[:5]:
            task.cancel()
            task.cancel()
        await settle()
        crowd.leave.set()
        await asyncio.gather(*crowd.tasks, return_exceptions=True)
        async with limiter.slot(), limiter.slot():
            """Both are there."""

    run(test)


def test_who_fails_leaves_no_slot_taken() -> None:
    async def test() -> None:
        limiter = Limiter(1)
        for _ in range(3):
            with pytest.raises(LookupError):
                async with limiter.slot():
                    raise LookupError

    run(test)
