"""Score turns and labelled cases with the checkers, and sum a list of cases up."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from harness import plugins
from harness.agreement import Pair, agreement, label_accuracy
from harness.errors import SynthesisError
from harness.problems import shown
from harness.records import (
    Case,
    CaseResult,
    CheckCounts,
    CheckReport,
    CheckResult,
    CheckStamp,
    CheckSummary,
    CheckTiming,
    Failure,
    LexiconStamp,
    Slice,
    Turn,
)
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.version import VERSION

SLICES = ("brief", "informal")
"""Reported even when no case belongs to them; any other tag `slice:NAME` makes a slice too."""


def check_one(name: str, turn: Turn, settings: CheckSettings) -> CheckResult:
    """One checker, by its public name, on one turn."""
    result: CheckResult = plugins.module("checkers", name).check(turn, settings)
    if result.status == "error":
        raise SynthesisError(f"could not be judged: {result.reason}", where=name, fix="mend the checker")
    return result


def check_turn(
    user: str, assistant: str, checks: Sequence[str] | None = None, language: str = "en"
) -> dict[str, CheckResult]:
    """Every checker, or those named, on one exchange."""
    turn, settings = Turn(user=user, assistant=assistant), CheckSettings(language=language)
    names = plugins.names("checkers") if checks is None else checks
    return {name: check_one(name, turn, settings) for name in names}


def run_case(case: Case, settings: CheckSettings = CheckSettings()) -> CaseResult:
    """All checks a case asks for."""
    turn = Turn(user=case.user, assistant=case.assistant)
    checks = {name: check_one(name, turn, settings) for name in case.checks}
    return CaseResult(
        id=case.id,
        passed=all(result.passed for result in checks.values()),
        expected_failure=case.negative,
        checks=checks,
        expected=case.expected,
        tags=case.tags,
    )


def run_all_cases(
    cases: Iterable[Case],
    settings: CheckSettings = CheckSettings(),
    *,
    progress: Callable[[int], None] | None = None,
) -> CheckReport:
    """Run every case and sum up; `progress` is called with the number done so far."""
    started, clock = datetime.now(UTC), time.perf_counter()
    measured_by = similarity_name(settings.similarity)
    digest = hashlib.sha256()
    results: list[CaseResult] = []
    for case in cases:
        results.append(run_case(case, settings))
        digest.update(case.model_dump_json().encode() + b"\n")
        if progress is not None:
            progress(len(results))
    return CheckReport(
        summary=summarize_cases(results),
        failures=tuple(_failure(result) for result in results if not result.passed),
        results=tuple(results),
        stamp=_stamp(results, settings, measured_by, digest.hexdigest()),
        timing=CheckTiming(
            started=started.isoformat(timespec="seconds"), seconds=round(time.perf_counter() - clock, 6)
        ),
    )


def summarize_cases(results: Sequence[CaseResult]) -> CheckSummary:
    """Counts, agreement with the labels, false positives per slice, and what is no longer caught."""
    if not results:
        raise SynthesisError("there are no cases to sum up", fix="give at least one case")
    verdicts = Counter((result.passed, result.expected_failure) for result in results)
    names = sorted({name for result in results for name in result.checks})
    pairs = {name: _labelled(results, name) for name in names}
    return CheckSummary(
        cases=len(results),
        passed=verdicts[True, False] + verdicts[True, True],
        failed=verdicts[False, False] + verdicts[False, True],
        strict_passed=verdicts[True, False],
        strict_failed=verdicts[False, False],
        expected_failures=verdicts[False, True],
        unexpected_failures=verdicts[False, False],
        by_check={name: _counts(results, name) for name in names},
        label_accuracy=label_accuracy(pair for name in names for pair in pairs[name]),
        label_accuracy_by_check={name: label_accuracy(pairs[name]) for name in names},
        agreement_by_check={name: agreement(pairs[name]) for name in names if pairs[name]},
        slices=_slices(results),
        lost_catches=tuple(result.id for result in results if result.expected_failure and result.passed),
    )


def _labelled(results: Sequence[CaseResult], name: str) -> list[Pair]:
    return [
        (result.expected[name], result.checks[name].status)
        for result in results
        if name in result.checks and name in result.expected
    ]


def _counts(results: Sequence[CaseResult], name: str) -> CheckCounts:
    seen = Counter(result.checks[name].status for result in results if name in result.checks)
    return CheckCounts(passed=seen["passed"], failed=seen["failed"], not_applicable=seen["not_applicable"])


def _slices(results: Sequence[CaseResult]) -> dict[str, Slice]:
    """Only replies that are fine by every label they have count: what is flagged there is flagged wrongly."""
    tagged = {
        tag.removeprefix("slice:") for result in results for tag in result.tags if tag.startswith("slice:")
    }
    return {name: _slice(results, name) for name in sorted(tagged.union(SLICES))}


def _slice(results: Sequence[CaseResult], name: str) -> Slice:
    fine = [
        result
        for result in results
        if f"slice:{name}" in result.tags
        and not result.expected_failure
        and False not in result.expected.values()
    ]
    flagged = sum(not result.passed for result in fine)
    rate = round(flagged / len(fine), 4) if fine else None
    return Slice(checked=len(fine), flagged=flagged, false_positive_rate=rate)


def _failure(result: CaseResult) -> Failure:
    failed = {name: verdict for name, verdict in result.checks.items() if not verdict.passed}
    evidence = {key: value for verdict in failed.values() for key, value in verdict.condensed().items()}
    return Failure(
        id=result.id, failed=tuple(failed), evidence=evidence, expected_failure=result.expected_failure
    )


def _stamp(
    results: Sequence[CaseResult], settings: CheckSettings, measured_by: str, digest: str
) -> CheckStamp:
    names = sorted({name for result in results for name in result.checks})
    return CheckStamp(
        tool_version=VERSION,
        language=settings.language,
        similarity_threshold=settings.similarity_threshold,
        similarity=measured_by,
        cases_sha256=digest,
        lexicons={name: lexicon_stamp(name, settings.language) for name in names},
    )


def lexicon_stamp(name: str, language: str) -> LexiconStamp:
    """Which words a checker uses in a language."""
    words = plugins.module("checkers", name).words(language)
    return LexiconStamp(language=language, version=words.version, sha256=words.sha256)


def planted_misses(report: CheckReport) -> list[str]:
    """Planted rows of which some check did not fail, as `id: check`: where a checker has gone blind."""
    return [
        f"{shown(result.id)}: {name}"
        for result in report.results
        for name, verdict in result.checks.items()
        if verdict.status != "failed"
    ]
