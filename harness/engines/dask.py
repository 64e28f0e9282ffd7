"""On the workers of a Dask cluster, on this machine or on many; a task whose worker is lost is done again."""

import logging
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.resource_tracker import ensure_running
from typing import TYPE_CHECKING, Generic, cast

from harness.batch_size import BatchSize
from harness.console import one_line
from harness.cores import usable_cores
from harness.engine import Engine, Result, Task
from harness.errors import SynthesisError, words_of
from harness.interrupts import held_back
from harness.outcome import Outcome, keep_outcome, raised
from harness.problems import shown
from harness.version import VERSION

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

INSTALL = "pip install 'synthesis-harness[scale]'"
LOGGERS = ("distributed", "distributed.client")
"""Those that have a level of their own."""
SILENT = logging.CRITICAL + 1
STUMBLES = (RuntimeError, AttributeError)
"""What a client that has given up its connection raises; others raise it, too."""
AHEAD = 3
"""Batches pulled before their turn, per thread of the cluster."""
Outcomes = tuple[float, list[bytes]]
"""The seconds that some tasks took, and what came of each, pickled."""
CONNECT = 5.0
"""Seconds for a scheduler to answer, and for its first worker to be there."""
LOOK_AGAIN = 5.0
"""Seconds after which a result that does not come makes us look whether there are workers."""
WITHOUT_WORKERS = 12
"""So many looks in a row without any worker end the run."""


class Dask(Engine):
    """`dask:ADDRESS` of a scheduler; without one, workers of its own on this machine, one for each core."""

    def __init__(self, argument: str = "") -> None:
        self._where = f"--engine dask:{shown(argument)}" if argument else "--engine dask"
        try:
            from distributed import KilledWorker
            from distributed.client import ClosedClientError
        except ImportError as error:
            what = "the package distributed is not installed"
            raise SynthesisError(what, where=self._where, fix=INSTALL) from error
        self._killed = KilledWorker
        self._gone = (OSError, CancelledError, ClosedClientError)
        self._levels = {logger: logger.level for logger in map(logging.getLogger, LOGGERS)}
        for logger in self._levels:
            logger.setLevel(SILENT)  # what matters of it is raised here
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None
        self._surroundings = dict(os.environ)
        try:
            with held_back():  # here, so that close() has it to end
                self._cluster = None if argument else _own_cluster()
            self._client = _connect(self._cluster or argument, self._where)
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Three batches a thread are pulled ahead; the cluster forgets results that are here."""
        waiting = enumerate(tasks, 1)
        batches: deque[_Batch[Task]] = deque()
        size = BatchSize()
        try:
            while True:
                room = AHEAD * self.workers() - len(batches)
                while room > 0 and (some := list(islice(waiting, size.tasks))):
                    batches.append(_Batch(some, self._submit(work, [task for _, task in some])))
                    room -= 1
                if not batches:
                    return
                for outcome in self._outcomes(batches, work, size):
                    yield cast("Result", Outcome.taken(pickle.loads(outcome)))  # noqa: S301 - of our own worker
        finally:
            if batches and self._client is not None:
                with suppress(*self._gone, *STUMBLES):
                    self._client.cancel([batch.future for batch in batches])

    def _outcomes(
        self, batches: "deque[_Batch[Task]]", work: Callable[[Task], Result], size: "BatchSize"
    ) -> Iterable[bytes]:
        """Those of the first batch; where too many workers died of it, each task is done again alone."""
        batch = batches.popleft()
        try:
            seconds, outcomes = self._outcome(batch.future)
        except self._killed:
            for other in batches:
                self._settle(other.future)
            return (self._alone(number, self._submit(work, [task])) for number, task in batch.tasks)
        size.note(len(outcomes), seconds, sum(map(len, outcomes)))
        return outcomes

    def workers(self) -> int:
        """The threads of the cluster."""
        client = self._open
        with self._scheduler_there():
            return max(int(sum(client.nthreads().values())), 1)

    def close(self) -> None:
        """A cluster of our own ends; one that others started forgets what we asked of it."""
        with held_back():
            try:
                if self._client is not None:
                    self._client.close()
                if self._cluster is not None:
                    self._cluster.close()
            finally:
                self._client = self._cluster = None
                for logger, level in self._levels.items():
                    logger.setLevel(level)
                self._put_back()

    def _put_back(self) -> None:
        """What starting workers left in the environment goes: what we start next must not inherit it."""
        for name in os.environ.keys() - self._surroundings.keys():
            del os.environ[name]
        os.environ.update(self._surroundings)

    @property
    def _open(self) -> "Client":
        if self._client is None:
            raise RuntimeError("the engine is closed")
        return self._client

    def _check_workers(self) -> None:
        """Another version may give other verdicts, and then the bytes depend on who did what."""
        try:
            self._open.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError as error:
            fix = "start some with `dask worker ADDRESS`, the address being the scheduler's"
            raise SynthesisError("the scheduler has no workers", where=self._where, fix=fix) from error
        for version in self._open.run(worker_version, on_error="return").values():
            if not isinstance(version, str):
                what = f"a worker cannot say its version: {one_line(str(version))}"
                fix = f"install synthesis-harness {VERSION} on all workers"
                raise SynthesisError(what, where=self._where, fix=fix)
            _refuse_other(version, VERSION, self._where)

    def _submit(self, work: Callable[[Task], Result], tasks: list[Task]) -> "Future[Outcomes]":
        client = self._open
        with self._scheduler_there():
            return client.submit(worker_outcomes, VERSION, work, tasks, pure=False)

    def _outcome(self, future: "Future[Outcomes]") -> "Outcomes":
        """However long it takes, as long as there are workers."""
        without = 0
        with self._scheduler_there():
            while without < WITHOUT_WORKERS:
                try:
                    return future.result(timeout=LOOK_AGAIN)
                except TimeoutError:
                    without = 0 if self._open.nthreads() else without + 1
        fix = "start some with `dask worker ADDRESS`, and then the command again"
        raise SynthesisError("all workers are gone", where=self._where, fix=fix)

    @contextmanager
    def _scheduler_there(self) -> Iterator[None]:
        """Where it is not, that is told, whatever is raised of it."""
        try:
            yield
        except (*self._gone, *STUMBLES) as error:
            if isinstance(error, STUMBLES) and self._open.status == "running":
                raise
            what, fix = "the scheduler is gone", "start it again, and then the command"
            raise SynthesisError(what, where=self._where, fix=fix) from error

    def _settle(self, future: "Future[Outcomes]") -> None:
        with suppress(self._killed):
            self._outcome(future)

    def _alone(self, number: int, future: "Future[Outcomes]") -> bytes:
        """A task that was there when too many workers died: now that nothing else runs, is it to blame?"""
        try:
            return self._outcome(future)[1][0]
        except self._killed as error:
            guilty = SynthesisError(
                f"task {number} ended {error.allowed_failures + 1} workers, alone",
                where=self._where,
                fix="look at its input; if memory ran out, use larger workers or smaller tasks",
            )
            return pickle.dumps(raised(guilty))


@dataclass(frozen=True)
class _Batch(Generic[Task]):
    """Tasks that are handed over together, with their numbers."""

    tasks: list[tuple[int, Task]]
    future: "Future[Outcomes]"


def worker_version() -> str:
    """Asked of every worker."""
    return VERSION


def worker_outcomes(version: str, work: Callable[[Task], Result], tasks: Sequence[Task]) -> "Outcomes":
    """What a worker does; one that came later was not asked for its version."""
    try:
        _refuse_other(VERSION, version, "--engine dask")
    except SynthesisError as error:
        return 0.0, [pickle.dumps(raised(error)) for _ in tasks]
    began = time.perf_counter()
    outcomes = [keep_outcome(work, task, pickle.dumps) for task in tasks]
    return time.perf_counter() - began, outcomes


def _refuse_other(theirs: str, ours: str, where: str) -> None:
    if theirs != ours:
        what = f"a worker has synthesis-harness {shown(theirs)}, not {ours}"
        raise SynthesisError(what, where=where, fix=f"install synthesis-harness {ours} on all workers")


def _connect(address: "LocalCluster | str", where: str) -> "Client":
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise SynthesisError(
            f"no scheduler answers within {CONNECT:g} s",
            where=where,
            fix="start one with `dask scheduler` and give the address it names, as in dask:tcp://host:8786",
        ) from error


def _own_cluster() -> "LocalCluster":
    """Ctrl-C is for us: the workers inherit that it is blocked.

    They are not to import from the current folder, which may be a stranger's, unless we do. Nor is the
    process that keeps their semaphores; starting it would unblock Ctrl-C, so it comes first.
    """
    import dask.config
    from distributed import LocalCluster

    with _variable("PYTHONSAFEPATH", "1"):
        ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        safe = {"distributed.nanny.pre-spawn-environ.PYTHONSAFEPATH": "1"}
        with dask.config.set(safe):
            return LocalCluster(
                n_workers=usable_cores(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError) as error:
        what = f"no cluster can be started on this machine: {words_of(error)}"
        raise SynthesisError(what, where="--engine dask", fix="use --engine processes") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before
