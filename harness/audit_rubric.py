"""The rubric of an audit: checkers look at every turn, criteria at the conversation they make together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from harness import plugins
from harness.check import check_all, prepare_checks
from harness.conversation import Conversation
from harness.criterion import CheckerCriterion, CheckerOptions, Criterion, Verdict, select_turns
from harness.errors import Place, Problems, SynthesisError
from harness.facts import ScenarioFacts
from harness.problems import shown
from harness.quick import is_quick, share_core
from harness.records import CheckResult, Status, Turn
from harness.rubric import RubricReader
from harness.score import guarded, judge_one, points_of
from harness.settings import CheckSettings, Settings
from harness.transcript import Json, Transcript

Result = CheckResult | Verdict
"""Of one check on one turn: a verdict only where the checker raised."""
_HELD = Verdict.passed("every turn it applies to passed")
_DOES_NOT_APPLY = Verdict.not_applicable("no turn it applies to")
_NOT_READ = Transcript(())


@dataclass(frozen=True)
class Column:
    """One checker in one language: what every turn is put to."""

    name: str
    checker: str
    settings: CheckSettings

    def check(self, turn: Turn) -> Result:
        """Its result; what it raises is no score."""
        return guarded(lambda: check_all([self.checker], turn, self.settings)[0])


@dataclass(frozen=True, slots=True)
class Judged:
    """One conversation: results by column and turn, verdicts by criterion, and the share of points."""

    results: tuple[tuple[Result, ...], ...]
    statuses: tuple[list[Status], ...]
    verdicts: tuple[Verdict, ...]
    score: float | None
    error: str | None


@dataclass(frozen=True)
class AuditRubric:
    """`source` is the place of each criterion's checker among the columns, None where it is no checker."""

    criteria: tuple[Criterion, ...]
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    source: tuple[int | None, ...]
    settings: CheckSettings

    @cached_property
    def shares(self) -> list[tuple[list[str], CheckSettings]]:
        """The checkers of all columns in their order; neighbours that differ in nothing else together."""
        return [
            ([column.checker for column in columns], settings)
            for settings, columns in groupby(self.columns, key=attrgetter("settings"))
        ]

    def get_ready(self) -> None:
        """What every worker needs, where it can be made beforehand."""
        for names, settings in self.shares:
            share_core(names, settings)

    def prepare(self, turns: Sequence[Turn]) -> None:
        """Look at many turns at once; what a checker raises here it raises again for its turn."""
        for column in self.columns:
            if not is_quick([column.checker], column.settings):
                guarded(partial(prepare_checks, [column.checker], turns, column.settings))

    def check_turn(self, turn: Turn) -> list[Result]:
        """Every column's result; only where one raises, each is put to it by itself."""
        found: list[Result] | Verdict = guarded(
            lambda: [result for names, settings in self.shares for result in check_all(names, turn, settings)]
        )
        return [column.check(turn) for column in self.columns] if isinstance(found, Verdict) else found

    def judge(self, conversation: Conversation, turns: Sequence[Turn]) -> Judged:
        """Every turn by every checker, then each criterion as for a trial."""
        results = tuple(zip(*[self.check_turn(turn) for turn in turns], strict=True))
        statuses = tuple([result.status for result in column] for column in results)
        transcript = as_transcript(conversation, turns) if None in self.source else _NOT_READ
        verdicts = tuple(
            judge_one(criterion, transcript, self.settings)
            if source is None or not isinstance(criterion, CheckerCriterion)
            else _combined(criterion, results[source], statuses[source])
            for criterion, source in zip(self.criteria, self.source, strict=True)
        )
        broken = [
            f"{label}: {verdict.reason}"
            for label, verdict in zip(self.labels, verdicts, strict=True)
            if verdict.status == "error"
        ]
        score = None if broken else self._share(verdicts)
        return Judged(results, statuses, verdicts, score, "; ".join(broken) or None)

    def again(self, conversation: Conversation, turns: Sequence[Turn], number: int) -> Verdict:
        """One criterion that is no checker, on other words."""
        return judge_one(self.criteria[number], as_transcript(conversation, turns), self.settings)

    def _share(self, verdicts: Sequence[Verdict]) -> float | None:
        """Of the points that could be reached; null where nothing applied."""
        reached = worth = 0.0
        for criterion, verdict in zip(self.criteria, verdicts, strict=True):
            points = points_of(criterion, verdict)
            if points is not None:
                reached += points
                worth += criterion.worth
        return reached / worth if worth else None


def _combined(criterion: CheckerCriterion, results: Sequence[Result], statuses: list[Status]) -> Verdict:
    """As for a trial; the way of most conversations, where nothing failed, is short."""
    options = criterion.options
    if options.turns == "every" and options.expect and "failed" not in statuses and "error" not in statuses:
        return _HELD if "passed" in statuses else _DOES_NOT_APPLY
    found = select_turns(results, options.turns)
    checked = {number: result for number, result in found.items() if isinstance(result, CheckResult)}
    if len(checked) < len(found):
        return next(result for result in found.values() if isinstance(result, Verdict))
    return criterion.combine(checked)


def as_transcript(conversation: Conversation, turns: Sequence[Turn]) -> Transcript:
    """What criteria read: the turns as a recorded trial would have them, the last reply as its result."""
    events: list[dict[str, Json]] = []

    def event(kind: str, turn: int, **more: Json) -> None:
        events.append({"v": 1, "seq": len(events), "type": kind, "turn": turn, "parent": None, **more})

    system = [message.text for message in conversation.messages if message.role == "system"]
    subject = {"type": "conversation"}
    event("start", 0, scenario=conversation.id, seed=0, fingerprint="", subject=subject,
          system="\n\n".join(system) or None)  # fmt: skip
    for number, turn in enumerate(turns, 1):
        event("user", number, text=turn.user)
        event("assistant", number, text=turn.assistant, code=None, medium="conversation")
    spoken = [each.role for each in conversation.messages if each.role in ("user", "assistant")]
    answered = spoken[-1:] == ["assistant"]
    event("end", len(turns), reason="completed", terminated=answered, result=turns[-1].assistant)
    return Transcript(events)


def rubric_of_checks(names: Sequence[str], settings: CheckSettings) -> AuditRubric:
    """Each checker, worth the same, held on every turn it applies to."""
    known = plugins.names("checkers")
    for name in names:
        if name not in known:
            fix = f"use one or more of: {', '.join(known)}"
            raise SynthesisError(f'unknown check "{shown(name)}"', where="--checks", fix=fix)
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise SynthesisError(f'"{twice[0]}" is there twice', where="--checks", fix="name it once")
    return _rubric([CheckerCriterion(checker=name, options=CheckerOptions()) for name in names], settings)


def rubric_from(named: str, settings: Settings) -> AuditRubric:
    """A rubric by its name, as `include` finds it, or a file."""
    problems: list[SynthesisError] = []
    path = Path(named)
    is_file = path.is_file()
    reader = RubricReader(path.parent if is_file else Path(), trusted=False, problems=problems)
    place = Place("--rubric")
    read = reader.read_file(path) if is_file else reader.read([{"include": named}], place)
    criteria = [_settled(criterion, settings, place, problems) for criterion in read]
    if problems:
        raise Problems(problems)
    return _rubric(criteria, settings.check)


def _settled(
    criterion: Criterion, settings: Settings, place: Place, problems: list[SynthesisError]
) -> Criterion:
    """As its scenario would have it; what an audit cannot give it is a problem now, not a verdict later."""
    if criterion.asks:
        fix = "leave it out: an audit asks no model; synthesis eval and synthesis score do"
        problems.append(SynthesisError(f'"{criterion.label}" asks a model', where=place, fix=fix))
    elif not criterion.reads_words:
        what = f'"{criterion.label}" reads what only a run of synthesis eval records'
        problems.append(SynthesisError(what, where=place, fix="leave it out of the rubric for audits"))
    else:
        return criterion.settle(ScenarioFacts(turns=settings.turns), place)
    return criterion


def _rubric(criteria: Sequence[Criterion], settings: CheckSettings) -> AuditRubric:
    columns: dict[tuple[str, str], Column] = {}
    source: list[int | None] = []
    for criterion in criteria:
        criterion.stamp(settings)  # words that are missing are an error now
        if isinstance(criterion, CheckerCriterion):
            language = criterion.options.language or settings.language
            key = (criterion.checker, language)
            name = criterion.checker if language == settings.language else "/".join(key)
            columns.setdefault(key, Column(name, key[0], settings.model_copy(update={"language": language})))
            source.append(list(columns).index(key))
        else:
            source.append(None)
    labels = tuple(_distinct(criterion.label for criterion in criteria))
    return AuditRubric(tuple(criteria), labels, tuple(columns.values()), tuple(source), settings)


def _distinct(labels: Iterator[str]) -> Iterator[str]:
    """Two criteria of one name are told apart by a number."""
    seen: Counter[str] = Counter()
    for label in labels:
        seen[label] += 1
        yield label if seen[label] == 1 else f"{label} ({seen[label]})"
