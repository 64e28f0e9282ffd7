"""JSON Schemas, generated from the records: the contract for files, and what editors use."""

import json
from collections.abc import Callable
from typing import Any

from harness import plugins
from harness.records import Case, CheckReport, CheckResult, value_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def names() -> list[str]:
    """The schemas there are."""
    return sorted(_MAKERS)


def text(name: str) -> str:
    """One schema as the text of its file."""
    return json.dumps(_MAKERS[name](), indent=2, ensure_ascii=False) + "\n"


def _case() -> dict[str, Any]:
    """A label may be null for `topic_pivot`, and for checkers of other packages that may not apply."""
    schema = Case.model_json_schema(mode="validation")
    schema["properties"]["expected"]["properties"] = {
        name: {"type": "boolean"} for name in plugins.own("checkers") if name != "topic_pivot"
    }
    schema["title"] = "A labelled exchange: one line of a case file"
    return {"$schema": DIALECT, **schema}


def _check_report() -> dict[str, Any]:
    """Closed: our own checkers' results by their records, those of other packages by what all share."""
    schema = CheckReport.model_json_schema(mode="serialization", by_alias=True)
    results = {
        name: plugins.module("checkers", name).check.__annotations__["return"]
        for name in plugins.own("checkers")
    }
    schema["properties"]["results"]["items"]["properties"]["checks"] = {
        "type": "object",
        "properties": {name: value_schema(result) for name, result in results.items()},
        "additionalProperties": {**value_schema(CheckResult), "additionalProperties": True},
    }
    schema["title"] = "The report of synthesis check"
    return {"$schema": DIALECT, **schema}


def _scenario() -> dict[str, Any]:
    from harness.scenario_schema import scenario_file

    return {"$schema": DIALECT, **scenario_file()}


def _rubric() -> dict[str, Any]:
    from harness.scenario_schema import rubric_file

    return {"$schema": DIALECT, **rubric_file()}


def _transcript() -> dict[str, Any]:
    from harness.transcript import EVENTS

    schema = EVENTS.json_schema(mode="serialization")
    return {"$schema": DIALECT, "title": "An event: one line of a transcript", **schema}


def _run_report() -> dict[str, Any]:
    from harness.run_report import RunReport

    schema = RunReport.model_json_schema(mode="serialization", by_alias=True)
    schema["title"] = "The report of synthesis eval and synthesis score"
    return {"$schema": DIALECT, **schema}


def _agreement() -> dict[str, Any]:
    from harness.agreement_report import AgreementReport

    schema = AgreementReport.model_json_schema(mode="serialization")
    schema["title"] = "What synthesis agree prints"
    return {"$schema": DIALECT, **schema}


def _audit() -> dict[str, Any]:
    from harness.audit_report import AuditReport

    schema = AuditReport.model_json_schema(mode="serialization")
    schema["title"] = "The report of synthesis audit"
    return {"$schema": DIALECT, **schema}


def _audit_finding() -> dict[str, Any]:
    from harness.audit_report import FINDINGS

    schema = FINDINGS.json_schema(mode="serialization")
    return {"$schema": DIALECT, "title": "What failed: one line of an audit's findings", **schema}


def _compare() -> dict[str, Any]:
    from harness.compare_report import CompareReport

    schema = CompareReport.model_json_schema(mode="serialization")
    schema["title"] = "What synthesis compare writes"
    return {"$schema": DIALECT, **schema}


def _power() -> dict[str, Any]:
    from harness.power_report import PowerReport

    schema = PowerReport.model_json_schema(mode="serialization")
    schema["title"] = "What synthesis power prints"
    return {"$schema": DIALECT, **schema}


def _aa() -> dict[str, Any]:
    from harness.aa_report import AaReport

    schema = AaReport.model_json_schema(mode="serialization")
    schema["title"] = "What synthesis aa prints"
    return {"$schema": DIALECT, **schema}


def _history() -> dict[str, Any]:
    from harness.history_report import HistoryReport

    schema = HistoryReport.model_json_schema(mode="serialization")
    schema["title"] = "What synthesis history prints"
    return {"$schema": DIALECT, **schema}


def _baseline() -> dict[str, Any]:
    from harness.baselines import Baseline

    schema = Baseline.model_json_schema(mode="serialization")
    schema["title"] = "What a baseline says about itself: baselines/NAME/baseline.json"
    return {"$schema": DIALECT, **schema}


_MAKERS: dict[str, Callable[[], dict[str, Any]]] = {
    "aa": _aa,
    "agreement": _agreement,
    "audit": _audit,
    "audit_finding": _audit_finding,
    "baseline": _baseline,
    "compare": _compare,
    "eval_case": _case,
    "eval_report": _check_report,
    "history": _history,
    "power": _power,
    "rubric": _rubric,
    "run_report": _run_report,
    "scenario": _scenario,
    "transcript": _transcript,
}
