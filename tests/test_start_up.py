"""A command loads what it needs and nothing else: many people wait for it many times a day."""

import json
import subprocess
import sys
from pathlib import Path

ONE_CASE = '{"id": "A-1", "user": "I am sad.", "assistant": "I hear you.", "checks": ["topic_pivot"]}\n'


def loaded(code: str, *modules: str) -> list[str]:
    """Which of these modules a process has loaded when the code is done."""
    told = f"{code}\nimport json, sys; print(json.dumps([name for name in {modules} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, check=True, text=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_our_lexicons_are_loaded_without_compiling_a_pattern() -> None:
    code = "from harness import lexicon; lexicon.load('topic_pivot')"
    assert loaded(code, "re2", "harness.lexicon") == ["harness.lexicon"]


def test_check_loads_nothing_of_what_a_run_needs(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(ONE_CASE)
    arguments = ["check", str(cases), "--out", str(tmp_path / "report.json")]
    code = f"from harness.cli import main; assert main({arguments}) == 0"
    needless = ("asyncio", "ssl", "jsonschema", "harness.dimension", "harness.scenario", "harness.transcript")
    assert loaded(code, *needless, "harness.check_file") == ["harness.check_file"]


def test_only_the_command_that_is_named_is_made_ready() -> None:
    code = "from harness.cli import main; assert main(['check', '--help']) == 0"
    assert loaded(code, "harness.cli.check", "harness.cli.eval") == ["harness.cli.check"]
