"""In several processes of this machine; a worker that is killed is replaced and its tasks are done again."""

import heapq
import socket
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Generic, cast

from harness.child_lines import own_python
from harness.cores import usable_cores
from harness.engine import Engine, Result, Task
from harness.engine_memory import EngineMemory
from harness.engine_worker import GRACE, MESSAGE, READY, serve
from harness.errors import SynthesisError
from harness.forked import Forked, may_fork
from harness.outcome import Outcome, raised
from harness.problems import shown

MOST_WORKERS = 1024
AHEAD = 3
"""Tasks pulled before their turn, per worker."""
QUEUED = 2
"""Tasks a worker has at once: the one it does and the next, so that it need not wait for us."""
PATIENCE = 3
"""So many workers in a row may die at a task that is all they have to do, or before they can do any."""
LOOK_AGAIN = 1.0
"""Seconds; a dead worker's socket stays open where a process it forked has it."""


class Processes(Engine):
    """`processes:N`; without a number, as many as this process may use cores.

    Not a `ProcessPoolExecutor`: its workers share a queue, and one that is killed while it writes a result
    leaves the others and the parent waiting for ever. Not `multiprocessing`, whose children import from the
    current folder first, which may be a stranger's, and import the main program a second time.
    """

    def __init__(self, argument: str = "") -> None:
        self._most = _count(argument) if argument else usable_cores()
        self._memory = EngineMemory(AHEAD * self._most)
        self._workers: list[_Worker] = []
        self._false_starts = 0
        self._mapping = False

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Three tasks a worker are pulled ahead."""
        if self._mapping:
            raise RuntimeError("an engine does one map at a time")
        job: _Job[Task] = _Job(iter(tasks), self._memory.room)
        self._mapping = True
        try:
            while True:
                self._hand_out(job, work)
                if job.given == job.pulled:
                    return
                self._collect(job, LOOK_AGAIN if job.given not in job.outcomes else 0)
                if job.given in job.outcomes:
                    outcome = cast("Outcome", self._memory.get(job.given, job.outcomes.pop(job.given)))
                    job.given += 1
                    yield cast("Result", outcome.taken())
        finally:
            self._mapping = False
            self._end([worker for worker in self._workers if worker.tasks])

    def expect(self, tasks: int, get_ready: Callable[[], object]) -> None:
        """Where this process can be copied, workers need not make ready again what is ready here."""
        if not may_fork():
            return
        get_ready()
        while len(self._workers) < min(self._most, tasks):
            self._workers.append(_copy(self._memory))

    def workers(self) -> int:
        """As many as there may be; they are started as tasks come, or are expected."""
        return self._most

    def close(self) -> None:
        """What runs is stopped, and killed where it does not stop within seconds."""
        self._end(list(self._workers))
        self._memory.close()

    def _hand_out(self, job: "_Job[Task]", work: Callable[[Task], Result]) -> None:
        job.pull()
        unfinished = len(job.waiting) + sum(len(worker.tasks) for worker in self._workers)
        while len(self._workers) < min(self._most, unfinished):
            self._workers.append(replace(_start(self._memory), false_starts=self._false_starts))
        while job.waiting:
            number, task = job.waiting[0]
            free = [worker for worker in self._workers if worker.ready and not job.alone(worker)]
            least = min(free, key=lambda worker: len(worker.tasks), default=None)
            if least is None or len(least.tasks) >= job.queued(number):
                return
            heapq.heappop(job.waiting)
            least.tasks[number] = task
            size = self._put(number, (work, task))
            try:
                least.pipe.send_bytes(MESSAGE.pack(number, size))
            except OSError:
                self._bury(least, job)

    def _collect(self, job: "_Job[Task]", seconds: float) -> None:
        """Wait that long for something to happen."""
        ready = wait([worker.pipe for worker in self._workers], seconds)
        for worker in list(self._workers):
            if worker.pipe in ready:
                self._receive(worker, job)
            elif not ready and worker.process.poll() is not None:
                self._bury(worker, job)

    def _receive(self, worker: "_Worker", job: "_Job[Task]") -> None:
        try:
            message = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            self._bury(worker, job)
            return
        if message == READY:
            worker.ready = True
            self._false_starts = 0
            for other in self._workers:
                other.false_starts = 0
        else:
            number, size = MESSAGE.unpack(message)
            del worker.tasks[number]
            job.outcomes[number] = size

    def _bury(self, worker: "_Worker", job: "_Job[Task]") -> None:
        """Its tasks are done again, each by a worker that has nothing else to do: one may be to blame."""
        self._end([worker])
        if not worker.ready:
            self._false_starts = max(self._false_starts, worker.false_starts + 1)
        if self._false_starts >= PATIENCE:
            raise SynthesisError(
                f"{PATIENCE} workers in a row ended before they could work ({_how(worker)})",
                where="--engine processes",
                fix="see what the machine forbids, or use --engine local",
            )
        for number, task in cast("dict[int, Task]", worker.tasks).items():
            alone = len(worker.tasks) == 1
            job.suspects[number] = job.suspects.get(number, 0) + alone
            if job.suspects[number] < PATIENCE:
                heapq.heappush(job.waiting, (number, task))
            else:
                job.outcomes[number] = self._put(number, raised(_guilty(number, worker)))

    def _put(self, number: int, value: object) -> int:
        try:
            return self._memory.put(number, value)
        except OSError as error:
            what = f"what workers share cannot be written: {error.strerror}"
            fix = "allow larger files (ulimit -f) and more memory, or use --engine local"
            raise SynthesisError(what, where="--engine processes", fix=fix) from error

    def _end(self, workers: "list[_Worker]") -> None:
        for worker in workers:
            self._workers.remove(worker)
            worker.process.terminate()
        for worker in workers:
            try:
                worker.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            worker.pipe.close()


@dataclass(eq=False)
class _Worker:
    process: "subprocess.Popen[bytes] | Forked"
    pipe: Connection
    ready: bool = False
    false_starts: int = 0
    """How many there had been in a row when it was started: those that begin together fail together.

    None, once another that was started is ready.
    """
    tasks: dict[int, object] = field(default_factory=dict)


@dataclass
class _Job(Generic[Task]):
    """One `map`: `waiting` is a heap by number, `suspects` counts workers that died with the task alone.

    `outcomes` are what there is to take, with their sizes in memory.
    """

    tasks: Iterator[Task]
    window: int
    pulled: int = 0
    given: int = 0
    waiting: list[tuple[int, Task]] = field(default_factory=list)
    outcomes: dict[int, int] = field(default_factory=dict)
    suspects: dict[int, int] = field(default_factory=dict)
    exhausted: bool = False

    def pull(self) -> None:
        """As far ahead as is allowed."""
        while self.pulled - self.given < self.window:
            try:
                task = next(self.tasks)
            except StopIteration:
                self.exhausted = True
                return
            heapq.heappush(self.waiting, (self.pulled, task))
            self.pulled += 1

    def queued(self, number: int) -> int:
        """How many tasks the worker that gets this one may have; the last go to whoever is free."""
        return 1 if self.exhausted or number in self.suspects else QUEUED

    def alone(self, worker: _Worker) -> bool:
        """It does a task that may have ended a worker before: nothing else may be lost with it."""
        return any(number in self.suspects for number in worker.tasks)


def _copy(memory: EngineMemory) -> _Worker:
    """A copy of this process."""

    def start(descriptor: int) -> Forked:
        given = (descriptor, memory.descriptor)
        return Forked(partial(serve, *given, memory.room), given)

    return _with_socket(start)


def _start(memory: EngineMemory) -> _Worker:
    """Its own process group: Ctrl-C is for the parent. Only what the parent imports from is imported from."""

    def start(descriptor: int) -> "subprocess.Popen[bytes]":
        given = (descriptor, memory.descriptor, memory.room)
        return subprocess.Popen(  # noqa: S603 - this Python
            own_python(f"from harness.engine_worker import serve; serve{given}"),
            stdin=subprocess.DEVNULL,
            pass_fds=[descriptor, memory.descriptor],
            process_group=0,
        )

    return _with_socket(start)


def _with_socket(start: "Callable[[int], subprocess.Popen[bytes] | Forked]") -> _Worker:
    try:
        ours, theirs = socket.socketpair()
        with theirs:
            process = start(theirs.fileno())
    except OSError as error:
        raise SynthesisError(
            f"a worker cannot be started: {error.strerror}",
            where="--engine processes",
            fix="use fewer workers, or allow more processes and open files (ulimit -u, ulimit -n)",
        ) from error
    return _Worker(process, Connection(ours.detach()))


def _guilty(number: int, worker: _Worker) -> SynthesisError:
    return SynthesisError(
        f"task {number + 1} ended its worker {PATIENCE} times, alone ({_how(worker)})",
        where="--engine processes",
        fix="look at its input; if memory ran out, use fewer workers (processes:1) or smaller tasks",
    )


def _how(worker: _Worker) -> str:
    code = worker.process.wait()
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _count(argument: str) -> int:
    if argument.isascii() and argument.isdigit() and len(argument) < 5 and 1 <= int(argument) <= MOST_WORKERS:
        return int(argument)
    raise SynthesisError(
        f'"processes:{shown(argument)}": not a number of processes from 1 to {MOST_WORKERS}',
        where="--engine",
        fix="write for example processes:4, or processes for one a core",
    )
