"""A scheduler and workers as one would start them by hand, on loopback, each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import orjson
from engine_tasks import until


@dataclass
class Cluster:
    folder: Path
    stack: ExitStack
    log: IO[bytes]
    scheduler: "subprocess.Popen[bytes] | None" = None
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def address(self) -> str:
        """Empty until the scheduler has written it down, whole."""
        with suppress(OSError, orjson.JSONDecodeError):
            return str(orjson.loads((self.folder / "scheduler.json").read_bytes())["address"])
        return ""

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """Ended, and waited for, when the cluster is left."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **(env or {})},
            stdout=self.log,
            stderr=self.log,
        )
        self.stack.callback(end, process)
        return process

    def start_worker(self, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        worker = self.start("worker", self.address, *options, env=env)
        self.workers.append(worker)
        return worker


def end(process: "subprocess.Popen[bytes]") -> None:
    """Dask ends its own processes when it is told to, but now and then one waits for another that is gone."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    with ExitStack() as stack:
        made = Cluster(folder, stack, stack.enter_context((folder / "dask.log").open("wb")))
        file = folder / "scheduler.json"
        options = (
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--dashboard-address",
            "127.0.0.1:0",
        )
        made.scheduler = made.start("scheduler", *options, "--scheduler-file", str(file))
        until(lambda: made.address)
        for _ in range(workers):
            made.start_worker()
        yield made
