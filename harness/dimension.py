"""What a turn dimension is: a module with `score`, and its numbers in a TOML file of the same name beside it.

`score(turn, numbers)` reads one turn and gives a `Score`, or None where the turn lacks what the dimension
needs. Weights, amounts and thresholds are data: no dimension's code holds a number of its own.
"""

import difflib
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field, ValidationError, model_validator

from harness import plugins
from harness.errors import Place, Problems, SynthesisError
from harness.problems import from_validation, shown
from harness.records import Record
from harness.turn_evaluation import Severity

if TYPE_CHECKING:
    from harness.turn_view import TurnView

FOLDER = "dimensions"
_WHOLE = 1e-6
"""How far all weights together may be from 1."""

Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=-1, le=1)]


class Score(NamedTuple):
    """A dimension's score, and by name what moved it and by how much or to what level."""

    value: float
    because: tuple[tuple[str, float], ...] = ()


def bounded(value: float, because: tuple[tuple[str, float], ...] = ()) -> Score:
    """A score between 0 and 1; rounded, because 0.8 + 0.05 in floating point lies above 0.85."""
    return Score(round(min(1.0, max(0.0, value)), 6), because)


class IssueNumbers(Record):
    """When a low score is an issue, and how bad."""

    below: Share
    category: str
    message: str
    severity: Severity = "warning"
    error_below: Share | None = Field(default=None, description="a warning is an error under this score")


class EvidenceNumbers(Record):
    """When a high score is worth telling: above a score, or from it on."""

    above: Share | None = None
    from_: Share | None = Field(default=None, alias="from")
    text: str
    together_with: str | None = Field(default=None, description="a dimension that has to be as high")

    @model_validator(mode="after")
    def _one_threshold(self) -> "EvidenceNumbers":
        if (self.above is None) == (self.from_ is None):
            raise ValueError('give one of "above" and "from"')
        return self

    def reached_by(self, score: float) -> bool:
        """Whether the score is high enough."""
        return score > self.above if self.above is not None else score >= (self.from_ or 0)


class Numbers(Record):
    """The whole TOML file of a dimension."""

    order: int = Field(default=100, description="place in reports; equal ones by name")
    weight: Share = Field(default=0, description="of the overall score; one from another package counts 0")
    default: Share = Field(description="shown where the dimension does not apply")
    amounts: dict[str, Amount] = Field(default={}, description="what is added for each thing found")
    levels: dict[str, Share] = Field(default={}, description="scores that stand for themselves")
    limits: dict[str, float] = Field(default={}, description="lengths, shares and counts that are compared")
    issue: IssueNumbers | None = None
    evidence: EvidenceNumbers | None = None

    def score(self, start: float, **found: object) -> Score:
        """The start, with the amount of everything found added, kept between 0 and 1."""
        because = tuple([(name, self.amounts[name]) for name, there in found.items() if there])
        return bounded(start + sum([amount for _, amount in because]), because)

    def score_from_baseline(self, **found: object) -> Score:
        """As `score`, from the level called baseline."""
        return self.score(self.levels["baseline"], **found)

    def level(self, name: str) -> Score:
        """A score that stands for itself, and says so."""
        return Score(self.levels[name], ((name, self.levels[name]),))


class Dimension(NamedTuple):
    """A dimension made ready: its public name, its numbers, its function."""

    name: str
    numbers: Numbers
    weight: float
    score: "Callable[[TurnView, Numbers], Score | None]"


@cache
def dimensions() -> tuple[Dimension, ...]:
    """Every dimension there is, ours before those of other packages."""
    ours = plugins.own(FOLDER)
    found = [_dimension(name, counted=name in ours) for name in plugins.names(FOLDER)]
    return tuple(sorted(found, key=lambda each: (each.name not in ours, each.numbers.order, each.name)))


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise ValueError where a name is no dimension's, or where all weights together are not 1."""
    own = {each.name: each.weight for each in dimensions()}
    for name in weights:
        if name not in own:
            close = difflib.get_close_matches(name, own, n=1, cutoff=0.4)
            hint = f'did you mean "{close[0]}"?' if close else f"they are {', '.join(own)}"
            raise ValueError(f'no dimension is called "{shown(name)}"; {hint}')
    whole = sum({**own, **weights}.values())
    if abs(whole - 1) > _WHOLE:
        listed = ", ".join(f"{name} {weight:g}" for name, weight in {**own, **weights}.items())
        raise ValueError(f"the weights make {whole:g} together, not 1: {listed}")


def _dimension(name: str, *, counted: bool) -> Dimension:
    """One that is installed from elsewhere changes no overall score until a project gives it a weight."""
    module = plugins.module(FOLDER, name)
    if not callable(getattr(module, "score", None)):
        raise SynthesisError("no function score", where=module.__name__, fix="define score(turn, numbers)")
    numbers = read_numbers(module.__name__)
    return Dimension(name, numbers, numbers.weight if counted else 0.0, module.score)


def read_numbers(module: str) -> Numbers:
    """The numbers beside a module, by the module's dotted name."""
    package, _, name = module.rpartition(".")
    file = resources.files(package) / f"{name}.toml"
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        what = f"no readable numbers: {error}"
        raise SynthesisError(what, where=module, fix=f"write {name}.toml beside {name}.py") from error
    try:
        return Numbers.model_validate(table)
    except ValidationError as error:
        raise Problems(from_validation(error, Numbers, Place(f"{name}.toml"))) from error
