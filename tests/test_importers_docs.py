"""The page about importers tells of each of them, and its example works as a package of somebody else."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from test_docs import blocks

from harness import plugins
from harness.importer import Shape

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "importing.md"


@pytest.mark.parametrize("name", plugins.own("importers"))
def test_the_table_has_a_row_for_each(name: str) -> None:
    module = plugins.module("importers", name)
    shapes = ", ".join(shape for shape in get_args(Shape) if shape in module.SHAPES)
    row = f"| `{name}` | {(module.__doc__ or '').splitlines()[0]} | {shapes} |"
    assert row in PAGE.read_text("utf-8").splitlines()


SHOW = """
from harness.source import open_inputs, read_chunk
(only,) = open_inputs(["rows.jsonl"])
print(only.why)
for chunk in only.chunks():
    for reading in read_chunk(chunk):
        print(type(reading).__name__, getattr(reading, "line", ""), getattr(reading, "reason", ""))
"""


def test_an_installed_package_brings_its_importer(tmp_path: Path) -> None:
    (module,) = [block.body for block in blocks(PAGE) if block.info.get("file") == "faq_log.py"]
    (named,) = [block.body for block in blocks(PAGE) if block.language == "toml"]
    packages = tmp_path / "packages"
    installed = packages / "faq_log-1.dist-info"
    installed.mkdir(parents=True)
    (packages / "faq_log.py").write_text(module, "utf-8")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: faq-log\nVersion: 1\n")
    line = named.splitlines()[1].replace('"', "")
    (installed / "entry_points.txt").write_text(f"[harness.importers]\n{line}\n")
    rows = '{"q": "When?", "a": "At nine."}\n{"q": "x", "a": 7}\n{"q": "x", "a": "y", "internal": true}\n'
    (tmp_path / "rows.jsonl").write_text(rows)
    path = f"{packages}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        'faq_log: rows have "q" and "a"',
        "Found 1 ",
        'Rejected 2 "a" is not a text',
        "PassedOver  a test of our own",
    ]
