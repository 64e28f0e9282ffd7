"""Search the files of the workspace for a regular expression."""

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Any

import re2
from pydantic import Field

from harness.confined import ConfinedFolder
from harness.gate import Bench, Gate, GateError

MOST_HITS = 200
LARGEST = 2**20
"""Bytes of a file that is searched; a larger one is passed over."""
LARGEST_SUM = 2**26
LONGEST_LINE = 300


class Search(Gate):
    """Search files of the workspace for a regular expression (RE2 syntax), line by line."""

    pattern: str
    path: str = Field(default=".", description="a file or a folder, relative to the workspace")

    async def call(self, bench: Bench) -> list[str]:
        """Lines as "file:line: text"; files that are not UTF-8 are passed over."""
        hits = _hits(_compiled(self.pattern), bench.files, self.path)
        return await asyncio.to_thread(lambda: list(islice(hits, MOST_HITS)))


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        why = "it is not text"
    raise GateError(f"not a regular expression (RE2 syntax): {why}")


def _hits(pattern: Any, files: ConfinedFolder, path: str) -> Iterator[str]:
    read = 0
    for name, content in files.files(path, LARGEST):
        read += len(content)
        if read > LARGEST_SUM:
            raise GateError(f"more than {LARGEST_SUM} bytes to search: name a folder or a file")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            if pattern.search(line):
                yield f"{name}:{number}: {line[:LONGEST_LINE]}"
