"""Commands keep the memory they have freed, so that the system need not clear pages for every block anew."""

import platform
import subprocess
import sys

import pytest
from test_core import needs_core

BLOCKS = """
import resource, sys
from harness.freed_memory import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for number in range(50):
    blocks = [bytes([number]) * (3 << 20) for _ in range(2)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", BLOCKS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@needs_core
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told what to keep")
def test_blocks_that_are_freed_are_there_for_the_next() -> None:
    assert faults("keep") < faults("give back") / 4


def test_without_the_core_nothing_is_kept_and_nothing_fails() -> None:
    missing = "import sys; sys.modules['harness._core'] = None"
    code = f"{missing}; from harness.freed_memory import keep_freed_memory as keep; keep()"
    subprocess.run([sys.executable, "-c", code], check=True)
