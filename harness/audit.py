"""The line of an audit: inputs, cut into parts, scored by an engine, added up in order, written."""

import math
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import IO

from harness.aside import putting_aside
from harness.audit_aggregate import Aggregate
from harness.audit_chunk import AuditConfig, Draw, Part, audit_part, draw_part
from harness.audit_conclude import Conclusion, Sampling, conclude_audit
from harness.audit_report import AuditReport, AuditTiming
from harness.audit_state import AuditDirectory, AuditFiles, AuditState
from harness.choose import Urn
from harness.chunk import Span
from harness.decide import AuditThresholds
from harness.engine import Engine
from harness.source import Input
from harness.workers import Stop

PART = 2**19
"""Bytes: small enough to be shared out evenly and to stop soon, large enough to be worth sending."""
SAVE_EVERY = 1.0
"""Seconds between two savings; a part that takes longer is saved when it is done."""


@dataclass(frozen=True)
class AuditPlan:
    """Everything an audit needs to know, checked."""

    inputs: Sequence[Input]
    config: AuditConfig
    thresholds: AuditThresholds
    sampling: Sampling | None = None
    engine: str = "local"
    part_size: int = PART


def expect_parts(engine: Engine, plan: AuditPlan) -> None:
    """Tell an engine what is to come, as long as this process has but one thread."""
    parts = sum(math.ceil((each.size or 1) / plan.part_size) for each in plan.inputs)
    engine.expect(parts, plan.config.rubric.get_ready)


class AuditDisplay:
    """Who shows how it goes; this one shows nothing."""

    def planned(self, plan: AuditPlan, sums: Aggregate) -> None:
        """What is about to be read, and what an audit that is gone on with came to."""

    def drawing(self, size: int) -> None:
        """A part was looked at for the sample, so many bytes."""

    def audited(self, size: int, skipped: int, sums: Aggregate) -> None:
        """A part of so many bytes is done; `skipped` bytes had been done by an earlier audit."""


@dataclass
class Audit:
    """An audit in the making; `state` is where it stands."""

    plan: AuditPlan
    place: AuditDirectory
    state: AuditState
    display: AuditDisplay = field(default_factory=AuditDisplay)
    stop: Stop = field(default_factory=Stop)
    clock: Callable[[], float] = time.monotonic

    def run(self, engine: Engine) -> AuditReport | None:
        """The report, once it is written; None where it was stopped before, and could go on."""
        started, began = datetime.now(UTC).isoformat(timespec="seconds"), self.clock()
        sums = self.state.aggregate = self.state.aggregate or Aggregate.whole()
        with (
            _Parts(self.plan.inputs, self.plan.part_size, self.stop) as parts,
            closing(AuditFiles(self.place, self.state)) as files,
        ):
            files.save()
            self.display.planned(self.plan, sums)
            config = self._drawn(engine, parts)
            done = config is not None and self._audit(engine, parts, config, files)
            files.save()
            if not done:
                return None
        seconds = round(self.clock() - began, 3)
        timing = AuditTiming(started=started, seconds=seconds, engine=self.plan.engine)
        report = conclude_audit(sums, self._conclusion(timing))
        self.place.finish(report)
        return report

    def _drawn(self, engine: Engine, parts: "_Parts") -> AuditConfig | None:
        """What is asked for, with the cutoff of the sample; None where drawing was stopped."""
        config, sampling = self.plan.config, self.plan.sampling
        if sampling is None:
            return config
        if self.state.cutoff is None:
            urn = Urn(sampling.size)
            work = partial(draw_part, config.where, sampling.seed, sampling.size)
            for lots in engine.map(work, parts.all(keep=True)):
                urn.add(lots)
                self.display.drawing(parts.size_of_next())
            if not parts.exhausted:
                return None
            self.state.population, self.state.cutoff = urn.population, urn.cutoff()
        return replace(config, draw=Draw(sampling.seed, self.state.cutoff))

    def _audit(self, engine: Engine, parts: "_Parts", config: AuditConfig, files: AuditFiles) -> bool:
        """Whether everything was done."""
        sums = self.state.aggregate or Aggregate.whole()
        saved = self.clock()
        for result in engine.map(partial(audit_part, config), parts.all(skip=self.state.parts)):
            files.append(result)
            sums.add(result.aggregate)
            self.display.audited(parts.size_of_next(), parts.skipped, sums)
            if self.clock() >= saved + SAVE_EVERY:
                files.save()
                saved = self.clock()
        return parts.exhausted

    def _conclusion(self, timing: AuditTiming) -> Conclusion:
        return Conclusion(
            self.plan.config, self.plan.inputs, self.plan.thresholds, self.state.fingerprints.inputs,
            self.plan.sampling, self.state.population, timing,
        )  # fmt: skip


class _Parts:
    """The parts of all inputs, as often as they are needed; a stream is kept in a file for its return."""

    def __init__(self, inputs: Sequence[Input], size: int, stop: Stop) -> None:
        self._inputs, self._size, self._stop = inputs, size, stop
        self._sizes: deque[int] = deque()
        self._spool: IO[bytes] | None = None
        self.exhausted = False
        self.skipped = 0

    def __enter__(self) -> "_Parts":
        return self

    def __exit__(self, *_: object) -> None:
        if self._spool is not None:
            with suppress(OSError):  # what was not written has been told
                self._spool.close()

    def all(self, *, skip: int = 0, keep: bool = False) -> Iterator[Part]:
        """From the first or a later one, until there are no more or it is to be stopped."""
        self.exhausted = False
        self._sizes.clear()
        for number, part in enumerate(self._cut(keep=keep)):
            if self._stop.reason:
                return
            if number < skip:
                self.skipped += _bytes_of(part)
                continue
            self._sizes.append(_bytes_of(part))
            yield part
        self.exhausted = True

    def size_of_next(self) -> int:
        """Bytes of the part whose result came; results come in the order of the parts."""
        return self._sizes.popleft()

    def _cut(self, *, keep: bool) -> Iterator[Part]:
        for number, each in enumerate(self._inputs):
            if each.size is None and (keep or self._spool is not None):
                yield from self._kept(number, each)
            else:
                yield from (Part(number, chunk) for chunk in each.chunks(self._size))

    def _kept(self, number: int, stream: Input) -> Iterator[Part]:
        """Standard input can be cut once."""
        if self._spool is None:
            with putting_aside():
                self._spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed when all is read
            for chunk in stream.chunks(self._size):
                with putting_aside():
                    pickle.dump(chunk, self._spool)
                    self._spool.flush()
                yield Part(number, chunk)
            return
        self._spool.seek(0)
        while True:
            try:
                chunk = pickle.load(self._spool)  # noqa: S301 - written above, in a file that only we can open
            except EOFError:
                return
            yield Part(number, chunk)


def _bytes_of(part: Part) -> int:
    body = part.chunk.body
    if isinstance(body, Span):
        return body.end - body.start
    return len(body) if isinstance(body, bytes) else sum(len(raw) for _, raw in body)
