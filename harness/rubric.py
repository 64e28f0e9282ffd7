"""Rubrics: lists of criteria, some of them included from files of their own."""

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from harness import plugins
from harness.check import lexicon_stamp
from harness.criterion import CheckerCriterion, CheckerOptions, Criterion
from harness.errors import Place, SynthesisError
from harness.json_file import read_json
from harness.problems import from_validation, known_keys, shown
from harness.records import Record
from harness.resources import bundled

Part = TypeVar("Part", bound=Record)
_NAME = re.compile(r"[^./\\:\x00][^/\\:\x00]{0,99}")


class RubricFile(Record):
    """A file of criteria that scenarios include by its name."""

    schema_: str = Field(default="", alias="$schema")
    description: str = ""
    rubric: tuple[Any, ...] = Field(min_length=1)


def criterion_type(key: str) -> type[Criterion]:
    """The criterion that lives in `criteria/<key>.py`."""
    return plugins.only_class("criteria", key, Criterion)


@cache
def scoring_keys() -> tuple[str, ...]:
    """Every key that scores: the criteria, and every checker."""
    return (*plugins.names("criteria"), *plugins.names("checkers"))


class RubricReader:
    """Turns the criteria of one file into records, and collects what is wrong with them."""

    def __init__(self, folder: Path, *, trusted: bool, problems: list[SynthesisError]) -> None:
        self._folder = folder
        self._trusted = trusted
        self._problems = problems
        self._including: list[Path] = []

    def read(self, definitions: Sequence[Any], where: Place) -> Iterator[Criterion]:
        """The criteria in order, included ones in place."""
        for index, definition in enumerate(definitions):
            spot = where / index
            if not isinstance(definition, dict):
                self._add(f"a criterion is an object, not {shown(definition)}", spot, "write it as { … }")
            elif "include" in definition:
                yield from self._include(definition, spot)
            else:
                criterion = self._criterion(definition, spot)
                if criterion is not None:
                    yield criterion

    def _criterion(self, definition: dict[str, Any], spot: Place) -> Criterion | None:
        keys = [key for key in definition if key in scoring_keys()]
        if len(keys) != 1:
            self._wrong_keys(definition, keys, spot)
            return None
        key = keys[0]
        if key == "score" and not self._trusted:
            self._add('"score" is a function', spot, "use another criterion here, or a trusted .py file")
            return None
        if key in plugins.names("checkers"):
            return self._checker_criterion(key, definition, spot)
        return self._validated(criterion_type(key), definition, spot)

    def _checker_criterion(self, key: str, definition: dict[str, Any], spot: Place) -> Criterion | None:
        rest = {name: value for name, value in definition.items() if name != key}
        value = definition[key]
        if not isinstance(value, bool | dict):
            self._add(f'"{key}" is true, false or an object of options', spot / key, "write true")
            return None
        shared = self._validated(Criterion, rest, spot)
        options = self._validated(
            CheckerOptions, {"expect": value} if isinstance(value, bool) else value, spot / key
        )
        if shared is None or options is None:
            return None
        try:
            if options.language is not None:
                lexicon_stamp(key, options.language)
        except SynthesisError as error:
            self._add(error.what, spot / key / "language", error.fix)
            return None
        return CheckerCriterion.model_validate({**rest, "checker": key, "options": options})

    def _validated(self, model: type[Part], definition: Any, spot: Place) -> Part | None:
        try:
            return model.model_validate(definition)
        except ValidationError as error:
            self._problems.extend(from_validation(error, model, spot))
            return None

    def _wrong_keys(self, definition: dict[str, Any], keys: list[str], spot: Place) -> None:
        if keys:
            said = " and ".join(f'"{key}"' for key in keys)
            self._add(f"more than one scoring key: {said}", spot, "write one criterion for each")
            return
        known = {known for key in plugins.names("criteria") for known in known_keys(criterion_type(key))}
        unknown = [str(key) for key in definition if key not in known]
        for key in unknown:
            close = difflib.get_close_matches(key, [*scoring_keys(), "include"], n=1)
            if close:
                self._add(f'unknown key "{shown(key)}"', spot, f'did you mean "{close[0]}"?')
                return
        said = f'unknown key "{shown(unknown[0])}"' if unknown else "no scoring key"
        self._add(said, spot, f"use one of: {', '.join(scoring_keys())}")

    def _include(self, definition: dict[str, Any], spot: Place) -> Iterator[Criterion]:
        name = definition["include"]
        if len(definition) > 1 or not isinstance(name, str):
            self._add('"include" stands alone and names a rubric', spot, 'write {"include": "care"}')
            return
        path = self._find(name, spot)
        if path is None:
            return
        if path in self._including:
            self._add(f'"{shown(name)}" includes itself', spot, "break the circle")
            return
        yield from self.read_file(path)

    def read_file(self, path: Path) -> Iterator[Criterion]:
        """The criteria of a rubric file."""
        self._including.append(path)
        yield from self.read(self._definitions(path), Place(str(path)) / "rubric")
        self._including.pop()

    def _find(self, name: str, spot: Place) -> Path | None:
        if not _NAME.fullmatch(name):
            self._add(
                f'"{shown(name)}" is not a rubric\'s name', spot, "give the name without folder and ending"
            )
            return None
        file = f"{name.removesuffix('.json')}.json"
        places = [self._folder, Path("rubrics"), bundled("rubrics")]
        for place in places:
            if (place / file).is_file():
                return place / file
        there = sorted({path.stem for path in bundled("rubrics").glob("*.json")})
        self._add(
            f'no rubric "{shown(name)}"', spot, f"put {file} beside the scenarios, or use: {', '.join(there)}"
        )
        return None

    def _definitions(self, path: Path) -> list[Any]:
        try:
            data = read_json(path)
        except (OSError, ValueError) as error:
            self._add(f"not readable as JSON: {error}", Place(str(path)), "mend the file")
            return []
        file = self._validated(RubricFile, data, Place(str(path)))
        return [] if file is None else list(file.rubric)

    def _add(self, what: str, where: Place, fix: str) -> None:
        self._problems.append(SynthesisError(what, where=where, fix=fix))
