"""How fast two runs of 10,000 trials compare: `python benchmarks/compare.py [--scenarios 1000] [--seeds 10]`.

Whole processes, the reports made before. The promise is under 3 s and under 200 MB.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CRITERIA = 5


def scenario_file(path: Path, scenarios: int, seeds: int, source: random.Random) -> None:
    """Scripted replies that reach one to five points, more or less by chance."""
    rubric = [{"name": f"part {part}", "contains": f"<{part}>"} for part in range(CRITERIA)]
    made = []
    for number in range(scenarios):
        points = [min(CRITERIA, source.randint(2, CRITERIA + 1)) for _ in range(seeds)]
        replies = [["said " + "".join(f"<{part}>" for part in range(reached))] for reached in points]
        subject = {"type": "scripted", "replies": replies}
        made.append({"name": f"s{number}", "prompt": "hi", "subject": subject, "rubric": rubric})
    path.write_text(json.dumps({"scenarios": made}))


def main() -> None:
    """Make two runs, compare them, say how long it took and how much memory it had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    source = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for run in ("base", "head"):
            scenario_file(Path(folder) / f"{run}.json", given.scenarios, given.seeds, source)
            evaluate = ["eval", f"{run}.json", "--seeds", str(given.seeds), "--out", run, "-q"]
            subprocess.run([sys.executable, "-m", "harness", *evaluate], cwd=folder, check=True)
        size = (Path(folder) / "base" / "report.json").stat().st_size
        command = [sys.executable, "-m", "harness", "compare", "base", "head", "--out", "c.json"]
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        measured = json.loads(
            subprocess.run(
                [sys.executable, "-c", MEMORY, *command],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    print(f"{given.scenarios} scenarios × {given.seeds} seeds, reports of {size / 1e6:.1f} MB")
    print(f"compare: {seconds:.2f} s, {measured / 1024:.0f} MB at most")


MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

if __name__ == "__main__":
    main()
