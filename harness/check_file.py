"""Check a case file of any size: read, checked and written in blocks, so that memory stays flat."""

import hashlib
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from harness.cases import BOM, CaseReader, CaseRow, all_problems, open_cases, row_schema
from harness.check import make_check_stamp, planted_misses, prepare_cases
from harness.checked_block import CheckedBlock, quick_block
from harness.checked_case import CheckedCase, plain_case, quick_case
from harness.collector import without_collector
from harness.engine import Engine
from harness.errors import Problems, SynthesisError
from harness.ids import new_ids
from harness.quick import core_of, share_core
from harness.records import CheckSummary, CheckTiming, Failure
from harness.report import check_report_end, check_report_part, check_report_pieces, replace_report
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.tally import SHOWN_FAILURES, Tally

BLOCK = 1 << 17
"""Bytes that are read and checked at a time; twice as many where workers do it, since each block costs
something on its way to them."""
BATCH = 1000
"""Cases that checkers look at together."""


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


@dataclass(frozen=True)
class CheckedFile:
    """What there is to show of a checked file; the report is written."""

    tally: Tally
    summary: CheckSummary
    report: Path


@without_collector
def check_block(options: CheckOptions, block: Block) -> CheckedBlock:
    """Check the cases of one block; a block with anything wrong in it is only marked."""
    content = block.content.removeprefix(BOM) if block.first_line == 1 else block.content
    done = None
    if options.schema is None:
        done = quick_block(content, options.settings, planted=options.planted)
    if done is None:
        done = _plain_block(options, block)
    done.size = len(block.content)
    return done


def _plain_block(options: CheckOptions, block: Block) -> CheckedBlock:
    """Line by line; what is wrong with one is told when the whole file has been read."""
    done = CheckedBlock(len(block.content))
    reader = CaseReader(options.where, row_schema(options.schema))
    rows = list(reader.rows(block.content, block.first_line))
    if reader.problems:
        done.wrong = True
        return done
    done.ids = "\n".join(reader.ids).encode()
    checked = check_rows(rows, options.settings)
    done.results = b",\n".join([case.result for case in checked])
    done.failures = b",\n".join([case.failure for case in checked if case.failure is not None])
    _count(rows, checked, done.tally)
    if options.planted:
        done.tally.missed = [
            miss
            for row, case in zip(rows, checked, strict=True)
            for miss in planted_misses(row.id, zip(row.checks, case.statuses, strict=True))
        ]
    return done


def check_rows(rows: Sequence[CaseRow], settings: CheckSettings) -> list[CheckedCase]:
    """Every case, in order; those the compiled core leaves are looked at together, a batch at a time."""
    cores = {names: core_of(names, settings) for names in {row.checks for row in rows}}
    found = [quick_case(row, core, settings) if (core := cores[row.checks]) else None for row in rows]
    left = [number for number, case in enumerate(found) if case is None]
    for start in range(0, len(left), BATCH):
        batch = left[start : start + BATCH]
        prepare_cases([rows[number] for number in batch], settings)
        for number in batch:
            found[number] = plain_case(rows[number], settings)
    return [case for case in found if case is not None]


def _count(rows: Sequence[CaseRow], checked: Sequence[CheckedCase], tally: Tally) -> None:
    """Cases that came out alike are counted together."""
    negatives = [bool(row.tags) and row.negative for row in rows]
    for row, case in zip(rows, checked, strict=True):
        if row.tags or row.expected:
            tally.add_labels(row, row.checks, case.statuses)
    names = [row.checks for row in rows]
    alike = Counter(zip(names, [case.statuses for case in checked], negatives, strict=True))
    for (checks, statuses, negative), times in alike.items():
        tally.count(dict(zip(checks, statuses, strict=True)), negative, times)
    for kind in (False, True):
        lines = (
            case.failure
            for case, negative in zip(checked, negatives, strict=True)
            if case.failure is not None and negative is kind
        )
        for line in islice(lines, SHOWN_FAILURES):
            tally.add_failure(msgspec.json.decode(line, type=Failure))


def _block_size(engine: Engine) -> int:
    return BLOCK if engine.workers() == 1 else 2 * BLOCK


def expect_blocks(engine: Engine, options: CheckOptions, size: int | None) -> None:
    """Tell an engine what is to come: while a process has but one thread, a worker is best made."""
    blocks = engine.workers() if size is None else math.ceil(size / _block_size(engine))
    engine.expect(blocks, partial(share_core, (), options.settings))


def check_file(
    source: str,
    target: Path,
    options: CheckOptions,
    engine: Engine,
    progress: Callable[[int], None] | None = None,
) -> CheckedFile:
    """Check a file, `-` for standard input, and write the report; all problems are raised together."""
    with open_cases(source) as file:
        run = _Run(file, options, engine, progress, target.resolve().parent)
        replace_report(target, run.pieces())
    return CheckedFile(run.tally, run.tally.summary(), target)


class _Run:
    """One pass over the file. The report is written while it goes on, and put in place when all went well."""

    def __init__(
        self,
        file: BinaryIO,
        options: CheckOptions,
        engine: Engine,
        progress: Callable[[int], None] | None,
        folder: Path,
    ) -> None:
        self._file = file
        self._options = options
        self._engine = engine
        self._progress = progress
        self._folder = folder
        self._digest = hashlib.sha256()
        self._ids = new_ids()
        self.tally = Tally()

    def pieces(self) -> Iterator[bytes]:
        """The text of the report; failures wait beside it, unseen, until all results are written."""
        started, clock = datetime.now(UTC), time.perf_counter()
        measured_by = similarity_name(self._options.settings.similarity)
        with tempfile.TemporaryFile(dir=self._folder) as failures:
            yield from check_report_pieces("results", self._results(failures))
            failures.seek(0)
            yield from check_report_part("failures", iter(partial(failures.read, BLOCK), b""))
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
            if block.failures:
                failures.write(b",\n" + block.failures if failures.tell() else block.failures)
            if block.results:  # a block may have nothing but blank lines
                yield block.results
            done += block.size
            if self._progress is not None:
                self._progress(done)
        if not self.tally.verdicts:
            fix = "write one JSON object a line"
            raise SynthesisError("there are no cases in it", where=self._options.where, fix=fix)

    def _blocks(self) -> Iterator[Block]:
        """Whole lines, about as many bytes each time; a line that is longer is a block of its own."""
        line = 1
        size = _block_size(self._engine)
        while content := self._file.read(size):
            content += self._file.readline()
            self._digest.update(content)
            yield Block(line, content)
            line += content.count(b"\n")
