"""How fast `synthesis check` is: `python benchmarks/checkers.py [--cases 100000] [--rounds 3] [--million]`.

Builds case files, then runs whole commands over the same file, interleaved, and prints medians: `synthesis
check` in one process and in two, the npm package `@mcptoolshop/synthesis` where Node is there (installed into
a temporary folder), and the floor, which parses the file and writes as many bytes as our report has. Three
corpora: replies of about 400 and of about 1,500 characters, put together from the sentences of the labelled
sets in this folder, so that sentences come back as they do in logs; and replies in which every fourth word is
another, so that hardly any sentence comes back. Last, single replies of a megabyte, made to be awkward.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKS = ["agency_language", "unverifiable_reassurance", "topic_pivot"]
PACKAGE = "@mcptoolshop/synthesis"
FLOOR = """
import sys, orjson
size, rows = int(sys.argv[2]), [orjson.loads(line) for line in open(sys.argv[1], "rb")]
with open(sys.argv[3], "wb") as file:
    for _ in range(size // 65536):
        file.write(b"x" * 65536)
"""
HOSTILE = {
    "one word, again and again": "should " * 150_000,
    "one endless sentence": "you will be fine and " * 48_000,
    "a million letters": "a" * 1_000_000,
    "marks": "?!.,;:\"'()-" * 90_000,
    "quotations never closed": 'he said "you must ' * 55_000,
    "lists": "- call now\n" * 90_000,
    "promises": "I promise it will all be fine. " * 32_000,
    "promises in one breath": "you'll be fine " * 66_000,
}


@dataclass(frozen=True)
class Taken:
    """One run of one command."""

    cpu: float
    wall: float
    megabytes: float


def main() -> None:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--million", action="store_true", help="also 1,000,000 cases, in one round")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp())
    try:
        node = install_npm(root)
        corpora = {"400": (400, 0.0), "1500": (1500, 0.0), "400, new sentences": (400, 0.25)}
        for name, (size, change) in corpora.items():
            file = write_corpus(root / "cases.jsonl", options.cases, size, change)
            print(f"\n{options.cases} cases, replies of about {name} characters, {options.rounds} rounds")
            compare(root, file, node, options.rounds)
        if options.million:
            file = write_corpus(root / "cases.jsonl", 1_000_000, 400, 0.0)
            print("\n1000000 cases, replies of about 400 characters")
            compare(root, file, None, 1)
        hostile(root, node)
    finally:
        shutil.rmtree(root)


def install_npm(root: Path) -> list[str] | None:
    """The command of the npm package; None where there is no Node or the package cannot be had."""
    if not shutil.which("npm"):
        return None
    done = subprocess.run(
        ["npm", "install", "--prefix", str(root), PACKAGE], capture_output=True, check=False
    )
    home = root / "node_modules" / PACKAGE
    schema = home / "schemas" / "eval_case.schema.json"
    return None if done.returncode else ["node", str(home / "dist" / "index.js"), "--schema", str(schema)]


def texts() -> tuple[list[str], list[str]]:
    """What people and assistants say in the labelled sets: messages, and the sentences of replies."""
    files = [*sorted((HERE / "labelled").glob("*.jsonl")), HERE.parent / "data" / "evals.jsonl"]
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines() if line]
    sentences = [each for row in rows for each in re.split(r"(?<=[.!?])\s+", row["assistant"])]
    return [row["user"] for row in rows], sentences


def corpus(count: int, size: int, change: float) -> Iterator[bytes]:
    """Cases; `change` is the share of words that are replaced by any other."""
    rng = random.Random(f"{count} {size} {change}")
    users, sentences = texts()
    vocabulary = [word for each in sentences for word in each.split()]

    def changed(text: str) -> str:
        words = (rng.choice(vocabulary) if rng.random() < change else word for word in text.split())
        return " ".join(words) if change else text

    for number in range(count):
        parts: list[str] = []
        while sum(map(len, parts)) < size * 0.75:
            parts.append(changed(rng.choice(sentences)))
        row = {
            "id": f"CASE-{number}",
            "user": changed(rng.choice(users)) or "Hm.",
            "assistant": " ".join(parts),
        }
        yield json.dumps({**row, "checks": CHECKS}, ensure_ascii=False).encode() + b"\n"


def write_corpus(path: Path, count: int, size: int, change: float) -> Path:
    """One case file."""
    with path.open("wb") as file:
        file.writelines(corpus(count, size, change))
    return path


def compare(root: Path, file: Path, node: list[str] | None, rounds: int) -> None:
    """Everyone over the same file, in turn; medians, and how often ours goes into npm's."""
    report = root / "report.json"
    ours = [sys.executable, "-m", "harness", "check", str(file), "--out", str(report)]
    contenders = {"one process": ours, "two processes": [*ours, "--engine", "processes:2"]}
    if node is not None:
        contenders["npm"] = [*node, "--cases", str(file), "--out", str(report)]
    taken: dict[str, list[Taken]] = {name: [] for name in (*contenders, "floor")}
    size = "0"
    for _ in range(rounds):
        for name, command in contenders.items():
            report.unlink(missing_ok=True)  # to give room on the disk back takes time, too
            taken[name].append(timed(command))
            size = str(report.stat().st_size) if command[: len(ours)] == ours else size
        report.unlink()
        taken["floor"].append(timed([sys.executable, "-c", FLOOR, str(file), size, str(report)]))
    base = median(taken["npm"]) if node is not None else None
    for name, runs in taken.items():
        print(row(name, median(runs), base))


def median(runs: list[Taken]) -> Taken:
    """Of each figure by itself."""
    return Taken(
        *(statistics.median(getattr(run, part) for run in runs) for part in ("cpu", "wall", "megabytes"))
    )


def row(name: str, run: Taken, base: Taken | None) -> str:
    """A line of the table; a ratio above 1 is better than npm."""
    line = f"  {name:14} {run.cpu:8.2f} s CPU {run.wall:8.2f} s wall {run.megabytes:7.0f} MB"
    if base is None:
        return line
    ratios = f"{base.cpu / run.cpu:6.2f} × CPU {base.wall / run.wall:6.2f} × wall"
    return f"{line}   against npm: {ratios}  1/{base.megabytes / run.megabytes:.1f} of its memory"


def hostile(root: Path, node: list[str] | None) -> None:
    """One reply of a megabyte at a time, and one of half: the ratio of the two shows what is not linear."""
    print("\nreplies of a megabyte: seconds of the processor beyond start-up, and times half a megabyte")
    commands = {"ours": [sys.executable, "-m", "harness", "check", "{}", "--out", str(root / "report.json")]}
    if node is not None:
        commands["npm"] = [*node, "--cases", "{}", "--out", str(root / "npm.json")]
    starts = {
        name: min(one_reply(root, command, "Fine.") for _ in range(5)) for name, command in commands.items()
    }
    for title, text in HOSTILE.items():
        figures = []
        for name, command in commands.items():
            whole = one_reply(root, command, text) - starts[name]
            half = one_reply(root, command, text[: len(text) // 2]) - starts[name]
            figures.append(f"{name} {whole:6.2f} s ({whole / max(half, 0.01):.1f} ×)")
        print(f"  {title:28} {'   '.join(figures)}")


def one_reply(root: Path, command: list[str], text: str) -> float:
    """Seconds of the processor for a file with this one reply."""
    file = root / "one.jsonl"
    case = {"id": "CASE-1", "user": "My dad died and I can't sleep.", "assistant": text, "checks": CHECKS}
    file.write_text(json.dumps(case) + "\n", "utf-8")
    return timed([str(file) if part == "{}" else part for part in command]).cpu


def timed(command: list[str]) -> Taken:
    """One command, its children included; the memory is that of the largest process.

    Bytecode is kept, as it is where a package is installed.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        sys.exit(f"{command[:4]} ended with {process.returncode}")
    return Taken(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
