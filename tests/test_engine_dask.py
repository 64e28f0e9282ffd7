"""The engine `dask` with real workers: its own and those of a cluster that is there; some are killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import distributed
import pytest
from dask_cluster import cluster
from distributed import Client, LocalCluster
from engine_tasks import alive, children, deadly, killed_when_there, process, slow_once, square

from harness import batch_size
from harness.engine import open_engine
from harness.engines import dask
from harness.errors import SynthesisError
from harness.version import VERSION


def test_the_tasks_of_a_killed_worker_of_our_own_are_done_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_engine("dask") as engine, killed_when_there(tmp_path / "victim"):
        results = list(engine.map(slow_once, [(tmp_path, number) for number in range(30)]))
    assert results == list(range(30))
    _assert_done_again(tmp_path)
    assert capfd.readouterr() == ("", "")


def test_the_tasks_of_a_killed_worker_of_a_cluster_are_done_again_by_the_other(tmp_path: Path) -> None:
    with cluster(tmp_path) as there, open_engine(f"dask:{there.address}") as engine:
        with killed_when_there(tmp_path / "victim"):
            results = list(engine.map(slow_once, [(tmp_path, number) for number in range(30)]))
        assert results == list(range(30))
        _assert_done_again(tmp_path)
        left = set(engine.map(process, range(8)))
        assert len(left) == 1
        assert left < {worker.pid for worker in there.workers}


def test_a_worker_that_dies_with_finished_results_loses_none(tmp_path: Path) -> None:
    """What it has done is still with it when it is killed; a result that was given is not done again."""
    with cluster(tmp_path) as there, open_engine(f"dask:{there.address}") as engine:
        results = engine.map(process, range(40))
        given = [next(results)]
        os.kill(given[0], signal.SIGKILL)
        given.extend(results)
    assert len(given) == 40
    assert set(given[10:]) == {worker.pid for worker in there.workers} - {given[0]}


def test_workers_that_come_later_are_used_and_nothing_piles_up(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=1) as there, open_engine(f"dask:{there.address}") as engine:
        with Client(there.address, set_as_default=False) as observer:
            most, seen = 0, set()
            for number, pid in enumerate(engine.map(process, range(400))):
                seen.add(pid)
                if number == 10:
                    there.start_worker()
                    observer.wait_for_workers(2, timeout=30)
                if number % 20 == 0:
                    most = max(most, observer.run_on_scheduler(_tasks_known))
        assert seen == {worker.pid for worker in there.workers}
        assert 0 < most <= 2 * dask.AHEAD * 2


def test_a_task_that_kills_its_workers_is_named_and_the_others_are_done() -> None:
    with open_engine("dask") as engine:
        results = engine.map(deadly, range(20))
        assert [next(results) for _ in range(7)] == list(range(7))
        with pytest.raises(SynthesisError) as caught:
            next(results)
        assert caught.value.what == "task 8 ended 4 workers, alone"
        assert "smaller tasks" in caught.value.fix
        assert list(engine.map(square, [5])) == [25]


def test_short_tasks_are_handed_over_together_and_long_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    submit = dask.Dask._submit

    def counted(self: dask.Dask, work: Callable[[int], int], tasks: list[int]) -> object:
        sizes.append(len(tasks))
        return submit(self, work, tasks)

    monkeypatch.setattr(dask.Dask, "_submit", counted)
    with open_engine("dask") as engine:
        assert list(engine.map(square, range(400))) == [number * number for number in range(400)]
        assert (sizes[0], max(sizes), sum(sizes)) == (1, batch_size.MOST, 400)
        assert len(sizes) < 100
        sizes.clear()
        monkeypatch.setattr(batch_size, "SECONDS", 0.0)
        assert list(engine.map(square, range(30))) == [number * number for number in range(30)]
        assert sizes == [1] * 30


def test_a_task_that_kills_its_workers_in_a_batch_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was handed over with it is done."""
    monkeypatch.setattr(batch_size, "SECONDS", 100.0)
    numbers = [*range(10, 60), 7, *range(60, 70)]
    with open_engine("dask") as engine:
        results = engine.map(deadly, numbers)
        assert [next(results) for _ in range(50)] == numbers[:50]
        with pytest.raises(SynthesisError, match="task 51 ended 4 workers, alone"):
            next(results)


def test_a_cluster_of_others_stays_when_we_leave_it(tmp_path: Path) -> None:
    with cluster(tmp_path) as there:
        for _ in range(2):
            with open_engine(f"dask:{there.address}") as engine:
                assert list(engine.map(square, range(5))) == [0, 1, 4, 9, 16]
        assert [worker.poll() for worker in there.workers] == [None, None]


def test_a_scheduler_without_workers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "CONNECT", 1.0)
    with cluster(tmp_path, workers=0) as there:
        _refused(there.address, "the scheduler has no workers")


def test_workers_that_are_all_gone_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "LOOK_AGAIN", 0.2)
    monkeypatch.setattr(dask, "WITHOUT_WORKERS", 3)
    with cluster(tmp_path, workers=1) as there, open_engine(f"dask:{there.address}") as engine:
        results = engine.map(process, range(40))
        next(results)
        there.workers[0].kill()
        with pytest.raises(SynthesisError, match="all workers are gone"):
            list(results)


@pytest.mark.parametrize("later", [0, 1.5])
def test_a_scheduler_that_goes_away_is_told_and_nothing_else_is(
    later: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """At once, while results are on their way, and when the connection has been given up."""
    monkeypatch.setattr(dask, "CONNECT", 1.0)
    with cluster(tmp_path) as there, open_engine(f"dask:{there.address}") as engine:
        results = engine.map(process, range(4000))
        next(results)
        assert there.scheduler is not None
        there.scheduler.kill()
        there.scheduler.wait()
        time.sleep(later)
        with pytest.raises(SynthesisError) as caught:
            list(results)
        for _ in range(2):
            with pytest.raises(SynthesisError, match="the scheduler is gone"):
                list(engine.map(square, range(3)))
    assert (caught.value.what, caught.value.fix) == (
        "the scheduler is gone", "start it again, and then the command",
    )  # fmt: skip
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_while_workers_start_it_first_has_them_and_ends_them(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has only half begun cannot be ended in good order."""
    begun: set[int] = set()

    def begin(**options: object) -> LocalCluster:
        os.kill(os.getpid(), number)
        cluster = LocalCluster(**options)
        begun.update(children(os.getpid()) - before)
        return cluster

    monkeypatch.setattr(distributed, "LocalCluster", begin)
    before, handler = children(os.getpid()), signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), open_engine("dask"):
            pytest.fail("it opened")
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, handler)
    assert begun
    assert not workers_among(begun)


def test_interrupted_while_it_ends_it_leaves_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    close: Callable[[Client], None] = Client.close

    def interrupted(client: Client) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        close(client)

    before = children(os.getpid())
    with ExitStack() as stack:
        stack.enter_context(open_engine("dask"))
        workers = children(os.getpid()) - before
        monkeypatch.setattr(Client, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stack.close()
    assert workers
    assert not workers_among(workers)


def workers_among(pids: set[int]) -> list[int]:
    """Those that live; what keeps their semaphores stays."""
    return [pid for pid in pids if alive(pid) and b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_another_version_on_a_worker_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "old" / "harness"
    old.parent.mkdir()
    _copy_with_version(old, "0.0.9")
    with cluster(tmp_path, workers=1) as there:
        there.start_worker({"PYTHONPATH": f"{old.parent}:{Path(__file__).parent}"})
        with Client(there.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=30)
        _refused(there.address, f"a worker has synthesis-harness 0.0.9, not {VERSION}")


def test_another_version_that_comes_later_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "old" / "harness"
    old.parent.mkdir()
    _copy_with_version(old, "0.0.9")

    def tasks() -> Iterator[int]:
        yield 1
        there.workers[0].kill()
        there.start_worker({"PYTHONPATH": f"{old.parent}:{Path(__file__).parent}"})
        yield from range(20)

    with (
        cluster(tmp_path, workers=1) as there,
        open_engine(f"dask:{there.address}") as engine,
        pytest.raises(SynthesisError, match=r"a worker has synthesis-harness 0.0.9, not"),
    ):
        list(engine.map(square, tasks()))


def test_workers_without_the_package_are_refused(tmp_path: Path) -> None:
    (tmp_path / "none" / "harness").mkdir(parents=True)
    (tmp_path / "none" / "harness" / "__init__.py").touch()
    with cluster(tmp_path, workers=0) as there:
        there.start_worker({"PYTHONPATH": str(tmp_path / "none")})
        what = "a worker cannot say its version: ModuleNotFoundError(\"No module named 'harness.engines'\")"
        _refused(there.address, what)


def _refused(address: str, what: str) -> None:
    with pytest.raises(SynthesisError) as caught, open_engine(f"dask:{address}"):
        pytest.fail("it opened")
    assert caught.value.what == what
    assert caught.value.where == f"--engine dask:{address}"


def _assert_done_again(folder: Path) -> None:
    attempts = [int(line) for line in (folder / "attempts").read_text().splitlines()]
    assert set(attempts) == set(range(30))
    assert attempts.count(4) == 2


def _tasks_known(dask_scheduler: object) -> int:
    return len(dask_scheduler.tasks)  # type: ignore[attr-defined]


def _copy_with_version(package: Path, version: str) -> None:
    """Our package, but for its version."""
    ours = Path(dask.__file__).parent.parent
    package.mkdir()
    for path in ours.iterdir():
        if path.name != "version.py":
            (package / path.name).symlink_to(path)
    (package / "version.py").write_text(f'VERSION = "{version}"\n')
