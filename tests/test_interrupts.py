"""Signals while handlers change: whenever they come, what handled them before does so again."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType

import pytest

from harness.interrupts import ENDING, ended_as_by_ctrl_c, handled, held_back

SET = signal.signal


def raising(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def noted(heard: list[int]) -> Callable[[int, FrameType | None], None]:
    return lambda number, _: heard.append(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """All raise."""
    before = {number: SET(number, raising) for number in ENDING}
    yield
    for number, handler in before.items():
        SET(number, handler)


def told_when_put_back(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """As soon as the first one is back, its signal comes."""
    left = [ENDING[0]] * times

    def set_and_tell(number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        SET(number, handler)
        if handler is raising and left:
            signal.raise_signal(left.pop())

    monkeypatch.setattr(signal, "signal", set_and_tell)


@pytest.mark.parametrize("changed", [held_back, ended_as_by_ctrl_c, lambda: handled(ENDING, noted([]))])
def test_a_signal_between_two_that_are_put_back_leaves_neither(
    changed: Callable[[], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = changed()
    context.__enter__()
    told_when_put_back(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        context.__exit__(None, None, None)
    assert [signal.getsignal(number) for number in ENDING] == [raising] * len(ENDING)


def test_one_that_could_not_be_put_back_is_when_its_signal_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    context = handled(ENDING, noted(heard))
    context.__enter__()
    told_when_put_back(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        context.__exit__(None, None, None)
    assert signal.getsignal(ENDING[-1]) is not raising
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(ENDING[-1])
    assert signal.getsignal(ENDING[-1]) is raising
    assert heard == []


def test_what_is_held_back_comes_when_it_is_left() -> None:
    done = []

    def do() -> None:
        with held_back():
            for number in ENDING:
                signal.raise_signal(number)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        do()
    assert done == ["all of it"]


def test_what_is_ignored_stays_ignored() -> None:
    *_, ignored = ENDING
    SET(ignored, signal.SIG_IGN)
    for context in (held_back(), ended_as_by_ctrl_c()):
        with context:
            assert signal.getsignal(ignored) == signal.SIG_IGN


def test_told_by_the_system_is_as_ctrl_c_and_only_within() -> None:
    heard: list[int] = []
    for number in ENDING:
        SET(number, noted(heard))
    for number in ENDING[1:]:
        with pytest.raises(KeyboardInterrupt), ended_as_by_ctrl_c():
            signal.raise_signal(number)
    assert heard == []
    for number in ENDING:
        signal.raise_signal(number)
    assert heard == ENDING


def test_another_thread_changes_nothing() -> None:
    seen: list[object] = []

    def look() -> None:
        for context in (held_back(), ended_as_by_ctrl_c(), handled(ENDING, noted([]))):
            with context:
                seen.extend(signal.getsignal(number) for number in ENDING)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [raising] * len(ENDING) * 3
