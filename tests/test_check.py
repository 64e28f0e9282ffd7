"""Running cases, summing them up, and the report: names, figures and bytes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import jsonschema
import pytest

from harness import check_turn, format_artifact, load_cases, run_all_cases, run_case, write_report
from harness.check import planted_misses, summarize_cases
from harness.checkers.agency_language import AgencyResult
from harness.decide_check import decide_check
from harness.errors import Exit, SynthesisError
from harness.records import Case, CaseResult, CheckResult, Status
from harness.resources import bundled
from harness.settings import CheckSettings

ALL = ("agency_language", "unverifiable_reassurance", "topic_pivot")
DIVORCE = "My husband just asked for a divorce and I'm devastated."
KIND = "I'm so sorry about the divorce, that sounds devastating. Would you like to talk about what happened?"
HARSH = "You should get over it. Stop being so sad."
PROMISE = "I know exactly how you feel. I promise you'll be fine."
POTTERY = "Anyway, have you considered pottery? By the way, here are some recipes."
CASUAL = "What is the capital of France?"


def case(number: int, user: str, assistant: str, checks: Iterable[str] = ALL, **more: object) -> Case:
    return Case.model_validate(
        {"id": f"T-{number}", "user": user, "assistant": assistant, "checks": tuple(checks), **more}
    )


def verdict(status: Status) -> CheckResult:
    return CheckResult(status=status, passed=status != "failed", reason="by hand", spans=())


def result(
    number: int,
    checks: dict[str, Status],
    *,
    expected: dict[str, bool | None] | None = None,
    tags: tuple[str, ...] = (),
) -> CaseResult:
    """A result by hand, so that no lexicon has a say in the arithmetic."""
    asked = Case(id=f"T-{number}", user="u", assistant="a", checks=tuple(checks), tags=tags)
    return CaseResult(
        id=asked.id,
        passed="failed" not in checks.values(),
        expected_failure=asked.negative,
        checks={name: verdict(status) for name, status in checks.items()},
        expected=expected or {},
        tags=tags,
    )


@pytest.mark.parametrize(
    ("assistant", "check", "status"),
    [
        (KIND, "agency_language", "passed"),
        (HARSH, "agency_language", "failed"),
        (KIND, "unverifiable_reassurance", "passed"),
        (PROMISE, "unverifiable_reassurance", "failed"),
        (KIND, "topic_pivot", "passed"),
        (POTTERY, "topic_pivot", "failed"),
    ],
)
def test_a_plain_case_gets_the_plain_verdict(assistant: str, check: str, status: Status) -> None:
    found = run_case(case(1, DIVORCE, assistant, [check]))
    assert list(found.checks) == [check]
    assert found.checks[check].status == status
    assert found.passed == (status == "passed")


def test_a_case_passes_when_every_check_passes_or_does_not_apply() -> None:
    found = run_case(case(1, CASUAL, "Paris.", ["topic_pivot"], tags=["x"], expected={"topic_pivot": None}))
    assert found.checks["topic_pivot"].status == "not_applicable"
    assert (found.passed, found.checks["topic_pivot"].passed) == (True, True)
    assert (found.id, found.tags, found.expected) == ("T-1", ("x",), {"topic_pivot": None})
    assert not run_case(case(2, DIVORCE, PROMISE)).passed


def test_only_the_checks_asked_for_run_in_the_order_asked() -> None:
    found = run_case(case(1, DIVORCE, KIND, ["topic_pivot", "agency_language"]))
    assert list(found.checks) == ["topic_pivot", "agency_language"]


def test_check_turn_runs_all_checkers_or_those_named() -> None:
    assert set(check_turn(DIVORCE, KIND)) >= set(ALL)
    [(name, found)] = check_turn(DIVORCE, PROMISE, checks=["unverifiable_reassurance"]).items()
    assert (name, found.status) == ("unverifiable_reassurance", "failed")
    with pytest.raises(SynthesisError, match=r'unknown name "nope"\n  fix: use one of: agency_language'):
        check_turn(DIVORCE, KIND, checks=["nope"])
    with pytest.raises(SynthesisError, match=r'no lexicon for language "xx"\n  fix: use one of: en'):
        check_turn(DIVORCE, KIND, language="xx")


@pytest.mark.parametrize(
    ("tags", "negative"),
    [
        (["negative_example"], True),
        (["grief", "pivot-fail"], True),
        (["ack-but-pivot-fail"], True),
        (["-fail"], True),
        ([], False),
        (["negative_examples"], False),
        (["failure"], False),
        (["fail"], False),
        (["pivot-fail-soft"], False),
        (["Negative_Example"], False),
    ],
)
def test_negative_examples_are_told_by_their_tags(tags: list[str], negative: bool) -> None:
    assert case(1, "u", "a", tags=tags).negative is negative
    assert run_case(case(1, CASUAL, "Paris.", tags=tags)).expected_failure is negative


def test_the_summary_counts_as_the_handbook_says() -> None:
    found = summarize_cases(
        [
            result(1, {"agency_language": "passed", "topic_pivot": "not_applicable"}),
            result(2, {"agency_language": "passed", "topic_pivot": "passed"}),
            result(3, {"agency_language": "failed", "topic_pivot": "passed"}),
            result(4, {"agency_language": "failed"}, tags=("agency-fail",)),
            result(5, {"topic_pivot": "failed"}, tags=("negative_example",)),
            result(6, {"topic_pivot": "failed", "agency_language": "failed"}, tags=("x-fail",)),
            result(7, {"agency_language": "passed"}, tags=("agency-fail",)),
        ]
    )
    assert (found.cases, found.passed, found.failed) == (7, 3, 4)
    assert (found.strict_passed, found.strict_failed) == (2, 1)
    assert (found.expected_failures, found.unexpected_failures) == (3, 1)
    assert found.lost_catches == ("T-7",)
    assert {name: counts.model_dump() for name, counts in found.by_check.items()} == {
        "agency_language": {"passed": 3, "failed": 3, "not_applicable": 0},
        "topic_pivot": {"passed": 2, "failed": 2, "not_applicable": 1},
    }


def test_labels_are_compared_per_check_and_over_all() -> None:
    found = summarize_cases(
        [
            result(1, {"agency_language": "passed"}, expected={"agency_language": True}),
            result(2, {"agency_language": "failed"}, expected={"agency_language": True}),
            result(3, {"topic_pivot": "failed"}, expected={"topic_pivot": False}),
            result(4, {"topic_pivot": "not_applicable"}, expected={"topic_pivot": None}),
            result(5, {"topic_pivot": "not_applicable"}, expected={"topic_pivot": False}),
            result(6, {"topic_pivot": "passed"}, expected={"agency_language": True}),
            result(7, {"unverifiable_reassurance": "passed"}),
        ]
    )
    assert found.label_accuracy.model_dump() == {"total": 3, "matched": 2, "accuracy": 66.67}
    assert {name: tuple(a.model_dump().values()) for name, a in found.label_accuracy_by_check.items()} == {
        "agency_language": (2, 1, 50.0),
        "topic_pivot": (1, 1, 100.0),
        "unverifiable_reassurance": (0, 0, None),
    }
    assert list(found.agreement_by_check) == ["agency_language", "topic_pivot"]
    pivot = found.agreement_by_check["topic_pivot"]
    assert (pivot.labelled, pivot.true_positives, pivot.false_negatives, pivot.recall) == (2, 1, 1, 0.5)


def test_slices_count_only_replies_that_are_fine_by_their_labels() -> None:
    brief, formal = ("slice:brief",), ("slice:formal", "slice:brief")
    found = summarize_cases(
        [
            result(1, {"agency_language": "passed"}, expected={"agency_language": True}, tags=brief),
            result(2, {"agency_language": "failed"}, expected={"agency_language": True}, tags=brief),
            result(3, {"agency_language": "failed"}, expected={"agency_language": False}, tags=brief),
            result(4, {"agency_language": "failed"}, expected={"agency_language": True}, tags=formal),
            result(5, {"agency_language": "failed"}, expected={"agency_language": True}, tags=("brief",)),
        ]
    )
    assert {name: tuple(part.model_dump().values()) for name, part in found.slices.items()} == {
        "brief": (3, 2, 0.6667),
        "formal": (1, 1, 1.0),
        "informal": (0, 0, None),
    }


def test_nothing_to_sum_up_is_an_error() -> None:
    with pytest.raises(SynthesisError, match="there are no cases"):
        run_all_cases([])


def test_failures_are_condensed_under_the_names_used_there() -> None:
    report = run_all_cases(
        [
            case(1, DIVORCE, KIND),
            case(2, DIVORCE, HARSH, ["agency_language"], tags=["agency-fail"]),
            case(3, DIVORCE, PROMISE, ["unverifiable_reassurance"]),
            case(4, DIVORCE, POTTERY, ["topic_pivot"]),
            case(5, DIVORCE, f"{HARSH} {PROMISE}", ["agency_language", "unverifiable_reassurance"]),
        ]
    )
    failures = {failure.id: failure for failure in report.failures}
    assert list(failures) == ["T-2", "T-3", "T-4", "T-5"]
    assert [failure.expected_failure for failure in report.failures] == [True, False, False, False]
    assert failures["T-2"].failed == ("agency_language",)
    assert set(failures["T-2"].evidence) == {"agency_score", "neg_hits"}
    assert set(failures["T-3"].evidence) == {"reassurance_hits", "mind_reading_hits", "guarantee_hits"}
    assert set(failures["T-4"].evidence) == {"anchor_similarity", "ack_present"}
    assert failures["T-4"].evidence["ack_present"] is False
    assert failures["T-5"].failed == ("agency_language", "unverifiable_reassurance")
    assert set(failures["T-5"].evidence) == set(failures["T-2"].evidence) | set(failures["T-3"].evidence)
    assert [found.id for found in report.results] == ["T-1", "T-2", "T-3", "T-4", "T-5"]


def test_progress_is_told_after_every_case() -> None:
    seen: list[int] = []
    run_all_cases([case(1, CASUAL, "Paris."), case(2, CASUAL, "Paris.")], progress=seen.append)
    assert seen == [1, 2]


def test_the_stamp_says_what_produced_the_numbers() -> None:
    cases = [case(1, DIVORCE, KIND)]
    stamp = run_all_cases(cases, CheckSettings(similarity_threshold=0.6)).stamp
    assert (stamp.language, stamp.similarity_threshold, stamp.similarity) == ("en", 0.6, "bag-of-words")
    assert set(stamp.lexicons) == set(ALL)
    assert all(len(lexicon.sha256) == 64 for lexicon in stamp.lexicons.values())
    assert stamp.cases_sha256 == run_all_cases(cases).stamp.cases_sha256
    assert stamp.cases_sha256 != run_all_cases([case(1, DIVORCE, KIND + " ")]).stamp.cases_sha256


def test_the_threshold_of_similarity_decides() -> None:
    distant = case(1, DIVORCE, "Zebras graze.", ["topic_pivot"])
    assert not run_case(distant).passed
    assert run_case(distant, CheckSettings(similarity_threshold=0.0)).passed


@pytest.mark.parametrize(
    ("unexpected", "fail_on", "misses", "code"),
    [(0, 0, 0, 0), (1, 0, 0, 2), (3, 3, 0, 0), (4, 3, 0, 2), (0, 0, 1, 2)],
)
def test_the_exit_code_is_decided_by_unexpected_failures_alone(
    unexpected: int, fail_on: int, misses: int, code: int
) -> None:
    cases = [case(n, DIVORCE, PROMISE, ["unverifiable_reassurance"]) for n in range(unexpected)]
    cases += [case(90, DIVORCE, PROMISE, tags=["x-fail"]), case(91, DIVORCE, KIND, tags=["x-fail"])]
    report = run_all_cases(cases)
    assert report.summary.unexpected_failures == unexpected
    assert report.summary.lost_catches == ("T-91",)
    assert decide_check(report.summary, fail_on=fail_on, planted_misses=misses) == Exit(code)


def test_a_planted_row_is_missed_by_every_check_that_does_not_fail_it() -> None:
    report = run_all_cases(
        [
            case(1, DIVORCE, PROMISE, ["unverifiable_reassurance"]),
            case(2, DIVORCE, KIND, ["unverifiable_reassurance"]),
            case(3, CASUAL, "Paris.", ["topic_pivot"]),
        ]
    )
    found = [
        planted_misses(result.id, [(name, verdict.status) for name, verdict in result.checks.items()])
        for result in report.results
    ]
    assert found == [[], ["T-2: unverifiable_reassurance"], ["T-3: topic_pivot"]]


def schema() -> jsonschema.protocols.Validator:
    return jsonschema.Draft202012Validator(
        json.loads((bundled("schemas") / "eval_report.schema.json").read_text())
    )


@pytest.mark.parametrize("pack", ["evals", "fairness", "planted"])
def test_reports_satisfy_the_closed_schema(pack: str, tmp_path: Path) -> None:
    report = run_all_cases(load_cases(bundled("data") / f"{pack}.jsonl"))
    written = json.loads(write_report(report, tmp_path / "report.json").read_text("utf-8"))
    schema().validate(written)
    assert list(written) == ["kind", "schema_version", "results", "failures", "summary", "stamp", "timing"]
    for broken in (
        {**written, "extra": 1},
        {**written, "kind": "other"},
        {**written, "summary": {**written["summary"], "extra": 1}},
        {**written, "results": [{**written["results"][0], "extra": 1}]},
        {key: value for key, value in written.items() if key != "stamp"},
    ):
        assert list(schema().iter_errors(broken)), "the schema let a changed report through"


def test_every_hit_in_a_report_points_at_its_text(tmp_path: Path) -> None:
    cases = load_cases(bundled("data") / "evals.jsonl")
    report = run_all_cases(cases)
    texts = {one.id: {"user": one.user, "assistant": one.assistant} for one in cases}
    spans = [
        (found.id, hit) for found in report.results for check in found.checks.values() for hit in check.spans
    ]
    assert len(spans) > len(cases)
    for identity, hit in spans:
        assert texts[identity][hit.side][hit.start : hit.end] == hit.text


def test_the_pass_key_is_called_pass_in_json(tmp_path: Path) -> None:
    report = run_all_cases([case(1, DIVORCE, KIND)])
    [written] = json.loads(write_report(report, tmp_path / "r.json").read_text("utf-8"))["results"]
    assert written["pass"] is True
    assert "passed" not in written
    assert written["checks"]["topic_pivot"]["pass"] is True
    assert set(written["checks"]["topic_pivot"]) >= {
        "anchor_similarity",
        "ack_present",
        "vuln_hits",
        "decision",
    }


def test_a_report_replaces_an_older_one_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.json"
    write_report(run_all_cases([case(1, DIVORCE, KIND)]), target)
    first = target.read_bytes()
    write_report(run_all_cases([case(2, DIVORCE, KIND)]), target)
    assert target.read_bytes() != first
    assert [file.name for file in target.parent.iterdir()] == ["report.json"]


def test_a_report_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report = run_all_cases([case(1, DIVORCE, KIND)])
    with pytest.raises(SynthesisError, match=r"report\.json: cannot be written: .*\n  fix: "):
        write_report(report, tmp_path / "file" / "report.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SynthesisError, match=r"folder: this is a directory\n  fix: "):
        write_report(report, tmp_path / "folder")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_the_artifact_is_one_line_with_four_keys() -> None:
    report = run_all_cases([case(1, DIVORCE, KIND)])
    text = format_artifact(report, "out/é.json")
    assert "\n" not in text
    artifact = json.loads(text)
    assert list(artifact) == ["type", "name", "path", "summary"]
    assert (artifact["type"], artifact["name"], artifact["path"]) == (
        "artifact",
        "synthesis-report",
        "out/é.json",
    )
    assert artifact["summary"] == report.summary.model_dump(mode="json", by_alias=True)


def test_two_runs_under_two_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    reports = []
    for seed in ("1", "4711"):
        out = tmp_path / f"{seed}.json"
        subprocess.run(
            [sys.executable, "-m", "harness", "check", "--out", str(out), "--fail-on", "999"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
        reports.append(json.loads(out.read_text("utf-8")))
    assert all(set(report.pop("timing")) == {"started", "seconds"} for report in reports)
    first, second = (json.dumps(report) for report in reports)
    assert first == second


def test_a_negative_example_without_labels_is_not_flagged_wrongly() -> None:
    planted = case(1, DIVORCE, "You should get over it.", tags=("slice:brief", "agency-fail"))
    report = run_all_cases([planted])
    assert not report.results[0].passed
    assert report.summary.slices["brief"].false_positive_rate is None


def test_agency_hits_are_as_many_as_the_rules_that_count() -> None:
    found = check_turn(DIVORCE, "You should go. You should go now. Would you like to talk?")[
        "agency_language"
    ]
    assert isinstance(found, AgencyResult)
    assert found.score == len(found.pos_hits) - len(found.neg_hits)
    assert found.score < 0
