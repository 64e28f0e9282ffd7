"""From scores to a report on disk: sum up, decide, stamp, write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import orjson

from harness.decide import Decision, RunOutcome, Thresholds, decide_run
from harness.repeats import by_k, is_flaky, pass_all_k, pass_at_k, passes
from harness.report import replace_file
from harness.run_report import (
    RunReport,
    RunStamp,
    RunSummary,
    RunTiming,
    ScenarioReport,
    StopReason,
    ThresholdResult,
)
from harness.scenario import Scenario
from harness.secrets import Redactor
from harness.settings import CheckSettings
from harness.similarity import similarity_name
from harness.spending import Usage, total
from harness.summarize import ScenarioScores, mean, stdev, summarize, worst
from harness.transcript import VERSION as TRANSCRIPT_VERSION
from harness.transcript import Json
from harness.turn_figures import added, summaries
from harness.version import VERSION


def model_seconds(rows: Sequence[ScenarioScores]) -> float | None:
    """All waiting for models; null where none was asked."""
    found = [trial.model_seconds for row in rows for trial in row.trials if trial.model_seconds is not None]
    return round(sum(found), 3) if found else None


def turns_latency_ms(rows: Sequence[ScenarioScores]) -> float | None:
    """All evaluating of turns; null where none was evaluated."""
    found = [
        trial.turns_latency_ms for row in rows for trial in row.trials if trial.turns_latency_ms is not None
    ]
    return round(sum(found), 3) if found else None


@dataclass(frozen=True)
class Conclusion:
    """What a list of scores needs to become a report."""

    target: Path
    thresholds: Thresholds
    stamp: RunStamp
    timing: RunTiming
    stopped: StopReason | None = None
    unscored: Usage | None = None
    redactor: Redactor = Redactor()
    settled: tuple[ThresholdResult, ...] | None = None


def conclude(rows: list[ScenarioScores], conclusion: Conclusion) -> RunOutcome:
    """Sum up, decide, write the report whole."""
    summary = summarize(rows, conclusion.stopped, conclusion.unscored)
    decision = decide_run(summary, rows, conclusion.thresholds, conclusion.settled)
    replace_file(conclusion.target, encode_report(summary, decision, rows, conclusion))
    return RunOutcome(summary, decision, rows, conclusion.target)


def make_stamp(scenarios: Sequence[Scenario], settings: CheckSettings) -> RunStamp:
    """Versions and hashes of everything that scores; raises where words or a measure are not there."""
    stamps = [criterion.stamp(settings) for scenario in scenarios for criterion in scenario.criteria]
    lexicons = {name: found for stamp in stamps for name, found in stamp.lexicons.items()}
    judges = {name: version for stamp in stamps for name, version in stamp.judges.items()}
    return RunStamp(
        tool_version=VERSION,
        transcript_version=TRANSCRIPT_VERSION,
        language=settings.language,
        similarity=similarity_name(settings.similarity),
        similarity_threshold=settings.similarity_threshold,
        lexicons=dict(sorted(lexicons.items())),
        judges=dict(sorted(judges.items())),
        turns=next((stamp.turns for stamp in stamps if stamp.turns is not None), None),
    )


def encode_report(
    summary: RunSummary, decision: Decision, rows: Sequence[ScenarioScores], conclusion: Conclusion
) -> Iterator[bytes]:
    """The bytes of a `RunReport`, scenario by scenario, so that it is never in memory as a whole."""
    head = {
        "kind": "run",
        "schema_version": "1",
        "summary": summary.model_dump(mode="json"),
        "thresholds": [result.model_dump(mode="json") for result in decision.thresholds],
        "exit_code": int(decision.exit),
    }
    tail = {
        "stamp": conclusion.stamp.model_dump(mode="json"),
        "timing": conclusion.timing.model_dump(mode="json"),
    }
    yield orjson.dumps(head)[:-1] + b',\n"scenarios":['
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + _encode_scenario(row, conclusion.redactor)
    yield b"\n],\n" + orjson.dumps(tail)[1:] + b"\n"


_OURS = frozenset({"name", "file", "tags", "system_sha256"})
"""What a scenario is found by."""


def _encode_scenario(row: ScenarioScores, redactor: Redactor) -> bytes:
    """A subject's parameters and a rubric come from a file, in which a key may stand; trials are clean."""
    scenario, scores = row.scenario, row.scores
    system = scenario.system_sent
    head = ScenarioReport.model_construct(
        name=scenario.name,
        file=Path(scenario.file).as_posix(),
        tags=scenario.definition.tags,
        subject=shared_subject(scenario),
        system_sha256=None if system is None else sha256(system.encode()).hexdigest(),
        rubric=tuple(criterion.definition() for criterion in scenario.criteria),
        mean=mean(scores),
        worst=worst(scores),
        stdev=stdev(scores),
        scored=len(scores),
        errors=row.errors,
        not_run=len(row.planned) - len(row.trials),
        passed=passes(scores),
        pass_at_k=by_k(scores, pass_at_k),
        pass_all_k=by_k(scores, pass_all_k),
        flaky=is_flaky(scores),
        usage=total(trial.usage for trial in row.trials),
        judge_usage=total(trial.judge_usage for trial in row.trials),
        dimensions=summaries(added(trial.figures for trial in row.trials)),
        trials=(),
    ).model_dump_json(exclude={"trials"})
    trials = b",\n".join(trial.encoded for trial in row.trials)
    return redactor.line(head.encode(), _OURS)[:-1] + b',"trials":[' + trials + b"]}"


def shared_subject(scenario: Scenario) -> dict[str, Json]:
    """The subject's identity; where trusted Python chooses one per seed, each transcript has its own."""
    subject = scenario.subject
    return {"type": "by seed"} if callable(subject) else scenario.identity_of(subject)


def read_report(path: Path) -> RunReport:
    """A report from disk, checked against its records."""
    return RunReport.model_validate_json(path.read_bytes())
