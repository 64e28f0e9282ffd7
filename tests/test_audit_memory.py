"""Memory does not grow with the input: three times as many conversations take no more of it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MEASURED = """
import resource
import sys

from harness.cli import main

code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""
MARGIN = 5 * 1024
"""Kilobytes: 130 bytes kept of each of 40,000 more conversations are noticed; equal runs differ by 600."""


def rows(count: int) -> Iterator[str]:
    """Every other one fails, every tenth cannot be read for a reason of its own."""
    for number in range(count):
        if number % 10 == 9:
            yield f'{{"messages": [{{"role": "role-{number}", "content": "x"}}]}}\n'
            continue
        reply = "Yes, of course. " * 20 + ("no" if number % 2 else "fine")
        messages = [{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": reply}]
        name = f"conversation-{number}-{'x' * 300}"
        yield json.dumps({"id": name, "messages": messages * (1 + number % 3)}) + "\n"


def peak(folder: Path, count: int, *options: str) -> int:
    """Kilobytes that auditing so many conversations took at most."""
    (folder / "rubric.json").write_text('{"rubric": [{"contains": "fine"}, {"matches": "^Yes"}]}')
    with (folder / f"{count}.jsonl").open("w") as file:
        file.writelines(rows(count))
    arguments = [f"{count}.jsonl", "--rubric", "rubric.json", "--max-rejects", "999999", "--quiet", *options]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "audit", *arguments, "--out", f"out-{count}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads((folder / f"out-{count}" / "audit.json").read_bytes())
    assert sum(report["summary"][name] for name in ("conversations", "not_drawn", "rejected")) == count
    return int(done.stdout)


@pytest.mark.parametrize("options", [(), ("--engine", "processes:1"), ("--sample", "15000"), ("--redact",)])
def test_three_times_as_many_take_no_more(options: tuple[str, ...], tmp_path: Path) -> None:
    few, many = peak(tmp_path, 20_000, *options), peak(tmp_path, 60_000, *options)
    assert many < few + MARGIN, f"{few} kB for 20,000 conversations, {many} kB for 60,000"
