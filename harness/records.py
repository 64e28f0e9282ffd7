"""The pipeline's data types: frozen, validated, no I/O."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

Side = Literal["user", "assistant"]
Status = Literal["passed", "failed", "not_applicable", "error"]


class Record(BaseModel):
    """A frozen value; unknown keys are an error.

    What validates it is made when it is first needed: a command needs few of all kinds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen value of which there are millions: made and written many times quicker than a `Record`.

    It can be part of a `Record`, where it is written, and read again, as the object it is.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Its own kind as it is, and what JSON makes of it."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else msgspec.convert(value, cls),
            serialization=core_schema.plain_serializer_function_ser_schema(msgspec.to_builtins),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the object, with those of its parts within it."""
        return value_schema(cls)


def value_schema(kind: type[Value]) -> JsonSchemaValue:
    """The JSON Schema of a value, with nothing left to look up elsewhere."""
    [schema], parts = msgspec.json.schema_components([kind], ref_template="{name}")

    def whole(node: Any) -> Any:
        if isinstance(node, dict):
            return (
                whole(parts[node["$ref"]])
                if "$ref" in node
                else {key: whole(item) for key, item in node.items()}
            )
        return [whole(item) for item in node] if isinstance(node, list) else node

    found: JsonSchemaValue = whole(schema)
    return found


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What one person said and what the assistant answered; `user` is empty where it is not known."""

    user: str = ""
    assistant: str


class Hit(Value, frozen=True):
    """One place where a rule matched; offsets are code points of the original text."""

    rule: str
    group: str
    text: str
    start: int
    end: int
    side: Annotated[Side, msgspec.Meta(description="whose text the offsets point into")] = "assistant"


class CheckResult(Value, frozen=True, kw_only=True):
    """What every checker returns; a checker adds its own evidence fields."""

    status: Status
    passed: bool | None = msgspec.field(name="pass")
    reason: str
    spans: tuple[Hit, ...]

    def condensed(self) -> dict[str, object]:
        """The evidence that belongs in a list of failures, under the names used there."""
        return {}


def distinct_texts(hits: Iterable[Hit]) -> tuple[str, ...]:
    """The matched texts, each once, in the order they first appear."""
    return tuple(dict.fromkeys(hit.text for hit in hits))


def text_per_rule(hits: Iterable[Hit]) -> tuple[str, ...]:
    """The first text each rule matched: as many as there are rules, so that a score can be counted again."""
    return tuple({hit.rule: hit.text for hit in reversed(list(hits))}.values())[::-1]


def distinct_rules(hits: Iterable[Hit]) -> int:
    """How many different rules matched: a rule counts once however often it matched."""
    return len({hit.rule for hit in hits})


class Case(Record):
    """One labelled exchange of a case file."""

    id: str = Field(pattern=r"^[A-Z]+-[0-9]+$")
    user: str = Field(min_length=1)
    assistant: str = Field(min_length=1)
    checks: tuple[str, ...] = Field(min_length=1, json_schema_extra={"uniqueItems": True})
    expected: dict[str, StrictBool | None] = Field(
        default={}, description="true: should pass, false: should fail, null: topic_pivot should not apply"
    )
    tags: tuple[str, ...] = ()
    notes: str = ""

    @field_validator("checks")
    @classmethod
    def _no_duplicates(cls, checks: tuple[str, ...]) -> tuple[str, ...]:
        twice = next((name for name, count in Counter(checks).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f'"{twice}" is listed twice')
        return checks

    @property
    def negative(self) -> bool:
        """Whether the case is a negative example: one that is meant to fail."""
        return is_negative(self.tags)


NEGATIVE = "negative_example"
NEGATIVE_ENDING = "-fail"


def is_negative(tags: Iterable[str]) -> bool:
    """Whether a case with these tags is meant to fail."""
    return any(tag == NEGATIVE or tag.endswith(NEGATIVE_ENDING) for tag in tags)


class CaseResult(Value, frozen=True, kw_only=True):
    """One case with the verdict of each of its checks."""

    id: str
    passed: bool = msgspec.field(name="pass")
    expected_failure: Annotated[bool, msgspec.Meta(description="the case is a negative example")]
    checks: dict[str, CheckResult]
    expected: dict[str, bool | None]
    tags: tuple[str, ...]


class Failure(Value, frozen=True, kw_only=True):
    """A case that failed, condensed for triage."""

    id: str
    failed: tuple[str, ...]
    evidence: dict[str, Any]
    expected_failure: bool


class CheckCounts(Record):
    """How one check went over all cases that ask for it."""

    passed: int
    failed: int
    not_applicable: int


class LabelAccuracy(Record):
    """Verdicts that agree with their labels, in percent; null where nothing is labelled."""

    total: int
    matched: int
    accuracy: float | None


class Agreement(Record):
    """Verdicts against labels, where flagged means failed; a figure is null where it has no denominator."""

    labelled: int
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    precision: float | None
    recall: float | None
    f1: float | None
    balanced_accuracy: float | None
    kappa: float | None


class Slice(Record):
    """Replies of one kind that are fine by their labels, and how many of them were flagged all the same."""

    checked: int
    flagged: int
    false_positive_rate: float | None


class CheckSummary(Record):
    """The figures of a check run."""

    cases: int
    passed: int
    failed: int
    strict_passed: int
    strict_failed: int
    expected_failures: int
    unexpected_failures: int
    by_check: dict[str, CheckCounts]
    label_accuracy: LabelAccuracy
    label_accuracy_by_check: dict[str, LabelAccuracy]
    agreement_by_check: dict[str, Agreement]
    slices: dict[str, Slice]
    lost_catches: tuple[str, ...] = Field(description="negative examples that passed")


class LexiconStamp(Record):
    """Which words a checker used."""

    language: str
    version: str
    sha256: str


class CheckStamp(Record):
    """What produced a check run's numbers."""

    tool_version: str
    language: str
    similarity_threshold: float
    similarity: str
    cases_sha256: str
    lexicons: dict[str, LexiconStamp]


class CheckTiming(Record):
    """The clock's part of a report: the only part that may differ between equal runs."""

    started: str
    seconds: float


class CheckReport(Record):
    """What `synthesis check` writes."""

    kind: Literal["check"] = "check"
    schema_version: Literal["1"] = "1"
    summary: CheckSummary
    failures: tuple[Failure, ...]
    results: tuple[CaseResult, ...]
    stamp: CheckStamp
    timing: CheckTiming
