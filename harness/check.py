"""Score turns and labelled cases with the checkers, and sum a list of cases up."""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from harness import plugins
from harness.cases import CaseRow
from harness.errors import SynthesisError
from harness.problems import shown
from harness.quick import quick_results
from harness.records import (
    Case,
    CaseResult,
    CheckReport,
    CheckResult,
    CheckStamp,
    CheckSummary,
    CheckTiming,
    Failure,
    LexiconStamp,
    Status,
    Turn,
)
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.tally import tally_of
from harness.version import VERSION


def check_all(names: Sequence[str], turn: Turn, settings: CheckSettings) -> list[CheckResult]:
    """Some checkers, by their public names, on one turn."""
    found = quick_results(turn, names, settings)
    return [check_one(name, turn, settings) for name in names] if found is None else found


def check_one(name: str, turn: Turn, settings: CheckSettings) -> CheckResult:
    """The checker itself, whatever the compiled core would say."""
    result: CheckResult = plugins.module("checkers", name).check(turn, settings)
    if result.status == "error":
        raise SynthesisError(f"could not be judged: {result.reason}", where=name, fix="mend the checker")
    return result


def prepare_checks(names: Sequence[str], turns: Sequence[Turn], settings: CheckSettings) -> None:
    """Let checkers that can look at many turns at once do so; their verdicts are the same without it."""
    for name in names:
        module = plugins.module("checkers", name)
        if hasattr(module, "prepare"):
            module.prepare(turns, settings)


def check_turn(
    user: str, assistant: str, checks: Sequence[str] | None = None, language: str = "en"
) -> dict[str, CheckResult]:
    """Every checker, or those named, on one exchange."""
    turn, settings = Turn(user=user, assistant=assistant), CheckSettings(language=language)
    names = plugins.names("checkers") if checks is None else checks
    return dict(zip(names, check_all(names, turn, settings), strict=True))


def run_case(case: Case, settings: CheckSettings = CheckSettings()) -> CaseResult:
    """All checks a case asks for."""
    turn = Turn(user=case.user, assistant=case.assistant)
    return case_result(case, check_all(case.checks, turn, settings))


def run_case_plainly(case: Case, settings: CheckSettings) -> CaseResult:
    """The same by the checkers themselves, where the compiled core has been asked and cannot do it."""
    turn = Turn(user=case.user, assistant=case.assistant)
    return case_result(case, [check_one(name, turn, settings) for name in case.checks])


def case_result(case: Case, results: Sequence[CheckResult]) -> CaseResult:
    """What came of a case, by the results of its checks."""
    checks = dict(zip(case.checks, results, strict=True))
    return CaseResult(
        id=case.id,
        passed=all(result.passed for result in checks.values()),
        expected_failure=case.negative,
        checks=checks,
        expected=case.expected,
        tags=case.tags,
    )


def prepare_cases(cases: Iterable[CaseRow], settings: CheckSettings) -> None:
    """Look at many cases at once, each with the checks it asks for."""
    asked: dict[str, list[Turn]] = {}
    for case in cases:
        turn = Turn(user=case.user, assistant=case.assistant)
        for name in case.checks:
            asked.setdefault(name, []).append(turn)
    for name, turns in asked.items():
        prepare_checks([name], turns, settings)


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
    tally = tally_of(results)
    return CheckReport(
        summary=tally.summary(),
        failures=tuple(failure_of(result) for result in results if not result.passed),
        results=tuple(results),
        stamp=make_check_stamp(tally.names, settings, measured_by, digest.hexdigest()),
        timing=CheckTiming(
            started=started.isoformat(timespec="seconds"), seconds=round(time.perf_counter() - clock, 6)
        ),
    )


def summarize_cases(results: Iterable[CaseResult]) -> CheckSummary:
    """Counts, agreement with the labels, false positives per slice, and what is no longer caught."""
    return tally_of(results).summary()


def failure_of(result: CaseResult) -> Failure:
    """A failed case, condensed."""
    failed = {name: verdict for name, verdict in result.checks.items() if not verdict.passed}
    evidence = {key: value for verdict in failed.values() for key, value in verdict.condensed().items()}
    return Failure(
        id=result.id, failed=tuple(failed), evidence=evidence, expected_failure=result.expected_failure
    )


def make_check_stamp(
    names: Iterable[str], settings: CheckSettings, measured_by: str, digest: str
) -> CheckStamp:
    """What produced the numbers."""
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


def planted_misses(identity: str, verdicts: Iterable[tuple[str, Status]]) -> list[str]:
    """The checks of a planted row that did not fail, as `id: check`: where a checker has gone blind."""
    return [f"{shown(identity)}: {name}" for name, status in verdicts if status != "failed"]
