"""What a rubric is made of: criteria, and the verdict each gives on a transcript."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import Field, StrictBool, StrictInt, model_validator
from pydantic_core import from_json

from harness.errors import words_of
from harness.records import CheckResult, Hit, LexiconStamp, Record, Status
from harness.run_report import TurnStamp
from harness.settings import CheckSettings
from harness.transcript import Json, Transcript

if TYPE_CHECKING:
    from harness.endpoint import Endpoint
    from harness.errors import Place
    from harness.facts import ScenarioFacts
    from harness.judging import Judging

Scope = Literal["any", "parent"]
Item = TypeVar("Item")
_DEPTH_IN_A_REPORT = 8
"""How deep a verdict lies in one, with some room."""


def refuse_unreadable(text: bytes) -> None:
    """Raise ValueError for JSON that could not be read again once it is part of a report."""
    from_json(b"[" * _DEPTH_IN_A_REPORT + text + b"]" * _DEPTH_IN_A_REPORT)


class Verdict(Record):
    """What a criterion found; `points` only where it is worth more than all or nothing."""

    status: Status
    reason: str
    points: float | None = Field(default=None, allow_inf_nan=False)
    hits: tuple[Hit, ...] = ()
    evidence: dict[str, Json] = Field(default={})
    attempts: tuple[dict[str, Json], ...] = Field(
        default=(), exclude=True, description="requests to models, which are added up"
    )
    latency_ms: float | None = Field(
        default=None, exclude=True, description="of evaluating turns: clock time, which is kept apart"
    )

    @classmethod
    def passed(cls, reason: str, hits: Sequence[Hit] = (), **evidence: Json) -> Self:
        """It holds."""
        return cls(status="passed", reason=reason, hits=tuple(hits), evidence=evidence)

    @classmethod
    def failed(cls, reason: str, hits: Sequence[Hit] = (), **evidence: Json) -> Self:
        """It does not hold."""
        return cls(status="failed", reason=reason, hits=tuple(hits), evidence=evidence)

    @classmethod
    def when(cls, held: bool, reason: str, otherwise: str) -> Self:
        """Passed or failed, each with its own reason."""
        return cls.passed(reason) if held else cls.failed(otherwise)

    @classmethod
    def not_applicable(cls, reason: str) -> Self:
        """There was nothing to judge."""
        return cls(status="not_applicable", reason=reason)

    @classmethod
    def error(cls, reason: str) -> Self:
        """It could not be judged; this is never a score."""
        return cls(status="error", reason=reason)

    @classmethod
    def raised(cls, error: BaseException) -> Self:
        """What a criterion raised is its fault, and no score."""
        return cls.error(f"raised {type(error).__name__}: {words_of(error)}")

    def checked(self) -> Self:
        """Itself; raises ValueError where a report could not hold it, which is the criterion's fault."""
        refuse_unreadable(self.model_dump_json().encode())
        return self


class CriterionStamp(Record):
    """What shapes the verdicts of a criterion beside its definition, under the names a report has for it."""

    lexicons: dict[str, LexiconStamp] = Field(default={})
    judges: dict[str, str] = Field(default={})
    turns: TurnStamp | None = None


class Criterion(Record):
    """One line of a rubric; a subclass's fields are its keys in the file, one of them named like its file."""

    asks: ClassVar[bool] = False
    """Whether a model has to be asked for the verdict: then `ask` gives it, not `score`."""
    reads_words: ClassVar[bool] = True
    """Whether the words of a conversation are enough for it: false for what only a run records, as gates."""

    name: str = Field(default="", description="shown in reports; the scoring key and its value if left out")
    weight: float = Field(
        default=1, gt=0, strict=True, allow_inf_nan=False, description="what the criterion is worth"
    )
    max_score: float | None = Field(
        default=None, gt=0, strict=True, allow_inf_nan=False, description="the same as weight"
    )

    @model_validator(mode="after")
    def _one_weight(self) -> Self:
        if self.max_score is not None and "weight" in self.model_fields_set:
            raise ValueError('"weight" and "max_score" mean the same: give one of them')
        return self

    @property
    def key(self) -> str:
        """The scoring key: the name of the file the criterion lives in."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def worth(self) -> float:
        """The maximum this criterion can add to a trial's score."""
        return self.weight if self.max_score is None else self.max_score

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or f"{self.key}: {getattr(self, self.key)}"

    def definition(self) -> dict[str, Json]:
        """What a report keeps of it, so that every score can be traced to what was asked."""
        return self.model_dump(mode="json", exclude_unset=True)

    @property
    def endpoint(self) -> "Endpoint | None":
        """The model it asks, once it is settled; none where it asks no server."""
        return None

    def stamp(self, settings: CheckSettings) -> CriterionStamp:  # noqa: ARG002 - for those in need
        """What a report says about it; raises where words or a measure are not there."""
        return CriterionStamp()

    def evaluated_turns(self, verdict: Verdict) -> Sequence[Mapping[str, Json]]:  # noqa: ARG002 - as above
        """What the verdict says of each turn, for those that put turns to the turn evaluator."""
        return ()

    def settle(self, facts: "ScenarioFacts", place: "Place") -> Self:  # noqa: ARG002 - as above
        """The criterion with what it needs of its scenario; raises what keeps it from judging."""
        return self

    def settle_as(self, recorded: Mapping[str, Json], facts: "ScenarioFacts", place: "Place") -> Self:  # noqa: ARG002 - as above
        """Settled at last, where it could not be without what an earlier run recorded as its definition."""
        return self

    async def ask(self, transcript: Transcript, judging: "Judging") -> Verdict:
        """The verdict of a model on one trial."""
        raise NotImplementedError

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Judge one trial by what was recorded of it."""
        raise NotImplementedError


class CheckerOptions(Record):
    """How a checker is applied to the turns of a conversation."""

    language: str | None = Field(
        default=None, description="the lexicon's language; the project's if left out"
    )
    turns: Literal["every", "last"] | Annotated[StrictInt, Field(ge=1)] = Field(
        default="every", description="which turns; a number counts from 1"
    )
    combine: Literal["all", "any", "mean"] = Field(
        default="all", description="what makes one verdict of many"
    )
    expect: StrictBool = Field(default=True, description="false: the turn should fail the check")


class CheckerCriterion(Criterion):
    """A relational checker as a criterion: true, false (it must fail), or an object of options."""

    checker: str
    options: CheckerOptions

    @property
    def key(self) -> str:
        """The scoring key: the checker's name."""
        return self.checker

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or (self.checker if self.options.expect else f"not {self.checker}")

    def definition(self) -> dict[str, Json]:
        """As a file would write it."""
        own = self.model_dump(mode="json", exclude={"checker", "options"}, exclude_unset=True)
        options = self.options.model_dump(mode="json", exclude_unset=True)
        return {**own, self.checker: options if set(options) - {"expect"} else self.options.expect}

    def stamp(self, settings: CheckSettings) -> CriterionStamp:
        """The words it goes by."""
        from harness.check import lexicon_stamp

        language = self.options.language or settings.language
        found = lexicon_stamp(self.checker, language)
        return CriterionStamp(lexicons={f"{self.checker}/{language}": found})

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        """Each turn by itself, then all of them together; turns the check does not apply to are left out."""
        from harness.check import check_all

        chosen = settings.model_copy(update={"language": self.options.language or settings.language})
        turns = select_turns(transcript.turns, self.options.turns)
        checked = {number: check_all([self.checker], turn, chosen) for number, turn in turns.items()}
        return self.combine({number: result for number, [result] in checked.items()})

    def combine(self, results: Mapping[int, CheckResult]) -> Verdict:
        """One verdict of the chosen turns, each checked by itself before."""
        if not results:
            return Verdict.failed(f"there is no turn {self.options.turns}")
        judged = {number: result for number, result in results.items() if result.status != "not_applicable"}
        if not judged:
            return Verdict.not_applicable(
                "; ".join(dict.fromkeys(result.reason for result in results.values()))
            )
        held = {
            number: (result.status == "passed") is self.options.expect for number, result in judged.items()
        }
        share = sum(held.values()) / len(held)
        passed = any(held.values()) if self.options.combine == "any" else all(held.values())
        telling = next((number for number, good in held.items() if good is passed), next(iter(held)))
        return Verdict(
            status="passed" if passed else "failed",
            reason=_turn_reason(telling, judged[telling], several=len(results) > 1),
            points=share * self.worth if self.options.combine == "mean" else None,
            hits=judged[telling].spans,
            evidence={"turn": telling, **judged[telling].condensed()},
        )


def _turn_reason(number: int, result: CheckResult, *, several: bool) -> str:
    return f"turn {number}: {result.reason}" if several else result.reason


def select_turns(turns: Sequence[Item], which: str | int) -> dict[int, Item]:
    """The chosen turns by their number, counted from 1."""
    numbered = dict(enumerate(turns, 1))
    if which == "every":
        return numbered
    wanted = len(turns) if which == "last" else int(which)
    return {wanted: numbered[wanted]} if wanted in numbered else {}
