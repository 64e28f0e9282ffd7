"""What came of a block of lines; where the compiled core can, it does all of it."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from harness.check import planted_misses
from harness.quick import core_of
from harness.records import Failure
from harness.settings import CheckSettings
from harness.tally import SHOWN_FAILURES, Tally


@dataclass
class CheckedBlock:
    """Lines of the report, counts, and the ids, one a line, which no two cases may share."""

    size: int
    results: bytes = b""
    failures: bytes = b""
    tally: Tally = field(default_factory=Tally)
    ids: bytes = b""
    wrong: bool = False


def quick_block(content: bytes, settings: CheckSettings, *, planted: bool) -> CheckedBlock | None:
    """The block by the compiled core; None where anything in it has to be looked at here."""
    core = core_of((), settings)
    if core is None:
        return None
    found = core.block(content, settings.similarity_threshold, SHOWN_FAILURES, planted)
    if found is None:
        return None
    results, failures, ids, (shown, alike, labels, slices, lost, missed) = found
    tally = Tally(lost=lost)
    for line in shown:
        tally.add_failure(msgspec.json.decode(line, type=Failure))
    for checks, statuses, negative, times in alike:
        tally.count(dict(zip(checks, statuses, strict=True)), negative, times)
    for name, label, status, times in labels:
        tally.labels[name][label, status] = times
    for name, passed, flagged in slices:
        tally.slices[name] = Counter({False: passed, True: flagged})
    tally.missed = [
        miss
        for identity, checks, statuses in missed
        for miss in planted_misses(identity, zip(checks, statuses, strict=True))
    ]
    return CheckedBlock(len(content), results, failures, tally, ids)
