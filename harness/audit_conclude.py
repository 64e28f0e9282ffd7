"""From what an audit added up to its report: figures, the worst first, and what was decided."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness import audit_figures
from harness.audit_aggregate import (
    LAST_TURN,
    MOST_SOURCES,
    SOURCE_COUNTS,
    UNIT,
    Aggregate,
    CheckSums,
    Scores,
    Tally,
)
from harness.audit_chunk import AuditConfig
from harness.audit_finding import writable
from harness.audit_report import (
    AuditedCheck,
    AuditedCriterion,
    AuditedInput,
    AuditReport,
    AuditStamp,
    AuditSummary,
    AuditTiming,
    ReasonCount,
    Reasons,
    RedactionReport,
    RuleCount,
    RuleExample,
    SampleReport,
    Trend,
    TurnDrift,
    TurnRate,
    WorstConversation,
)
from harness.audit_rubric import AuditRubric
from harness.decide import AuditThresholds, decide_audit
from harness.similarity import similarity_name
from harness.source import Input
from harness.version import VERSION

_EXAMPLE = ("file", "line", "conversation", "turn", "text", "excerpt")


@dataclass(frozen=True)
class Sampling:
    """What was asked for with `--sample` and `--seed`."""

    size: int
    seed: int


@dataclass(frozen=True)
class Conclusion:
    """What the report says beside the sums."""

    config: AuditConfig
    inputs: Sequence[Input]
    thresholds: AuditThresholds
    inputs_sha256: str | None
    sampling: Sampling | None
    population: int
    timing: AuditTiming


def conclude_audit(sums: Aggregate, about: Conclusion) -> AuditReport:
    """Sum up and decide; the same sums give the same report but for its timing."""
    config = about.config
    redacted = config.redaction is not None
    checks = tuple(
        _check(column.name, sums.checks.get(column.name, CheckSums()), redacted=redacted)
        for column in config.rubric.columns
    )
    summary = _summary(sums, about)
    worst = tuple(WorstConversation(**each) for each in sums.worst)
    lowest = [(each.score, f"{each.file}:{each.line}") for each in worst]
    rates = {check.check: check.rate for check in checks}
    decision = decide_audit(summary, rates, lowest, about.thresholds)
    return AuditReport(
        summary=summary,
        thresholds=decision.thresholds,
        exit_code=int(decision.exit),
        max_rejects=about.thresholds.max_rejects,
        max_errors=about.thresholds.max_errors,
        checks=checks,
        drift=_drift(sums, config.rubric),
        criteria=_criteria(sums, config.rubric),
        rules=_rules(sums.rules),
        worst=worst,
        rejects=_reasons(sums.rejects),
        passed_over=_reasons(sums.passed_over),
        errors=_reasons(sums.errors),
        inputs=_inputs(sums, about),
        inputs_not_listed=max(0, len(about.inputs) - MOST_SOURCES),
        where=tuple(_clean(config, str(condition)) for condition in config.where),
        sample=_sample(sums, about),
        redaction=_redaction(sums, config),
        stamp=make_audit_stamp(config.rubric, about.inputs_sha256),
        timing=about.timing,
    )


def _clean(config: AuditConfig, text: str) -> str:
    return writable(text if config.redaction is None else config.redaction.text(text))


def _summary(sums: Aggregate, about: Conclusion) -> AuditSummary:
    counts, scores, wanted = sums.counts, sums.scores, about.thresholds
    named = {name: counts[name] for name in AuditSummary.model_fields if name in counts}
    return AuditSummary(
        **named,
        inputs=len(about.inputs),
        scored=scores.scored,
        passed=scores.perfect,
        mean=round(scores.total / scores.scored / UNIT, 6) if scores.scored else None,
        worst=round(scores.worst / UNIT, 6) if scores.scored else None,
        stdev=_stdev(scores),
        scores=tuple(scores.bins),
        complete=counts["rejected"] <= wanted.max_rejects and counts["errors"] <= wanted.max_errors,
    )


def _stdev(scores: Scores) -> float | None:
    """From whole numbers, so that nothing is lost where two large sums are nearly the same."""
    if scores.scored < 2:
        return None
    spread = scores.scored * scores.squares - scores.total**2
    return round(math.sqrt(spread / (scores.scored * (scores.scored - 1))) / UNIT, 6)


def _check(name: str, sums: CheckSums, *, redacted: bool) -> AuditedCheck:
    trend = audit_figures.trend(sums)
    effective = audit_figures.effective_turns(sums)
    return AuditedCheck(
        check=name,
        turns=sums.applicable + sums.not_applicable + sums.errors,
        applicable=sums.applicable,
        passed=sums.passed,
        failed=sums.failed,
        not_applicable=sums.not_applicable,
        errors=sums.errors,
        conversations=sums.conversations,
        rate=audit_figures.rate(sums.failed, sums.applicable),
        interval=audit_figures.by_conversation(sums),
        interval_by_turn=audit_figures.by_turn(sums),
        effective_turns=None if effective is None else round(effective, 2),
        trend=Trend(**vars(trend)),
        changed_by_redaction=sums.redaction_changes if redacted else None,
    )


def _drift(sums: Aggregate, rubric: AuditRubric) -> tuple[TurnDrift, ...]:
    """As far as there are turns."""
    columns = {column.name: sums.checks.get(column.name, CheckSums()) for column in rubric.columns}
    last = max(
        (place for each in columns.values() for place, count in enumerate(each.applicable_by_turn) if count),
        default=-1,
    )
    return tuple(
        TurnDrift(
            turn=f"{place + 1}+" if place == LAST_TURN - 1 else str(place + 1),
            checks={
                name: TurnRate(
                    applicable=(applicable := each.applicable_by_turn[place]),
                    failed=(failed := each.failed_by_turn[place]),
                    rate=audit_figures.rate(failed, applicable),
                )
                for name, each in columns.items()
            },
        )
        for place in range(last + 1)
    )


def _criteria(sums: Aggregate, rubric: AuditRubric) -> tuple[AuditedCriterion, ...]:
    found = []
    for label, criterion in zip(rubric.labels, rubric.criteria, strict=True):
        passed, failed, not_applicable, errors = sums.criteria.get(label, [0] * 4)
        found.append(
            AuditedCriterion(
                name=label,
                criterion=criterion.definition(),
                passed=passed,
                failed=failed,
                not_applicable=not_applicable,
                errors=errors,
            )
        )
    return tuple(found)


def _rules(rules: Tally) -> tuple[RuleCount, ...]:
    counted = sorted(rules.named.items(), key=lambda item: (-item[1]["count"], item[0]))
    return tuple(
        RuleCount(
            check=name.partition("\n")[0],
            rule=name.partition("\n")[2],
            group=found["group"],
            hits=found["count"],
            example=RuleExample(**{key: found[key] for key in _EXAMPLE}),
        )
        for name, found in counted
    )


def _reasons(tally: Tally) -> Reasons:
    counted = sorted(tally.named.items(), key=lambda item: (-item[1]["count"], item[0]))
    reasons = tuple(
        ReasonCount(reason=reason, count=found["count"], file=found.get("file"), line=found.get("line"))
        for reason, found in counted
    )
    return Reasons(
        total=sum(each.count for each in reasons) + tally.others, reasons=reasons, others=tally.others
    )


def _inputs(sums: Aggregate, about: Conclusion) -> tuple[AuditedInput, ...]:
    """As many as counts are kept for."""
    nothing = dict.fromkeys(SOURCE_COUNTS, 0)
    return tuple(
        AuditedInput(
            path=_clean(about.config, each.path),
            importer=each.importer,
            why=_clean(about.config, each.why),
            **sums.sources.get(str(number), nothing),
        )
        for number, each in enumerate(about.inputs[:MOST_SOURCES])
    )


def _sample(sums: Aggregate, about: Conclusion) -> SampleReport | None:
    if about.sampling is None:
        return None
    return SampleReport(
        size=about.sampling.size,
        seed=about.sampling.seed,
        population=about.population,
        drawn=sums.counts["conversations"],
    )


def _redaction(sums: Aggregate, config: AuditConfig) -> RedactionReport | None:
    if config.redaction is None:
        return None
    return RedactionReport(
        terms=len(config.redaction.terms),
        turns=sums.counts["redacted_turns"],
        conversations=sums.counts["redacted_conversations"],
        details=dict(sorted(sums.kinds.items())),
    )


def make_audit_stamp(rubric: AuditRubric, inputs_sha256: str | None) -> AuditStamp:
    """Versions and hashes of everything that scores."""
    settings = rubric.settings
    stamps = [criterion.stamp(settings) for criterion in rubric.criteria]
    lexicons = {name: found for stamp in stamps for name, found in stamp.lexicons.items()}
    return AuditStamp(
        tool_version=VERSION,
        language=settings.language,
        similarity=similarity_name(settings.similarity),
        similarity_threshold=settings.similarity_threshold,
        lexicons=dict(sorted(lexicons.items())),
        turns=next((stamp.turns for stamp in stamps if stamp.turns is not None), None),
        inputs_sha256=inputs_sha256,
    )
