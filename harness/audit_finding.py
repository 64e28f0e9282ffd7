"""What an audit writes of a failure: the check, its reason, its places, and the words, redacted if asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import orjson

from harness.audit_rubric import AuditRubric, Judged, Result
from harness.conversation import Conversation
from harness.criterion import CheckerCriterion, Verdict
from harness.records import Hit, Turn
from harness.redact import Detail, Redaction, without
from harness.transcript import Json

LONGEST = 300
"""Characters of someone's text in the report, where examples are kept for as long as the audit runs."""
_AROUND = 60
IN_FAVOUR = frozenset({"positive", "acknowledgement", "follow_up"})
"""Groups of rules that speak for a reply: they are evidence, and not what it failed for."""
_WHOLE = "(the reply as a whole)"
_UNSHOWN = "in words that are not shown here"
Example = Callable[[], dict[str, Json]]


def short(text: str) -> str:
    """An excerpt of a text that can be written."""
    return writable(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def writable(text: str) -> str:
    """Half a character, which UTF-8 cannot write, becomes a question mark; offsets stay what they are."""
    return text.encode("utf-8", "replace").decode()


def encoded(line: dict[str, Json]) -> bytes:
    """One line of JSON."""
    try:
        return orjson.dumps(line) + b"\n"
    except TypeError:
        return orjson.dumps(_all_writable(line)) + b"\n"


def _all_writable(value: Json) -> Json:
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, dict):
        return {name: _all_writable(item) for name, item in value.items()}
    return [_all_writable(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands and what it is called, as they may be shown."""

    file: str
    line: int
    conversation: str

    def full(self) -> dict[str, Json]:
        """As findings have it."""
        return {"file": self.file, "line": self.line, "conversation": self.conversation}

    def short(self) -> dict[str, Json]:
        """As the report has it."""
        return {"file": writable(self.file), "line": self.line, "conversation": short(self.conversation)}


@dataclass(slots=True)
class Side:
    """A turn and how it is shown; `results` are those of the shown words, where they are others."""

    turn: Turn
    shown: Turn = field(init=False)
    user_details: Sequence[Detail] = ()
    assistant_details: Sequence[Detail] = ()
    results: list[Result] | None = None

    def __post_init__(self) -> None:
        self.shown = self.turn

    @classmethod
    def redacted(cls, turn: Turn, redaction: Redaction) -> "Side":
        """Without what redaction finds."""
        side = cls(turn, redaction.find(turn.user), redaction.find(turn.assistant))
        if side.changed:
            side.shown = Turn(
                user=without(turn.user, side.user_details),
                assistant=without(turn.assistant, side.assistant_details),
            )
        return side

    @property
    def changed(self) -> bool:
        """Whether the shown words are others."""
        return bool(self.user_details or self.assistant_details)

    def piece(self, side: str, start: int, end: int) -> str:
        """A part of what was said, by its place in the original, as it may be shown."""
        if side == "user":
            return without(self.turn.user, self.user_details, start, end)
        return without(self.turn.assistant, self.assistant_details, start, end)


def turn_failure(
    check: str, result: Result, side: Side, index: int
) -> tuple[dict[str, Json], list[tuple[str, int, Example]]]:
    """The finding, and the rules that speak against the reply with how often and, when asked, an example."""
    hits: tuple[Hit, ...] = () if isinstance(result, Verdict) else result.spans
    reason, evidence = _said(result, side, index)
    failure = {
        "check": check,
        "reason": reason,
        "evidence": evidence,
        "spans": [
            {
                "rule": hit.rule,
                "group": hit.group,
                "text": side.piece(hit.side, hit.start, hit.end) if side.changed else hit.text,
                "start": hit.start,
                "end": hit.end,
                "side": hit.side,
            }
            for hit in hits
        ],
    }
    against = [hit for hit in hits if hit.side == "assistant" and hit.group not in IN_FAVOUR]
    if not against:
        return failure, [(_WHOLE, 1, partial(_example, side, short(reason), 0, 0))]
    times = Counter(hit.rule for hit in against)
    firsts = {hit.rule: hit for hit in reversed(against)}
    return failure, [
        (rule, count, partial(_example, side, first.group, first.start, first.end))
        for rule, count in times.items()
        for first in (firsts[rule],)
    ]


def _said(result: Result, side: Side, index: int) -> tuple[str, dict[str, Json]]:
    """Where words were taken out, what the check says of the shown words: it can give nothing away."""
    shown = result if side.results is None else side.results[index]
    if isinstance(shown, Verdict) or shown.status != "failed":
        return _UNSHOWN, {}
    return shown.reason, shown.condensed()


def _example(side: Side, group: str, start: int, end: int) -> dict[str, Json]:
    """The hit and what stands around it."""
    whole = len(side.turn.assistant)
    first, last = max(0, start - _AROUND), min(whole, max(end, start + 2 * _AROUND) + _AROUND)
    text = side.piece("assistant", first, min(last, first + LONGEST))
    before, after = "…" if first else "", "…" if last < whole else ""
    hit = side.piece("assistant", start, end)
    return {
        "group": group,
        "text": short(hit),
        "excerpt": short(f"{before}{text}{after}"),
    }


def lost_criteria(
    rubric: AuditRubric, judged: Judged, conversation: Conversation, shown: Sequence[Turn] | None
) -> Iterator[dict[str, Json]]:
    """`shown` are the turns as they may be shown, where they are others."""
    for number, (criterion, verdict) in enumerate(zip(rubric.criteria, judged.verdicts, strict=True)):
        if verdict.status != "failed":
            continue
        if isinstance(criterion, CheckerCriterion):
            if criterion.options.expect and verdict.evidence:
                continue  # failing turns say so
            reason = verdict.reason if shown is None else _UNSHOWN
        elif shown is None:
            reason = verdict.reason
        else:
            again = rubric.again(conversation, shown, number)
            reason = again.reason if again.status == "failed" else _UNSHOWN
        yield {"criterion": rubric.labels[number], "reason": reason}
