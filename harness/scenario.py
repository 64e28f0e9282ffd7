"""A scenario: what is said to the subject, in which workspace, and how the answer is judged."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field, StrictBool, model_validator
from pydantic.json_schema import SkipJsonSchema

from harness.criterion import Criterion
from harness.model import ModelOptions
from harness.records import Record
from harness.subject import FileText, Subject
from harness.transcript import VERSION, Json
from harness.turn_evaluation import Memory

Seed = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Text = Annotated[str, Field(min_length=1)]


class Base64Bytes(Record):
    """Bytes that are no text."""

    base64: str


Fixture = str | FileText | Base64Bytes


class ScenarioDefinition(Record):
    """A scenario as a file gives it; the subject and the criteria are read by their own kind."""

    name: str = Field(min_length=1, max_length=120)
    description: str = ""
    prompt: Text | Annotated[tuple[Text, ...], Field(min_length=1)] = Field(
        description="what the person says; a list is a conversation of several turns"
    )
    system: str | FileText | None = None
    fixtures: dict[str, Fixture] = Field(default={})
    seeds: (
        Annotated[int, Field(strict=True, ge=1, le=100_000)]
        | Annotated[tuple[Seed, ...], Field(min_length=1, json_schema_extra={"uniqueItems": True})]
        | None
    ) = None
    tags: tuple[str, ...] = ()
    timeout: float | None = Field(
        default=None, gt=0, strict=True, allow_inf_nan=False, description="seconds for one trial"
    )
    memories: tuple[Memory, ...] = Field(
        default=(), description="what is known of the person, for criteria about turns"
    )
    expects_refusal: StrictBool | None = Field(
        default=None, description="whether the request is harmful, for criteria about turns"
    )
    judge_model: str | ModelOptions | None = Field(
        default=None, description="for judges that name none: PROVIDER:NAME, or an object with parameters"
    )
    fixed_subject: StrictBool = Field(
        default=False, description="the subject is part of the question: --override-subject leaves it alone"
    )
    subject: dict[str, Json] | SkipJsonSchema[Callable[..., Any]] | None = None
    rubric: tuple[Any, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique_seeds(self) -> "ScenarioDefinition":
        if isinstance(self.seeds, tuple) and len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"a seed is listed twice in {list(self.seeds)}")
        return self


SubjectMaker = Callable[["Scenario", int], Subject]
"""Trusted Python may choose the subject by scenario and seed."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """A scenario ready to run: files read, subject and criteria resolved."""

    definition: ScenarioDefinition
    file: str
    folder: Path
    system: str | None
    fixtures: dict[str, bytes]
    subject: Subject | SubjectMaker
    criteria: tuple[Criterion, ...]

    @property
    def name(self) -> str:
        """Its name in the file, unique in a run."""
        return self.definition.name

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the person says, turn by turn."""
        prompt = self.definition.prompt
        return (prompt,) if isinstance(prompt, str) else prompt

    @cached_property
    def slug(self) -> str:
        """The name as a file name; two scenarios of a run never share one."""
        kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in self.name.strip())
        short = kept.strip(".").casefold().encode()[:100].decode(errors="ignore")
        return short or "-"

    @property
    def system_sent(self) -> str | None:
        """The system prompt as the subject gets it; the scenario's where each seed has its own subject."""
        return self.subject.system_prompt(self.system) if isinstance(self.subject, Subject) else self.system

    def subject_for(self, seed: int) -> Subject:
        """The subject of one trial."""
        return self.subject if isinstance(self.subject, Subject) else self.subject(self, seed)

    @cached_property
    def _own_identity(self) -> dict[str, Json]:
        return self.subject.identity() if isinstance(self.subject, Subject) else {}

    def identity_of(self, subject: Subject) -> dict[str, Json]:
        """The subject's identity, worked out once where all trials share the subject."""
        return self._own_identity if subject is self.subject else subject.identity()

    @cached_property
    def _inputs(self) -> str:
        fixtures = {name: sha256(content).hexdigest() for name, content in sorted(self.fixtures.items())}
        shaping = {"name": self.name, "prompt": self.prompts, "system": self.system, "fixtures": fixtures}
        return sha256(orjson.dumps({"v": VERSION, **shaping}, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def fingerprint(self, seed: int, identity: dict[str, Json]) -> str:
        """Of everything that shapes the transcript: a change here runs the trial again."""
        shaping = orjson.dumps([self._inputs, seed, identity], option=orjson.OPT_SORT_KEYS)
        return sha256(shaping).hexdigest()[:32]
