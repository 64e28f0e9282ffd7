"""Evaluate turns: every dimension's score, the overall score, and what is worth saying about them."""

import asyncio
import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.dimension import Dimension, Score, dimensions
from harness.errors import Place, Problems, SynthesisError
from harness.phrases import load_phrases
from harness.problems import from_validation, shown
from harness.records import Record
from harness.settings import TurnSettings
from harness.text import LONG
from harness.turn_evaluation import Severity, TurnContext, TurnEvaluation, TurnInput, TurnIssue
from harness.turn_view import TurnView

Kind = TypeVar("Kind", bound=Record)
Context = TurnContext | Mapping[str, Any]
Scored = tuple[Dimension, Score | None]

NOTHING_STANDS_OUT = "the turn was evaluated; nothing stands out"
_DEFAULTS = TurnSettings()
_NO_CONTEXT = TurnContext()


def evaluate_turn(
    user_message: str,
    actual_response: str,
    golden_response: str = "",
    context: Context | None = None,
    *,
    settings: TurnSettings | Mapping[str, Any] = _DEFAULTS,
) -> TurnEvaluation:
    """One turn in every dimension. What the context leaves out, and an empty golden answer, is not known."""
    began = time.perf_counter()
    texts = _text(user_message, "user_message"), _text(actual_response, "actual_response")
    golden = _text(golden_response, "golden_response")
    known = _NO_CONTEXT if context is None else _record(context, TurnContext, "context")
    chosen = _record(settings, TurnSettings, "settings")
    turn = TurnView((*texts, golden), known, load_phrases(chosen.language))
    scored = [(each, each.score(turn, each.numbers)) for each in dimensions()]
    overall = _overall(scored, chosen)
    return TurnEvaluation.model_construct(
        id=_identity((*texts, golden), known),
        turn_index=known.turn_index,
        user_message=turn.user.text,
        actual_response=turn.reply.text,
        scores={each.name: each.numbers.default if score is None else score.value for each, score in scored},
        not_applicable=tuple([each.name for each, score in scored if score is None]),
        overall=overall,
        passed=None if overall is None else overall >= chosen.pass_at,
        warned=overall is not None and overall < chosen.warn_below,
        issues=tuple([issue for each, score in scored if (issue := _issue(each, score))]),
        evidence=_evidence(scored),
        latency_ms=round((time.perf_counter() - began) * 1000, 4),
    )


async def evaluate_turn_async(
    user_message: str,
    actual_response: str,
    golden_response: str = "",
    context: Context | None = None,
    *,
    settings: TurnSettings | Mapping[str, Any] = _DEFAULTS,
) -> TurnEvaluation:
    """As `evaluate_turn`; only texts so long that others would have to wait are evaluated in a thread."""
    texts = user_message, actual_response, golden_response
    if all(isinstance(text, str) for text in texts) and sum(map(len, texts)) > LONG:
        return await asyncio.to_thread(evaluate_turn, *texts, context, settings=settings)
    await asyncio.sleep(0)
    return evaluate_turn(*texts, context, settings=settings)


def evaluate_turns(
    turns: Iterable[TurnInput | Mapping[str, Any]],
    *,
    settings: TurnSettings | Mapping[str, Any] = _DEFAULTS,
) -> Iterator[TurnEvaluation]:
    """One evaluation for each turn, made when it is asked for; a turn is a record or a dict of its fields."""
    chosen = _record(settings, TurnSettings, "settings")
    return (_evaluate_input(turn, index, chosen) for index, turn in enumerate(turns))


def _evaluate_input(
    turn: TurnInput | Mapping[str, Any], index: int, settings: TurnSettings
) -> TurnEvaluation:
    one = _record(turn, TurnInput, f"turns:/{index}")
    return evaluate_turn(
        one.user_message, one.actual_response, one.golden_response, one.context, settings=settings
    )


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    raise SynthesisError(f"{shown(value)} is not text", where=name, fix="give a string")


def _record(value: Kind | Mapping[str, Any], kind: type[Kind], where: str) -> Kind:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        fix = f"give a {kind.__name__} or a dict with its fields"
        raise SynthesisError(f"{shown(value)} is no {kind.__name__}", where=where, fix=fix)
    try:
        return kind.model_validate(dict(value))
    except ValidationError as error:
        raise Problems(from_validation(error, kind, Place(where))) from error


def _identity(texts: tuple[str, str, str], context: TurnContext) -> str:
    """The same for equal input on every machine; `repr` also takes half characters, which UTF-8 does not."""
    return hashlib.sha256(repr((texts, context.model_dump())).encode()).hexdigest()[:16]


def _overall(scored: Sequence[Scored], settings: TurnSettings) -> float | None:
    """Weights are shared out anew over what applies."""
    counted = [
        (settings.weights.get(each.name, each.weight), score.value)
        for each, score in scored
        if score is not None
    ]
    whole = sum([weight for weight, _ in counted])
    return round(sum([weight * value for weight, value in counted]) / whole, 6) if whole else None


def _issue(each: Dimension, score: Score | None) -> TurnIssue | None:
    rules = each.numbers.issue
    if score is None or rules is None or score.value >= rules.below:
        return None
    severity: Severity = rules.severity
    if rules.error_below is not None and score.value < rules.error_below:
        severity = "error"
    lowered = [f"{name} {amount:+g}" for name, amount in score.because if amount < 0]
    why = f"; {', '.join(lowered)}" if lowered else ""
    return TurnIssue.model_construct(
        dimension=each.name,
        category=rules.category,
        severity=severity,
        message=f"{rules.message} ({score.value:g}, under {rules.below:g}{why})",
    )


def _evidence(scored: Sequence[Scored]) -> tuple[str, ...]:
    """What scored high, and at least one text."""
    values = {each.name: score.value for each, score in scored if score is not None}
    found = [
        rules.text
        for each, _ in scored
        if (rules := each.numbers.evidence)
        and all(
            name in values and rules.reached_by(values[name])
            for name in (each.name, rules.together_with)
            if name is not None
        )
    ]
    return tuple(found) or (NOTHING_STANDS_OUT,)
