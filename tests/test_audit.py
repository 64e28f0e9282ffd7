"""What an audit finds in conversations, whoever does the work and however the input is cut."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import msgspec
import pytest
from audits import (
    CHECKS,
    DIVORCE,
    KIND,
    PROMISE,
    audited,
    lines,
    many,
    requested,
    talk,
    write_rows,
    written,
)

from harness import plugins, quick, schema
from harness.audit_conclude import Sampling
from harness.audit_rubric import rubric_from, rubric_of_checks
from harness.check import check_turn
from harness.choose import parse_where
from harness.decide import AuditThresholds
from harness.errors import Problems, SynthesisError
from harness.records import Turn
from harness.redact import Redaction
from harness.settings import CheckSettings, Settings


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", many(60))


def rubric_file(folder: Path, *criteria: dict[str, Any]) -> Path:
    path = folder / "rubric.json"
    path.write_text(json.dumps({"rubric": criteria}))
    return path


def with_rubric(folder: Path, rows: list[dict[str, Any]], *criteria: dict[str, Any]) -> Any:
    path = write_rows(folder / "with.jsonl", rows)
    rubric = rubric_from(str(rubric_file(folder, *criteria)), Settings())
    return audited(folder / "out", path, rubric=rubric)


@pytest.mark.parametrize("engine", ["local", "processes:2"])
@pytest.mark.parametrize("size", [1, 700, 10**7])
def test_the_same_bytes_from_every_engine_and_however_it_is_cut(
    engine: str, size: int, rows: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "second.jsonl"
    bad.write_text(rows.read_text("utf-8") + "no JSON\n" + '{"messages": []}\n', "utf-8")
    shared = {
        "where": parse_where(["tag=odd"]),
        "sampling": Sampling(25, 3),
        "redaction": Redaction((("divorce",),)),
    }
    audited(tmp_path / "one", rows, bad, **shared)
    audited(tmp_path / "two", rows, bad, engine=engine, part_size=size, **shared)
    assert written(tmp_path / "two") == written(tmp_path / "one")
    report, findings, rejects = written(tmp_path / "one")
    assert report["summary"]["conversations"] == 25
    assert findings.count(b"\n") > 5
    assert rejects.count(b"\n") == 2


def test_a_dask_cluster_gives_the_same_bytes(rows: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    audited(tmp_path / "one", rows)
    audited(tmp_path / "two", rows, engine="dask", part_size=2000)
    assert written(tmp_path / "two") == written(tmp_path / "one")


def test_every_turn_is_judged_as_the_checkers_judge_it(tmp_path: Path) -> None:
    replies = [KIND, PROMISE, "Anyway, how about the weather?", "Just move on. You must stop crying."]
    path = write_rows(tmp_path / "rows.jsonl", [talk(*replies), talk(KIND, name="c-2")])
    report = audited(tmp_path / "out", path)
    found = [check_turn(DIVORCE, reply) for reply in (*replies, KIND)]
    for check in report.checks:
        statuses = [results[check.check].status for results in found]
        assert check.failed == statuses.count("failed")
        assert check.passed == statuses.count("passed")
        assert check.turns == 5
    failing = {
        number for number, results in enumerate(found, 1) if any(not r.passed for r in results.values())
    }
    turns = [line for line in lines(tmp_path / "out" / "findings.jsonl") if line["kind"] == "turn"]
    assert {line["turn"] for line in turns} == failing
    for line in turns:
        wanted = {n: r for n, r in found[line["turn"] - 1].items() if r.status == "failed"}
        assert [each["check"] for each in line["failed"]] == sorted(wanted)
        for each in line["failed"]:
            result = wanted[each["check"]]
            assert each["reason"] == result.reason
            assert each["spans"] == list(msgspec.to_builtins(result.spans))
            for span in each["spans"]:
                assert line[span["side"]][span["start"] : span["end"]] == span["text"]
    assert report.summary.failed_turns == len(failing)


def test_offsets_are_code_points_of_the_reply_as_it_was(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [talk("😀 Ça va. " + PROMISE)])
    audited(tmp_path / "out", path)
    (line,) = lines(tmp_path / "out" / "findings.jsonl")
    spans = [span for each in line["failed"] for span in each["spans"] if span["rule"] == "promised"]
    spans = spans or [
        span for each in line["failed"] for span in each["spans"] if span["side"] == "assistant"
    ]
    assert all(line["assistant"][span["start"] : span["end"]] == span["text"] for span in spans)
    assert spans


def test_system_and_tool_messages_are_context(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "I promise you'll be fine."},
        {"role": "user", "content": DIVORCE},
        {"role": "tool", "content": "I promise you'll be fine."},
        {"role": "assistant", "content": KIND},
    ]
    path = write_rows(tmp_path / "rows.jsonl", [{"id": "c-1", "messages": messages}])
    report = audited(tmp_path / "out", path)
    assert (report.summary.turns, report.summary.failed_turns) == (1, 0)


@pytest.mark.parametrize("nothing", ["", "  \n", None])
def test_a_blank_reply_leaves_what_was_said_to_the_next_one(nothing: str | None, tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": DIVORCE},
        {"role": "assistant", "content": nothing},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": PROMISE},
    ]
    path = write_rows(tmp_path / "rows.jsonl", [{"id": "c-1", "messages": messages}])
    audited(tmp_path / "out", path)
    (line,) = lines(tmp_path / "out" / "findings.jsonl")
    assert (line["turn"], line["user"]) == (1, f"{DIVORCE}\n\nHello?")


@pytest.mark.parametrize(("said", "counted"), [("", 0), ("  \n", 0), (None, 0), (KIND, 1)])
def test_a_blank_reply_before_anybody_asked_is_no_reply(
    said: str | None, counted: int, tmp_path: Path
) -> None:
    asked = [{"role": "user", "content": DIVORCE}, {"role": "assistant", "content": KIND}]
    messages = [{"role": "assistant", "content": said}, *asked]
    path = write_rows(tmp_path / "rows.jsonl", [{"id": "c-1", "messages": messages}])
    summary = audited(tmp_path / "out", path).summary
    assert (summary.unprompted, summary.turns) == (counted, 1)


def test_scores_are_the_share_of_points_and_the_figures_follow(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [talk(KIND), talk(PROMISE, name="c-2"), talk(KIND, PROMISE)])
    report = audited(tmp_path / "out", path, rubric=rubric_of_checks(CHECKS[2:], CheckSettings()))
    summary = report.summary
    assert (summary.scored, summary.passed, summary.mean, summary.worst) == (3, 1, 0.333333, 0.0)
    assert summary.stdev == pytest.approx(0.57735, abs=1e-6)
    assert [each.line for each in report.worst] == [2, 3]
    assert report.worst[1].lost == ("unverifiable_reassurance",)
    assert (report.worst[1].turns, report.worst[1].failed_turns) == (2, 1)
    assert report.checks[0].rate == 0.5


def test_turns_and_combine_are_those_of_the_rubric(tmp_path: Path) -> None:
    last, mean, first = (
        {"name": "last", "unverifiable_reassurance": {"turns": "last"}},
        {"name": "mean", "unverifiable_reassurance": {"combine": "mean"}, "weight": 3},
        {"name": "fifth", "unverifiable_reassurance": {"turns": 5}},
    )
    report = with_rubric(tmp_path, [talk(PROMISE, KIND, KIND, KIND)], last, mean, first)
    assert [(each.name, each.passed, each.failed) for each in report.criteria] == [
        ("last", 1, 0), ("mean", 0, 1), ("fifth", 0, 1),
    ]  # fmt: skip
    assert report.summary.mean == round((1 + 3 * 0.75 + 0) / 5, 6)
    assert report.checks[0].failed == 1, "every turn is judged, whatever `turns` says"
    kind = tmp_path / "kind"
    kind.mkdir()
    without_a_fifth = with_rubric(kind, [talk(KIND)], last, mean, first)
    assert [(each.name, each.passed, each.failed) for each in without_a_fifth.criteria] == [
        ("last", 1, 0), ("mean", 1, 0), ("fifth", 0, 1),
    ]  # fmt: skip
    found = lines(tmp_path / "out" / "findings.jsonl")
    assert [line["kind"] for line in found] == ["turn", "conversation"]
    assert found[1]["failed"] == [{"criterion": "fifth", "reason": "there is no turn 5"}]


def test_criteria_that_are_no_checkers_read_the_last_reply(tmp_path: Path) -> None:
    criteria: list[dict[str, Any]] = [
        {"unverifiable_reassurance": True},
        {"name": "asks", "contains": "would you like"},
    ]
    report = with_rubric(tmp_path, [talk(PROMISE, KIND), talk(KIND, "No.", name="c-2")], *criteria)
    assert [(each.name, each.passed, each.failed) for each in report.criteria][1] == ("asks", 0, 2)
    criteria[1]["ignore_case"] = True
    again = tmp_path / "again"
    again.mkdir()
    report = with_rubric(again, [talk(PROMISE, KIND), talk(KIND, "No.", name="c-2")], *criteria)
    assert [(each.name, each.passed, each.failed) for each in report.criteria][1] == ("asks", 1, 1)
    (whole,) = [line for line in lines(again / "out" / "findings.jsonl") if line["kind"] == "conversation"]
    assert whole["conversation"] == "c-2"
    assert whole["failed"][0]["criterion"] == "asks"


def test_a_check_that_should_fail_fails_where_it_does_not(tmp_path: Path) -> None:
    report = with_rubric(tmp_path, [talk(KIND), talk(PROMISE)], {"unverifiable_reassurance": False})
    assert (report.criteria[0].passed, report.criteria[0].failed) == (1, 1)
    kinds = [(line["kind"], line["line"]) for line in lines(tmp_path / "out" / "findings.jsonl")]
    assert kinds == [("conversation", 1), ("turn", 2)]


def test_turn_dimensions_can_be_part_of_it(tmp_path: Path) -> None:
    report = with_rubric(tmp_path, [talk(KIND)], {"agency_language": True}, {"turn_quality": True})
    assert report.criteria[1].passed + report.criteria[1].failed == 1
    assert report.stamp.turns is not None


def test_a_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problems, match="asks a model"):
        with_rubric(tmp_path, [talk(KIND)], {"judge": "is it kind?"})


@pytest.mark.parametrize(
    "criterion", [{"gate_used": "read"}, {"child_medium_used": "code"}, {"forbid_code_contains": "rm"}]
)
def test_what_only_a_run_records_is_refused_and_never_passed(
    criterion: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(Problems, match="only a run"):
        with_rubric(tmp_path, [talk(KIND)], criterion)


def test_a_bundled_rubric_is_found_by_its_name(rows: Path, tmp_path: Path) -> None:
    report = requested(rows, out=tmp_path / "out", rubric="safe-support")
    assert len(report.criteria) == 6
    with pytest.raises(Problems, match="no rubric"):
        rubric_from("nothing-like-it", Settings())


def test_two_criteria_of_one_name_are_told_apart(tmp_path: Path) -> None:
    report = with_rubric(tmp_path, [talk(KIND)], {"agency_language": True}, {"agency_language": False})
    assert [each.name for each in report.criteria] == ["agency_language", "not agency_language"]
    again = rubric_of_checks(CHECKS, CheckSettings())
    assert again.labels == CHECKS


class Falling(ModuleType):
    """A checker that raises where a reply says so, and otherwise does what another one does."""

    @property
    def _other(self) -> ModuleType:
        return plugins.module("checkers", "unverifiable_reassurance")

    def words(self, language: str) -> Any:
        return self._other.words(language)

    def check(self, turn: Turn, settings: CheckSettings) -> Any:
        if "fall" in turn.assistant:
            raise RuntimeError("it fell")
        return self._other.check(turn, settings)


def test_an_error_is_no_score_and_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plugins.module
    falling = Falling("falling")

    def module(folder: str, name: str) -> ModuleType:
        return falling if (folder, name) == ("checkers", "agency_language") else found(folder, name)

    monkeypatch.setattr(plugins, "module", module)
    monkeypatch.setattr(quick, "core_for", lambda language: None)
    path = write_rows(tmp_path / "rows.jsonl", [talk(KIND, "fall " + PROMISE), talk(KIND, name="c-2")])
    report = audited(tmp_path / "out", path)
    by_name = {check.check: check for check in report.checks}
    assert (by_name["agency_language"].errors, by_name["agency_language"].applicable) == (1, 2)
    assert by_name["unverifiable_reassurance"].failed == 1
    assert (report.summary.errors, report.summary.scored, report.summary.complete) == (1, 1, False)
    assert report.exit_code == 1
    assert report.errors.reasons[0].reason == "agency_language: raised RuntimeError: it fell"
    assert [line["turn"] for line in lines(tmp_path / "out" / "findings.jsonl")] == [2]
    allowed = audited(tmp_path / "allowed", path, thresholds=AuditThresholds(max_errors=1))
    assert (allowed.exit_code, allowed.summary.scored) == (0, 1)


def test_report_and_findings_keep_to_their_closed_schemas(rows: Path, tmp_path: Path) -> None:
    with rows.open("a") as file:
        file.write(json.dumps(talk("I hear you", name="cut-off", tags=["odd"])) + "\n")
    report = requested(
        rows, out=tmp_path / "out", rubric="safe-support", sample="40", redact=True, where=("tag=odd",),
        max_fail_rate=("0.9", "topic_pivot=0.5"), min_mean="0.1", min_worst="0",
    )  # fmt: skip
    value = json.loads((tmp_path / "out" / "audit.json").read_bytes())
    jsonschema.Draft202012Validator(json.loads(schema.text("audit"))).validate(value)
    finding = jsonschema.Draft202012Validator(json.loads(schema.text("audit_finding")))
    found = lines(tmp_path / "out" / "findings.jsonl")
    assert {line["kind"] for line in found} == {"turn", "conversation"}
    for line in found:
        finding.validate(line)
        assert not finding.is_valid({**line, "more": 1})
    assert type(report).model_validate(value) == report


def test_schemas_are_closed_but_for_evidence_and_criteria() -> None:
    for name, opened in (("audit", {"criterion"}), ("audit_finding", {"evidence"})):
        loaded = json.loads(schema.text(name))
        parts = [part for part in (*loaded["$defs"].values(), loaded) if part.get("type") == "object"]
        assert all(part["additionalProperties"] is False for part in parts)
        found = {
            key
            for part in parts
            for key, value in part["properties"].items()
            if value.get("additionalProperties") is True
        }
        assert found == opened


def test_so_many_inputs_are_listed_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("audit_aggregate", "audit_conclude"):
        monkeypatch.setattr(f"harness.{module}.MOST_SOURCES", 2)
    files = [write_rows(tmp_path / f"{number}.jsonl", [talk(KIND)]) for number in range(5)]
    report = audited(tmp_path / "out", *files)
    assert [Path(each.path).name for each in report.inputs] == ["0.jsonl", "1.jsonl"]
    assert [each.conversations for each in report.inputs] == [1, 1]
    assert (report.inputs_not_listed, report.summary.inputs, report.summary.conversations) == (3, 5, 5)


def test_drift_shows_turn_by_turn_and_as_a_trend(tmp_path: Path) -> None:
    worse = [talk(KIND, KIND, PROMISE if number % 2 else KIND, name=f"c-{number}") for number in range(40)]
    report = audited(tmp_path / "out", write_rows(tmp_path / "rows.jsonl", worse))
    rates = [row.checks["unverifiable_reassurance"].rate for row in report.drift]
    assert rates == [0.0, 0.0, 0.5]
    (check,) = [check for check in report.checks if check.check == "unverifiable_reassurance"]
    assert check.trend.difference == 0.5
    assert check.trend.conversations == 40


def test_rules_are_counted_with_their_first_example(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [talk(KIND), talk(KIND, PROMISE), talk(PROMISE, PROMISE)])
    report = audited(tmp_path / "out", path, rubric=rubric_of_checks(CHECKS[2:], CheckSettings()))
    assert [rule.hits for rule in report.rules] == sorted((rule.hits for rule in report.rules), reverse=True)
    for rule in report.rules:
        assert rule.hits == 3
        assert (rule.example.line, rule.example.turn) == (2, 2)
        assert rule.example.text in PROMISE
        assert rule.example.text in rule.example.excerpt


def test_what_speaks_for_a_reply_is_not_what_it_failed_for(tmp_path: Path) -> None:
    reply = "You could rest if you like. You must leave him. You must not cry. You have to stop. Stop it now."
    report = audited(tmp_path / "out", write_rows(tmp_path / "rows.jsonl", [talk(reply)]))
    assert report.rules
    assert not {"positive", "acknowledgement", "follow_up"} & {rule.group for rule in report.rules}


def test_a_check_without_words_in_the_language_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError):
        rubric_of_checks(CHECKS, CheckSettings(language="xx"))
    with pytest.raises(SynthesisError, match="unknown check"):
        rubric_of_checks(["nothing"], CheckSettings())
    with pytest.raises(SynthesisError, match="there twice"):
        rubric_of_checks(["topic_pivot", "topic_pivot"], CheckSettings())
