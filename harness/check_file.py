"""Check a case file of any size: read, checked and written in blocks, so that memory stays flat."""

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from harness.cases import CaseReader, all_problems, open_cases, row_schema
from harness.check import failure_of, make_check_stamp, planted_misses, prepare_cases, run_case
from harness.engine import Engine
from harness.errors import Problems, SynthesisError
from harness.records import CheckSummary, CheckTiming
from harness.report import check_report_end, check_report_pieces, replace_report
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.tally import Tally

BLOCK = 1 << 19
"""Bytes that are read and checked at a time."""
BATCH = 1000
"""Cases that are looked at together."""


class Block(NamedTuple):
    """Whole lines of a file, and the number of the first."""

    first_line: int
    content: bytes


@dataclass(frozen=True)
class CheckOptions:
    """What every worker has to know."""

    settings: CheckSettings
    where: str
    schema: str | None = None
    planted: bool = False


@dataclass
class CheckedBlock:
    """What came of one block: lines of the report, counts, and the ids, which no two cases may share."""

    size: int
    results: list[bytes] = field(default_factory=list)
    failures: list[bytes] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    ids: list[str] = field(default_factory=list)
    wrong: bool = False


@dataclass(frozen=True)
class CheckedFile:
    """What there is to show of a checked file; the report is written."""

    tally: Tally
    summary: CheckSummary
    report: Path


def check_block(options: CheckOptions, block: Block) -> CheckedBlock:
    """Check the cases of one block, a batch at a time; a block with anything wrong in it is only marked."""
    done = CheckedBlock(len(block.content))
    reader = CaseReader(options.where, row_schema(options.schema))
    cases = list(reader.cases(block.content, block.first_line))
    done.ids = reader.ids
    if reader.problems:
        done.wrong = True
        return done
    encode = msgspec.json.Encoder().encode
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        prepare_cases(batch, options.settings)
        results = [run_case(case, options.settings) for case in batch]
        for result in results:
            done.results.append(encode(result))
            done.tally.add(result)
            if not result.passed:
                failure = failure_of(result)
                done.failures.append(encode(failure))
                done.tally.add_failure(failure)
        if options.planted:
            done.tally.missed += planted_misses(results)
    return done


def check_file(
    source: str,
    target: Path,
    options: CheckOptions,
    engine: Engine,
    progress: Callable[[int], None] | None = None,
) -> CheckedFile:
    """Check a file, `-` for standard input, and write the report; all problems are raised together."""
    with open_cases(source) as file:
        run = _Run(file, options, engine, progress)
        replace_report(target, run.pieces())
    return CheckedFile(run.tally, run.tally.summary(), target)


class _Run:
    """One pass over the file. The report is written while it goes on, and put in place when all went well."""

    def __init__(
        self, file: BinaryIO, options: CheckOptions, engine: Engine, progress: Callable[[int], None] | None
    ) -> None:
        self._file = file
        self._options = options
        self._engine = engine
        self._progress = progress
        self._digest = hashlib.sha256()
        self._ids = _Ids()
        self.tally = Tally()

    def pieces(self) -> Iterator[bytes]:
        """The text of the report; failures wait in a file of their own until all results are written."""
        started, clock = datetime.now(UTC), time.perf_counter()
        measured_by = similarity_name(self._options.settings.similarity)
        with tempfile.TemporaryFile() as failures:
            yield from check_report_pieces("results", self._results(failures))
            failures.seek(0)
            yield from check_report_pieces("failures", (line.rstrip(b"\n") for line in failures))
        digest = self._digest.hexdigest()
        timing = CheckTiming(
            started=started.isoformat(timespec="seconds"), seconds=round(time.perf_counter() - clock, 6)
        )
        stamp = make_check_stamp(self.tally.names, self._options.settings, measured_by, digest)
        yield check_report_end(self.tally.summary(), stamp, timing)

    def _results(self, failures: BinaryIO) -> Iterator[bytes]:
        done = 0
        for block in self._engine.map(partial(check_block, self._options), self._blocks()):
            if block.wrong or not self._ids.add(block.ids):
                raise Problems(all_problems(self._file, self._options.where, self._options.schema))
            self.tally.merge(block.tally)
            failures.writelines(line + b"\n" for line in block.failures)
            yield from block.results
            done += block.size
            if self._progress is not None:
                self._progress(done)
        if not self.tally.verdicts:
            fix = "write one JSON object a line"
            raise SynthesisError("there are no cases in it", where=self._options.where, fix=fix)

    def _blocks(self) -> Iterator[Block]:
        """Whole lines, about as many bytes each time; a line that is longer is a block of its own."""
        line = 1
        while content := self._file.read(BLOCK):
            content += self._file.readline()
            self._digest.update(content)
            yield Block(line, content)
            line += content.count(b"\n")


class _Ids:
    """Which ids were used: a page for every thousand that differ in their last three digits only.

    A set of a million ids would be most of what a run keeps in memory.
    """

    def __init__(self) -> None:
        self._pages: dict[str, int] = {}

    def add(self, ids: list[str]) -> bool:
        """Whether all of them are new."""
        for identity in ids:
            short = not identity[-3:].isdecimal()
            page, number = (f"={identity}", "0") if short else (identity[:-3], identity[-3:])
            bit = 1 << int(number)
            used = self._pages.get(page, 0)
            if used & bit:
                return False
            self._pages[page] = used | bit
        return True
