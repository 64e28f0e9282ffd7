"""Every block of code in the README and the handbook runs, page by page, in a folder of its own.

`file=NAME` in a block's info string writes the block to that file first. `sh` blocks are run line by line by
bash, `python` blocks by Python, and must end with the exit code given as `exit=N`, or 0. A `text` block is
output or a drawing and is not run.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WITH_TESTS_OF_THEIR_OWN = {"extending.md", "subjects.md", "wrapping.md", "models.md"}
RUN_BY_CI = ("python3 -m venv", ".venv/bin/ruff", ".venv/bin/synthesis")
PAGES = [
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    if page.name not in WITH_TESTS_OF_THEIR_OWN
]
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    info: dict[str, str]
    body: str


def blocks(page: Path) -> list[Block]:
    return [
        Block(language, dict(word.split("=", 1) for word in info.split()), body)
        for language, info, body in _BLOCK.findall(page.read_text("utf-8"))
    ]


def write(block: Block, folder: Path) -> None:
    target = folder / block.info["file"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.body, "utf-8")


def parse(block: Block) -> None:
    """What is only shown must at least be well-formed."""
    if block.language == "json":
        json.loads(block.body)
    elif block.language == "jsonl":
        for line in block.body.splitlines():
            json.loads(line)
    elif block.language == "toml":
        tomllib.loads(block.body)
    elif block.language == "yaml":
        assert "\t" not in block.body
    else:
        assert block.language in {"text", "sh", "python"}, f"no way to run a {block.language} block"


def commands(block: Block) -> list[list[str]]:
    if block.language == "python" and "file" not in block.info:
        return [[sys.executable, "-c", block.body]]
    if block.language == "sh":
        return [["bash", "-euo", "pipefail", "-c", block.body]]
    if block.language == "yaml":
        steps = re.findall(r"- run: (synthesis .*)", block.body)
        return [["bash", "-euo", "pipefail", "-c", step] for step in steps]
    return []


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A PATH on which `synthesis` is the one under test, and `dask` the one beside it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("synthesis", "harness"), ("dask", "dask")):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def run_page(page: Path, folder: Path, environment: dict[str, str]) -> int:
    """Run what is on a page, in a folder of its own; gives how many commands that were."""
    story = folder / "story"
    story.mkdir()
    ran = 0
    for block in blocks(page):
        parse(block)
        if "file" in block.info:
            write(block, story)
        if block.body.startswith(RUN_BY_CI):
            continue
        for command in commands(block):
            done = subprocess.run(
                command, cwd=story, env=environment, capture_output=True, text=True, timeout=120, check=False
            )
            wanted = int(block.info.get("exit", "0"))
            assert done.returncode == wanted, f"{block.body}\n{done.stdout}\n{done.stderr}"
            ran += 1
    return ran


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, tmp_path: Path, surroundings: dict[str, str]) -> None:
    ran = run_page(page, tmp_path, surroundings)
    assert ran or page.name in {"README.md", "CONTRIBUTING.md"}, "nothing on this page was run"


def test_ci_runs_the_commands_that_set_things_up() -> None:
    """What the page test leaves out, because it makes a virtual environment, is what `.ci/run` runs."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    readme = [block.body.strip() for block in blocks(ROOT / "README.md") if block.language == "sh"]
    assert readme[:2] == [
        (
            "python3 -m venv .venv && .venv/bin/pip install -e . && "
            ".venv/bin/synthesis eval scenarios/ --seeds 5 --min-mean 0.85"
        ),
        "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest",
    ]
    assert "pip install -e '.[dev]'" in script
    assert "pip install -e . " in script


def test_pages_link_to_pages_that_exist() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_generated_tables_are_current() -> None:
    show = "import tables; print(tables.page_with_table(tables.PAGE.read_text('utf-8')), end='')"
    done = subprocess.run(
        [sys.executable, "-c", show],
        cwd=ROOT / "docs",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (ROOT / "docs" / "rubrics.md").read_text("utf-8"), "run: python docs/tables.py"


def test_the_output_in_the_readme_is_what_the_command_prints(
    tmp_path: Path, surroundings: dict[str, str]
) -> None:
    (sample,) = [block.body for block in blocks(ROOT / "README.md") if block.language == "text"]
    command = ["synthesis", "eval", str(ROOT / "scenarios"), "--seeds", "5", "--min-mean", "0.85"]
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=120, check=True
    )
    printed = {line.strip() for line in done.stdout.splitlines()}
    shown = [line.strip() for line in sample.splitlines()]
    told = [line for line in shown if line != "…" and not line.startswith(("report: ", "─"))]
    assert len(told) > 8
    assert [line for line in told if line not in printed] == []
