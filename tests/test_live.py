"""The display of a run: what the line says, how wide it is, that time goes on while trials run."""

import asyncio
import os
from pathlib import Path

import pytest
from scenario_files import load, scenario, write

from harness.live import LiveDisplay
from harness.plan import Plan, Trial, plan_trials
from harness.score import ScoredTrial

SCORED = ScoredTrial(1, "scored", 1.0, b"{}")


class Clock:
    """Time that goes on only when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_trials(load(write(tmp_path / "s.json", scenario("talk" * 20, seeds=10))))


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 200) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))


def trials(plan: Plan) -> list[Trial]:
    return list(plan.trials())


def test_the_line_is_cut_to_the_terminal(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_terminal(monkeypatch, 60)
    clock = Clock()
    display = LiveDisplay(clock=clock)
    display.planned(plan)
    clock.now = 1
    display.started(trials(plan)[0])
    line = capsys.readouterr().err.removeprefix("\r").removesuffix("\x1b[K")
    assert line.startswith("0/10 trials · 0 errors · 0:01 gone · running talk")
    assert len(line) == 59


def test_trials_that_are_kept_say_nothing_about_the_time_left(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_terminal(monkeypatch)
    clock = Clock()
    display = LiveDisplay(clock=clock)
    display.planned(plan)
    for trial in trials(plan)[:6]:
        display.kept(trial, SCORED)
    clock.now = 5
    display.resumed({"kept": 6, "new": 4})
    display.started(trials(plan)[6])
    assert "left" not in capsys.readouterr().err
    clock.now = 65
    display.scored(trials(plan)[6], SCORED)
    assert "7/10 trials · 0 errors · 1:05 gone · about 3:00 left" in capsys.readouterr().err


@pytest.mark.parametrize(("terminal", "every"), [(True, 0.1), (False, 10.0)])
def test_time_goes_on_while_a_long_trial_runs(
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    every: float,
) -> None:
    if terminal:
        on_terminal(monkeypatch)
    clock = Clock()
    real_sleep = asyncio.sleep
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds
        await real_sleep(0)

    async def watch() -> None:
        display = LiveDisplay(clock=clock)
        display.planned(plan)
        ticker = asyncio.create_task(display.tick())
        while len(slept) < 4:
            await real_sleep(0)
        ticker.cancel()

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(watch())
    assert slept == pytest.approx([every] * len(slept))
    drawn = capsys.readouterr().err
    assert drawn.count("0/10 trials · 0 errors · ") >= 3
    assert f"0:{int(every * 2):02d} gone" in drawn
    assert ("\r" in drawn) is terminal


def test_quiet_draws_nothing(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    display = LiveDisplay(quiet=True, clock=clock)
    display.planned(plan)
    clock.now = 60
    display.resumed({"kept": 1})
    display.started(trials(plan)[0])
    asyncio.run(display.tick())
    assert capsys.readouterr().err == ""


def test_one_is_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    clock = Clock()
    display = LiveDisplay(clock=clock)
    display.planned(plan_trials(load(write(tmp_path / "s.json", scenario()))))
    display.resumed({"failed": 1, "kept": 2})
    clock.now = 60
    display.scored(Trial(load(tmp_path / "s.json")[0], 1), ScoredTrial(1, "not_applicable", None, b"{}"))
    err = capsys.readouterr().err
    assert f"synthesis: 1 trial run again: ended in an error{os.linesep}" in err
    assert "synthesis: 2 trials scored again" in err
    assert "1/1 trial · 0 errors" in err
