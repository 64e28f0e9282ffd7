"""The engine `processes` under real signals: nothing is lost, nothing comes twice, nobody is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from engine_tasks import (
    PATIENCE,
    alive,
    children,
    deadly,
    deadly_noted,
    endless,
    killed_when_there,
    payload,
    process,
    slow_once,
    slowly_written,
    square,
    until,
)

from harness.engine import open_engine
from harness.engine_memory import EngineMemory
from harness.engines import processes
from harness.errors import SynthesisError

DRIVER = """
import sys
from pathlib import Path

import engine_tasks
from harness.engine import open_engine

if __name__ == "__main__":
    try:
        name, _, expected = sys.argv[1].partition(" ")
        with open_engine(name) as engine:
            if expected:
                engine.expect(2, list)
            for _ in engine.map(engine_tasks.endless, [Path(sys.argv[2])] * 2):
                pass
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_tasks_of_a_killed_worker_are_done_again(workers: int, tmp_path: Path) -> None:
    with open_engine(f"processes:{workers}") as engine, killed_when_there(tmp_path / "victim"):
        results = list(engine.map(slow_once, [(tmp_path, number) for number in range(30)]))
    assert results == list(range(30))
    attempts = [int(line) for line in (tmp_path / "attempts").read_text().splitlines()]
    assert set(attempts) == set(range(30))
    assert attempts.count(4) == 2


def test_workers_are_killed_again_and_again_between_tasks() -> None:
    with open_engine("processes:2") as engine:
        results = engine.map(process, range(200))
        given = []
        for number, pid in enumerate(results):
            given.append(pid)
            if number % 20 == 0:
                os.kill(pid, signal.SIGKILL)
    assert len(given) == 200
    assert len(set(given)) >= 10


@pytest.mark.parametrize("workers", [1, 2])
def test_half_of_a_large_result_is_as_good_as_none(workers: int, tmp_path: Path) -> None:
    """Killed in the middle of writing it; what the worker had left to do lies beside it."""
    with open_engine(f"processes:{workers}") as engine, killed_when_there(tmp_path / "victim"):
        results = list(engine.map(slowly_written, [(tmp_path, number) for number in range(20)]))
    large = [bytes([number]) * 2_000_000 for number in range(20)]
    assert results == [[one, "written", one] if one[0] == 4 else [one] for one in large]
    assert (tmp_path / "attempts").read_text() == "4\n4\n"


def test_a_worker_killed_with_a_large_result_that_nobody_has_read_holds_nobody_up() -> None:
    sizes = [1, 20_000_000, 20_000_000, 5, 6, 7]
    with open_engine("processes:2") as engine:
        workers = set(engine.map(process, range(100)))
        results = engine.map(payload, sizes)
        given = [len(next(results))]
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        given.extend(len(result) for result in results)
    assert given == sizes


def test_a_task_that_kills_its_worker_is_named_and_the_others_are_done() -> None:
    with open_engine("processes:2") as engine:
        results = engine.map(deadly, range(20))
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(SynthesisError) as caught:
            next(results)
        assert caught.value.what == "task 8 ended its worker 3 times, alone (signal 9)"
        assert "fewer workers" in caught.value.fix
        assert list(engine.map(square, [5])) == [25]


def test_a_task_that_kills_its_worker_costs_few_of_them(tmp_path: Path) -> None:
    """Once with whatever else the worker had, then alone."""
    with open_engine("processes:4") as engine, pytest.raises(SynthesisError, match="task 8 ended"):
        list(engine.map(deadly_noted, [(tmp_path, number) for number in range(500)]))
    assert 3 <= len((tmp_path / "deaths").read_text().splitlines()) <= 4


def test_workers_that_cannot_start_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        open_engine("processes:2") as engine,
        pytest.raises(
            SynthesisError, match=r"3 workers in a row ended before they could work \(exit code 1\)"
        ),
    ):
        list(engine.map(square, range(10)))


def test_workers_that_are_killed_together_before_they_can_work_are_one_false_start() -> None:
    with open_engine("processes:4") as engine:
        before = children(os.getpid())

        def kill() -> None:
            until(lambda: len(children(os.getpid()) - before) == 4)
            for pid in children(os.getpid()) - before:
                os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        assert list(engine.map(square, range(4))) == [0, 1, 4, 9]
        killer.join()


def test_one_that_is_ready_ends_the_row_of_false_starts_also_for_those_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After two, two workers begin; one is ready, then the other is killed: not the third in a row."""
    usual = processes._start
    begun: list[int] = []

    def start(memory: EngineMemory) -> processes._Worker:
        worker = usual(memory)
        begun.append(worker.process.pid)
        match len(begun):
            case 1 | 3:
                os.kill(begun[-1], signal.SIGKILL)
            case 2:
                os.kill(begun[1], signal.SIGSTOP)
            case 4:
                os.kill(begun[3], signal.SIGSTOP)
                os.kill(begun[1], signal.SIGKILL)
        return worker

    monkeypatch.setattr(processes, "_start", start)
    with open_engine("processes:2") as engine:
        results = engine.map(process, range(40))
        given = [next(results)]
        assert given == [begun[4]]
        os.kill(begun[3], signal.SIGKILL)
        given.extend(results)
    assert len(given) == 40


def test_leaving_early_ends_what_runs(tmp_path: Path) -> None:
    with open_engine("processes:2") as engine:
        results = engine.map(partial(_endless_at_one, tmp_path), range(2))
        assert next(results) == 0
        until(lambda: list(tmp_path.glob("*.busy")))
        results.close()  # type: ignore[attr-defined]
        assert _alive_of(tmp_path) == set()
        assert list(engine.map(square, [4])) == [16]
        (last,) = engine.map(process, [1])
    assert not alive(last)


def test_closing_ends_what_runs(tmp_path: Path) -> None:
    with open_engine("processes:2") as engine:
        results = engine.map(partial(_endless_at_one, tmp_path), range(2))
        assert next(results) == 0
        until(lambda: list(tmp_path.glob("*.busy")))
    assert _alive_of(tmp_path) == set()
    del results


def test_what_does_not_stop_is_killed(tmp_path: Path) -> None:
    with open_engine("processes:2") as engine:
        results = engine.map(partial(_deaf_at_one, tmp_path), range(2))
        assert next(results) == 0
        until(lambda: list(tmp_path.glob("deaf-*")))
    (path,) = tmp_path.glob("deaf-*")
    assert not alive(int(path.name.partition("-")[2]))
    del results


COPIED = "processes:2 expected"
"""Workers that begin as copies of their parent."""


@pytest.mark.parametrize("text", ["processes:2", COPIED, "dask"])
def test_nobody_outlives_a_parent_that_is_killed(text: str, tmp_path: Path) -> None:
    with _driver(text, tmp_path) as parent:
        until(lambda: len(list(tmp_path.glob("*.busy"))) == 2)
        family = children(parent.pid)
        workers = {int(path.stem.partition("-")[0]) for path in tmp_path.glob("*.busy")}
        assert workers <= family
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: not any(map(alive, workers)))
        programs = {int(path.stem.partition("-")[2]) for path in tmp_path.glob("*.busy")}
        if text == "dask":  # a task there runs in a thread, which nothing can stop in time
            for pid in filter(alive, programs):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not any(map(alive, family)))


def test_nothing_is_left_of_a_parent_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    shared = set(Path("/dev/shm").iterdir())
    with _driver("processes:2", tmp_path) as parent:
        until(lambda: len(list(tmp_path.glob("*.busy"))) == 2)
        family = children(parent.pid)
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: not any(map(alive, family)))
    assert list(temporary.iterdir()) == []
    assert set(Path("/dev/shm").iterdir()) <= shared


@pytest.mark.parametrize("text", ["processes:2", COPIED, "dask"])
def test_ctrl_c_is_heard_by_the_parent_alone(text: str, tmp_path: Path) -> None:
    with _driver(text, tmp_path) as parent:
        until(lambda: len(list(tmp_path.glob("*.busy"))) == 2)
        family = children(parent.pid)
        os.killpg(parent.pid, signal.SIGINT)
        out, err = parent.communicate(timeout=PATIENCE)
    assert (out, err, parent.returncode) == ("interrupted\n", "", 0)
    for pid in {int(path.stem.partition("-")[2]) for path in tmp_path.glob("*.busy")}:
        if text == "dask" and alive(pid):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(alive, family)))


def test_a_worker_that_is_interrupted_goes_on() -> None:
    with open_engine("processes:1") as engine:
        (before,) = engine.map(process, [1])
        os.kill(before, signal.SIGINT)
        assert list(engine.map(process, [1, 2])) == [before, before]


@pytest.mark.parametrize("text", ["processes:2", "dask"])
def test_nothing_is_imported_from_the_current_folder(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "socket", "signal", "runpy", "threading", "harness", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'hijacked')!r}, 'w').write({name!r})")
    monkeypatch.chdir(tmp_path)
    with open_engine(text) as engine:
        assert list(engine.map(square, range(4))) == [0, 1, 4, 9]
    assert not (tmp_path / "hijacked").exists()


EXPECTING = """
import os, signal
import engine_tasks
from harness.engine import open_engine

made = []

def get_ready():
    made.append(os.getpid())

def who(number):
    return made, os.getpid()

if __name__ == "__main__":
    print("said before, and once", end="")
    with open_engine("processes:2") as engine:
        engine.expect(1, get_ready)
        (ready, first), = engine.map(who, [0])
        assert ready == [os.getpid()] and first != os.getpid(), "it has what was made ready here"
        assert os.getpgid(first) == first, "Ctrl-C is not for it"
        os.kill(first, signal.SIGKILL)
        results = [engine_tasks.square(number) for number in range(20)]
        assert list(engine.map(engine_tasks.square, range(20))) == results
        assert first not in engine_tasks.children(os.getpid())
    assert not any(map(engine_tasks.alive, engine_tasks.children(os.getpid()))), "all have ended"
"""


def test_expected_workers_have_what_was_made_ready_and_are_replaced_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "expecting.py").write_text(EXPECTING)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "expecting.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "said before, and once", "")


def _endless_at_one(folder: Path, number: int) -> int:
    if number:
        endless(folder)
    return number


def _deaf_at_one(folder: Path, number: int) -> int:
    while number:
        with suppress(KeyboardInterrupt):
            (folder / f"deaf-{os.getpid()}").touch()
            time.sleep(PATIENCE)
    return number


def _alive_of(folder: Path) -> set[int]:
    """The worker and the program it started."""
    (path,) = folder.glob("*.busy")
    return {pid for pid in map(int, path.stem.split("-")) if alive(pid)}


def _driver(text: str, folder: Path) -> "subprocess.Popen[str]":
    script = folder / "driver.py"
    script.write_text(DRIVER)
    return subprocess.Popen(
        [sys.executable, str(script), text, str(folder)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
