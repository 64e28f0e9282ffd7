"""Human labels: a line holds what one person said of one criterion on one trial of a run."""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, StrictBool, StrictInt, ValidationError, field_validator

from harness.agreement_report import MetricName, Opinion, Rater
from harness.errors import Problems, SynthesisError
from harness.json_file import read_regular
from harness.problems import from_validation, shown
from harness.ratings import JudgedScenario, Rating, Scale, share_of
from harness.records import Record

_LISTED = 8
_LOOKED_UP = 20
"""The nearest of many names takes a while to find: a file for another run would be refused too slowly."""


class Label(Record):
    """One line of a label file."""

    scenario: str = Field(min_length=1)
    seed: StrictInt = Field(ge=0)
    criterion: str = Field(min_length=1, description="its name as in the report")
    label: StrictBool | Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = Field(
        description="true: should pass, false: should fail; or points, from 0 to the criterion's maximum"
    )
    rater: str = Field(default="human", min_length=1)

    @field_validator("label", mode="before")
    @classmethod
    def _verdict_or_points(cls, given: object) -> object:
        if not isinstance(given, bool | int | float):
            raise ValueError(f'"label" is true, false or a number of points, not {shown(given)}')  # noqa: TRY004
        return given

    @property
    def metric(self) -> MetricName:
        """How it is compared."""
        return "nominal" if isinstance(self.label, bool) else "interval"

    def rating(self, scale: Scale) -> Rating:
        """Points are held to the judge's own mark to be compared as a verdict too."""
        said = self.label
        rater = Rater(kind="human", name=self.rater)
        if isinstance(said, bool):
            return Rating(rater, Opinion(passed=said, points=None, reason=None), {"nominal": float(said)})
        values: dict[MetricName, float] = {"interval": share_of(said, scale.worth)}
        passed = None if scale.pass_at is None else said >= scale.pass_at
        if passed is not None:
            values["nominal"] = float(passed)
        return Rating(rater, Opinion(passed=passed, points=said, reason=None), values)


class Labels:
    """The labels of a file by scenario and line, and everything that is wrong with them."""

    def __init__(self, where: str) -> None:
        self.number = 0
        self._where = where
        self._problems: list[tuple[int, SynthesisError]] = []
        self._by_scenario: dict[str, dict[int, Label]] = {}
        self._first_of_item: dict[tuple[str, int, str, str], int] = {}
        self._first_of_criterion: dict[str, tuple[MetricName, int]] = {}

    def add(self, line: int, label: Label) -> None:
        """Twice the same thing by the same person, or a verdict beside points, is refused."""
        item = (label.scenario, label.seed, label.criterion, label.rater)
        first = self._first_of_item.setdefault(item, line)
        metric, other = self._first_of_criterion.setdefault(label.criterion, (label.metric, line))
        if first != line:
            what = f'"{shown(label.rater)}" labelled this trial and criterion in line {first} already'
            self.refuse(line, what, 'remove one of them, or tell the people apart with "rater"')
        elif metric != label.metric:
            what = f'"label" is {_KINDS[label.metric]}, but {_KINDS[metric]} in line {other}'
            self.refuse(line, what, "label a criterion either with true and false or with points")
        else:
            self.number += 1
            self._by_scenario.setdefault(label.scenario, {})[line] = label

    def refuse(self, line: int, what: str, fix: str) -> None:
        """Remember what is wrong with a line."""
        self._problems.append((line, SynthesisError(what, where=f"{self._where}:{line}", fix=fix)))

    def refuse_invalid(self, line: int, error: ValidationError) -> None:
        """Remember what a line has that no label has."""
        found = from_validation(error, Label, f"{self._where}:{line}")
        self._problems.extend((line, problem) for problem in found)

    def of(self, scenario: JudgedScenario) -> dict[int, Label]:
        """The labels of a scenario by their lines, without those that cannot be meant."""
        scales = scenario.scales()
        seeds = [trial.seed for trial in scenario.trials]
        kept = {}
        for line, label in self._by_scenario.get(scenario.name, {}).items():
            scale = scales.get(label.criterion)
            if scales and scale is None:
                what = f'"{shown(scenario.name)}" has no criterion "{shown(label.criterion)}"'
                self.refuse(line, what, _nearest(label.criterion, scales))
            elif label.seed not in seeds and not scenario.not_run:
                what = f'"{shown(scenario.name)}" was not run with seed {label.seed}'
                self.refuse(line, what, f"use one of its seeds: {_some(map(str, seeds))}")
            elif scale is not None and label.metric == "interval" and label.label > scale.worth:
                most = f"{scale.worth:g}"
                what = f'{label.label:g} points for "{shown(label.criterion)}", which gives at most {most}'
                self.refuse(line, what, f"give a number from 0 to {most}")
            else:
                kept[line] = label
        return kept

    def finish(self, scenarios: Iterable[str]) -> None:
        """Once the whole report was seen: raise if anything was wrong with the file, all of it together."""
        known = dict.fromkeys(scenarios)
        unknown = {name: list(lines) for name, lines in self._by_scenario.items() if name not in known}
        for number, (name, lines) in enumerate(unknown.items()):
            more = f" (and in {len(lines) - 1} more of the lines)" if len(lines) > 1 else ""
            fix = _nearest(name, known) if number < _LOOKED_UP else "use a name that is in the report"
            self.refuse(lines[0], f'no scenario "{shown(name)}" in the report{more}', fix)
        if self._problems:
            raise Problems(problem for _, problem in sorted(self._problems, key=lambda found: found[0]))


_KINDS: dict[MetricName, str] = {"nominal": "true or false", "interval": "points"}


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f'did you mean "{shown(close[0])}"?' if close else f"use one of: {_some(names)}"


def _some(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(map(shown, every[:_LISTED])) + (", …" if len(every) > _LISTED else "")


def read_labels(path: Path) -> Labels:
    """What is wrong with single lines is kept until the report was read, to be told with the rest."""
    try:
        content = read_regular(path)
    except OSError as error:
        fix = "name a file with one JSON object a line"
        raise SynthesisError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from error
    labels = Labels(str(path))
    empty = True
    for number, line in _lines(content):
        empty = False
        try:
            labels.add(number, Label.model_validate(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            what = f"not a JSON object: {error.msg} at column {error.colno}"
            labels.refuse(number, what, "mend the line, or remove it")
        except ValidationError as error:
            labels.refuse_invalid(number, error)
    if empty:
        fix = 'write lines like {"scenario": …, "seed": 1, "criterion": …, "label": true}'
        raise SynthesisError("there are no labels in it", where=str(path), fix=fix)
    return labels


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line
