"""How fast the harness is: `python benchmarks/harness.py [--scenarios 1000] [--seeds 5] [--rounds 5]`.

Whole processes, on a tmpfs, interleaved in one run, medians: `synthesis eval` with scripted subjects and one
`contains` criterion, transcripts and workspaces written, beside a bare loop that makes the same folders and
files. Then an awaitable subject that sleeps 100 ms, 1,000 trials at 100 jobs, from first start to last end.
Peers that are installed (pytest, pydantic-evals) run the same number of trials in the same rounds.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE_LOOP = """
import os, sys
out, scenarios, seeds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
line = b'{"v":1,"seq":0,"type":"start"}\\n'
os.makedirs(f"{out}/transcripts")
for scenario in range(scenarios):
    for seed in range(1, seeds + 1):
        os.makedirs(f"{out}/workspaces/s{scenario}/{seed}")
        with open(f"{out}/workspaces/s{scenario}/{seed}/note.txt", "wb") as file:
            file.write(b"alpha")
        with open(f"{out}/transcripts/s{scenario}-{seed}.jsonl", "wb", buffering=0) as file:
            for _ in range(4):
                file.write(line)
"""

PYDANTIC_EVALS = """
import sys
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains
scenarios, seeds = int(sys.argv[2]), int(sys.argv[3])
cases = [Case(name=f"s{i}-{seed}", inputs="hello", evaluators=[Contains("alpha")])
         for i in range(scenarios) for seed in range(seeds)]
async def task(text): return "alpha"
Dataset(cases=cases, name="bench").evaluate_sync(task, progress=False)
"""

PYTEST = """
import pytest
def answer(prompt, seed):
    return "alpha" if seed % 2 else "beta"
@pytest.mark.parametrize("seed", range(1, {seeds} + 1))
@pytest.mark.parametrize("scenario", range({scenarios}))
def test_trial(scenario, seed, tmp_path):
    (tmp_path / "note.txt").write_text("alpha")
    assert "alpha" in answer("hello", seed) or seed % 2 == 0
"""

SLEEPER = """
import asyncio
async def answer(prompt, context):
    await asyncio.sleep(0.1)
    return "alpha"
scenarios = [{"name": "sleeper", "prompt": "hello", "subject": {"type": "function", "function": answer},
              "rubric": [{"contains": "alpha"}]}]
"""


def main() -> None:
    """Print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        whole_process(root, options)
        sleeping(root, options.rounds)
    finally:
        shutil.rmtree(root)


def whole_process(root: Path, options: argparse.Namespace) -> None:
    """Interleaved rounds of every contender."""
    write_scenarios(root / "scenarios.json", options.scenarios)
    size = [str(options.scenarios), str(options.seeds)]
    out = root / "out"
    contenders = {
        "bare loop": [sys.executable, "-c", BARE_LOOP, str(out), *size],
        "synthesis": [
            sys.executable, "-m", "harness", "eval", str(root / "scenarios.json"),
            "--seeds", size[1], "--out", str(out), "-q",
        ],
    }  # fmt: skip
    if importlib.util.find_spec("pydantic_evals"):
        contenders["pydantic-evals"] = [sys.executable, "-c", PYDANTIC_EVALS, str(out), *size]
    if importlib.util.find_spec("pytest"):
        tests = root / "test_trials.py"
        tests.write_text(PYTEST.format(scenarios=options.scenarios, seeds=options.seeds))
        quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", str(out)]
        contenders["pytest"] = [sys.executable, "-m", "pytest", str(tests), "-c", os.devnull, *quiet]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(options.rounds):
        for name, command in contenders.items():
            taken[name].append(timed(command))
            shutil.rmtree(out, ignore_errors=True)
    base = statistics.median(seconds for seconds, _ in taken["bare loop"])
    for name, runs in taken.items():
        seconds = statistics.median(run[0] for run in runs)
        memory = max(run[1] for run in runs)
        print(f"{name:16} {seconds:6.2f} s  {seconds / base:5.1f} × bare loop  {memory:5.0f} MB at most")


def write_scenarios(path: Path, count: int) -> None:
    """One file of scripted scenarios."""
    subject = {"type": "scripted", "replies": [["alpha"], ["beta"]]}
    scenarios = [
        {"name": f"s{index}", "prompt": "hello", "fixtures": {"note.txt": "alpha"}, "subject": subject,
         "rubric": [{"contains": "alpha"}]}
        for index in range(count)
    ]  # fmt: skip
    path.write_text(json.dumps({"scenarios": scenarios}))


def timed(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak megabytes of one process."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) not in (0, 2):
        sys.exit(f"{command[:4]} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss / 1024


def sleeping(root: Path, rounds: int) -> None:
    """1,000 trials that wait 100 ms each, 100 at once; the ideal is 1.0 s."""
    scenario = root / "sleeper.py"
    scenario.write_text(SLEEPER)
    out = root / "out"
    command = [
        sys.executable, "-m", "harness", "eval", str(scenario), "--seeds", "1000", "--jobs", "100",
        "--out", str(out), "-q",
    ]  # fmt: skip
    taken = []
    for _ in range(rounds):
        timed(command)
        taken.append(json.loads((out / "report.json").read_bytes())["timing"]["trials_seconds"])
        shutil.rmtree(out)
    print(f"1000 × 100 ms at 100 jobs: {statistics.median(taken):.2f} s from first start to last end")


if __name__ == "__main__":
    main()
