"""Reports of runs with judges, made of the report's own records, and labels for them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from harness.run_report import (
    CriterionScore,
    RunReport,
    RunStamp,
    RunSummary,
    RunTiming,
    ScenarioReport,
    TrialReport,
)

Given = bool | float | Literal["not_applicable", "error"]


def verdict(name: str, given: Given, key: str = "judge", **more: Any) -> CriterionScore:
    """A verdict, or so many points of `max_score`: all of them pass, fewer fail."""
    worth = more.get("max_score", 1.0)
    score = None if isinstance(given, str) else worth * given if isinstance(given, bool) else given
    status = given if isinstance(given, str) else "passed" if score == worth else "failed"
    passed = {"passed": True, "not_applicable": True, "failed": False, "error": None}[status]
    parts = {"max_score": worth, "reason": f"{name} says {given}", "evidence": {}, "hits": (), **more}
    whole = {"name": name, "criterion": key, "status": status, "pass": passed, "score": score, **parts}
    return CriterionScore.model_validate(whole)


def trial(seed: int, *criteria: CriterionScore, error: str | None = None) -> TrialReport:
    return TrialReport(
        seed=seed,
        status="error" if error else "scored",
        score=None,
        error=error,
        terminated=True,
        transcript=f"transcripts/t-{seed}.jsonl",
        fingerprint="f",
        criteria=criteria,
    )


def scenario_report(name: str, *trials: TrialReport, **more: Any) -> ScenarioReport:
    """`more` may say how many trials were `not_run`, and what the `rubric` was."""
    return ScenarioReport(
        name=name,
        file="s.json",
        tags=(),
        subject={"type": "scripted"},
        system_sha256=None,
        rubric=more.get("rubric", ()),
        mean=None,
        worst=None,
        stdev=None,
        scored=len(trials),
        errors=0,
        not_run=more.get("not_run", 0),
        trials=trials,
    )


def run_report(*scenarios: ScenarioReport) -> RunReport:
    return RunReport(
        summary=RunSummary(
            scenarios=len(scenarios),
            trials=0,
            scored=0,
            passed=0,
            not_applicable=0,
            errors=0,
            not_run=0,
            mean=None,
            worst=None,
            stdev=None,
            worst_scenario=None,
            worst_scenario_mean=None,
            complete=True,
            stopped=None,
        ),
        thresholds=(),
        exit_code=0,
        scenarios=scenarios,
        stamp=RunStamp(
            tool_version="0",
            transcript_version=1,
            language="en",
            similarity="token",
            similarity_threshold=0.2,
            lexicons={},
        ),
        timing=RunTiming(started="2026-01-01T00:00:00+00:00", seconds=0, trials_seconds=None),
    )


def write_run(folder: Path, *scenarios: ScenarioReport) -> Path:
    """A run's folder with nothing but its report."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(run_report(*scenarios).model_dump_json(by_alias=True), "utf-8")
    return folder


def label(seed: int, said: object, rater: str | None = None, **more: object) -> dict[str, object]:
    """A label for the criterion `kind` of the scenario `talk`."""
    who = {} if rater is None else {"rater": rater}
    return {"scenario": "talk", "seed": seed, "criterion": "kind", "label": said, **who, **more}


def write_labels(path: Path, lines: Sequence[object]) -> Path:
    """A string is written as it is, anything else as JSON."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return path
