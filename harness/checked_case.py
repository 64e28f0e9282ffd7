"""A checked case as a report has it: a line for its result and, where it failed, one for that.

Where the compiled core knows the checks it writes the lines, and no record is made.
"""

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from harness.cases import CaseRow
from harness.check import failure_of, run_case_plainly
from harness.records import Case, Status
from harness.settings import CheckSettings

if TYPE_CHECKING:
    from harness._core import Core

_encode = msgspec.json.Encoder().encode
_UNLABELLED = b',"expected":{},"tags":[]}'


class CheckedCase(NamedTuple):
    """The statuses in the order of the case's checks, and the lines."""

    statuses: tuple[Status, ...]
    result: bytes
    failure: bytes | None


def quick_case(row: CaseRow, core: "Core", settings: CheckSettings) -> CheckedCase | None:
    """A case by the compiled core; None where it cannot do it."""
    negative, rest = False, _UNLABELLED
    if row.tags or row.expected:
        negative = row.negative
        rest = b',"expected":%b,"tags":%b}' % (_encode(row.expected), _encode(row.tags))
    found = core.lines(
        row.user, row.assistant, row.checks, settings.similarity_threshold, row.id, negative, rest
    )
    return None if found is None else CheckedCase._make(found)


def plain_case(row: CaseRow, settings: CheckSettings) -> CheckedCase:
    """A case by the checkers themselves."""
    result = run_case_plainly(Case(**msgspec.structs.asdict(row)), settings)
    statuses = tuple([verdict.status for verdict in result.checks.values()])
    return CheckedCase(statuses, _encode(result), None if result.passed else _encode(failure_of(result)))
