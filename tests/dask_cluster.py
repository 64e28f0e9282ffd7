"""A scheduler and workers as one would start them by hand, on loopback, each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def address(self) -> str:
        return str(orjson.loads((self.folder / "scheduler.json").read_bytes())["address"])

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """Ended, and waited for, when the cluster is left."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **(env or {})},
            stdout=self.log,
            stderr=self.log,
        )
        self.stack.callback(process.wait, 30)
        self.stack.callback(process.terminate)
        return process

    def start_worker(self, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        worker = self.start("worker", self.address, *options, env=env)
        self.workers.append(worker)
        return worker


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
        made.start("scheduler", *options, "--scheduler-file", str(file))
        until(file.exists)
        for _ in range(workers):
            made.start_worker()
        yield made
