"""Scenario files into scenarios. Everything wrong with them is reported together, before anything runs."""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.criterion import Criterion
from harness.endpoint import ModelAccess
from harness.errors import Place, Problems, SynthesisError
from harness.facts import ScenarioFacts
from harness.json_file import read_json
from harness.judging import settle_criteria
from harness.problems import from_validation, shown, unwritable_texts
from harness.resources import is_bundled
from harness.rubric import RubricReader
from harness.scenario import Base64Bytes, Fixture, Scenario, ScenarioDefinition, SubjectMaker
from harness.scenario_paths import scenario_files
from harness.settings import TurnSettings
from harness.subject import FileText, ScenarioFolder, Subject, SubjectError
from harness.subject_reader import asks_model, read_subject, subject_maker
from harness.trusted import load_python
from harness.workspace import clashing_fixtures, fixture_problem


@dataclass(frozen=True)
class LoadOptions:
    """`warn` is told about every file that is code; `access` names the model of scenarios that bring none.

    With `criteria_only` nothing is to run: names and rubrics are read, subjects and files are not.
    """

    recursive: bool = False
    data_only: bool = False
    criteria_only: bool = False
    access: ModelAccess = ModelAccess()
    judge: ModelAccess = ModelAccess()
    turns: TurnSettings = TurnSettings()
    warn: Callable[[str], None] = field(default=lambda _: None)


def load_scenarios(paths: Sequence[str | Path], options: LoadOptions = LoadOptions()) -> list[Scenario]:
    """All scenarios of all paths, in order; at least one, no two of which would share a file name."""
    problems: list[SynthesisError] = []
    scenarios = [
        scenario
        for file in scenario_files(paths, recursive=options.recursive)
        for scenario in _FileLoader(file, options, problems).scenarios()
    ]
    problems.extend(_clashing_names(scenarios))
    if problems:
        raise Problems(problems)
    if not scenarios:
        where = ", ".join(str(path) for path in paths)
        raise SynthesisError(
            "no scenarios", where=where, fix="name a folder with .json or .py scenario files"
        )
    return scenarios


def _clashing_names(scenarios: Iterable[Scenario]) -> Iterator[SynthesisError]:
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = seen.setdefault(scenario.slug, scenario)
        if other is not scenario:
            yield SynthesisError(
                f'the name "{shown(scenario.name)}" makes the same file name as "{shown(other.name)}" '
                f"in {other.file}",
                where=scenario.file,
                fix="give each scenario a name of its own",
            )


class _FileLoader:
    """Reads one file and adds what is wrong with it to the problems."""

    def __init__(self, file: Path, options: LoadOptions, problems: list[SynthesisError]) -> None:
        self._file = file
        self._place = Place(str(file))
        self._options = options
        self._trusted = file.suffix == ".py"
        self._data_only = options.data_only and not is_bundled(file, "scenarios")
        self._folder = ScenarioFolder(file.parent, self._data_only, options.access)
        self._problems = problems
        self._rubrics = RubricReader(file.parent, trusted=self._trusted, problems=problems)

    def scenarios(self) -> Iterator[Scenario]:
        for index, raw in enumerate(self._read()):
            place = self._place / "scenarios" / index
            if unwritable := list(unwritable_texts(raw, place) if self._trusted else ()):
                self._problems.extend(unwritable)
                continue
            try:
                definition = ScenarioDefinition.model_validate(raw)
            except ValidationError as error:
                self._problems.extend(from_validation(error, ScenarioDefinition, place))
                self._read_parts(raw, place)
                continue
            scenario = self._scenario(definition, place)
            if scenario is not None:
                yield scenario

    def _read(self) -> list[Any]:
        if not self._file.is_file():
            self._add("not a regular file", self._place, "mend the link, or move it elsewhere")
            return []
        return self._read_python() if self._trusted else self._read_data()

    def _read_python(self) -> list[Any]:
        if self._data_only:
            self._add("a .py file is code", self._place, "run without --data-only if you trust it")
            return []
        self._options.warn(f"{self._file} is code: it runs with your rights")
        try:
            return load_python(self._file)
        except SynthesisError as error:
            self._problems.append(error)
            return []

    def _read_data(self) -> list[Any]:
        try:
            data = read_json(self._file)
        except (OSError, ValueError) as error:
            self._add(f"not readable as JSON: {error}", self._place, "mend the file, or move it elsewhere")
            return []
        if not isinstance(data, dict) or not isinstance(data.get("scenarios"), list):
            self._add(
                "not a scenario file", self._place, 'write {"scenarios": [ … ]}, or move the file elsewhere'
            )
            return []
        for key in sorted(set(data) - {"$schema", "scenarios"}):
            self._add(
                f'unknown key "{shown(key)}"', self._place, 'the known keys are "$schema" and "scenarios"'
            )
        scenarios: list[Any] = data["scenarios"]
        return scenarios

    def _read_parts(self, raw: Any, place: Place) -> None:
        """What is wrong with the parts of a scenario that is itself wrong belongs in the same report."""
        if isinstance(raw, dict) and isinstance(raw.get("rubric"), list):
            list(self._rubrics.read(raw["rubric"], place / "rubric"))
        if isinstance(raw, dict) and isinstance(raw.get("subject"), dict) and not self._options.criteria_only:
            self._read_subject(raw["subject"], place / "subject", self._folder)

    def _scenario(self, definition: ScenarioDefinition, place: Place) -> Scenario | None:
        before = len(self._problems)
        subject, system, fixtures = (
            (_never_asked, None, {}) if self._options.criteria_only else self._to_run(definition, place)
        )
        criteria = self._criteria(definition, place / "rubric")
        if len(self._problems) > before or subject is None:
            return None
        slim = definition.model_copy(update={"subject": None, "rubric": (), "fixtures": {}})
        return Scenario(slim, str(self._file), self._file.parent, system, fixtures, subject, criteria)

    def _criteria(self, definition: ScenarioDefinition, place: Place) -> tuple[Criterion, ...]:
        facts = ScenarioFacts(
            self._options.judge,
            definition.judge_model,
            confined=self._data_only,
            memories=definition.memories,
            expects_refusal=definition.expects_refusal,
            turns=self._options.turns,
        )
        criteria = tuple(self._rubrics.read(definition.rubric, place))
        return settle_criteria(criteria, facts, place, self._problems)

    def _to_run(
        self, definition: ScenarioDefinition, place: Place
    ) -> tuple[Subject | SubjectMaker | None, str | None, dict[str, bytes]]:
        return (
            self._subject(definition, place / "subject"),
            self._system(definition, place / "system"),
            self._fixtures(definition.fixtures, place / "fixtures"),
        )

    def _subject(self, definition: ScenarioDefinition, place: Place) -> Subject | SubjectMaker | None:
        folder = self._folder.fixed() if definition.fixed_subject else self._folder
        given = definition.subject if definition.fixed_subject else self._overridden(definition.subject)
        if given is None:
            if self._options.access.model is None:
                fix = (
                    'add one, for example {"type": "scripted", "replies": […]}, or give --model PROVIDER:NAME'
                )
                self._add("the scenario has no subject", place, fix)
                return None
            given = {"type": "chat"}
        if isinstance(given, dict):
            return self._read_subject(given, place, folder)
        if not self._trusted:
            self._add("a subject is an object", place, 'write {"type": …}')
            return None
        return subject_maker(given, place, folder)

    def _overridden(self, given: Any) -> Any:
        """With --override-subject the model talks itself; one that was to have gates keeps them."""
        if not self._options.access.override or (isinstance(given, dict) and asks_model(given)):
            return given
        return None

    def _read_subject(self, given: dict[str, Any], place: Place, folder: ScenarioFolder) -> Subject | None:
        try:
            return read_subject(given, place, folder, trusted=self._trusted)
        except SynthesisError as found:
            self._problems.extend(found.problems if isinstance(found, Problems) else [found])
            return None

    def _system(self, definition: ScenarioDefinition, place: Place) -> str | None:
        if not isinstance(definition.system, FileText):
            return definition.system
        try:
            return self._folder.read_text(definition.system, place)
        except SynthesisError as error:
            self._problems.append(error)
            return None

    def _fixtures(self, fixtures: dict[str, Fixture], place: Place) -> dict[str, bytes]:
        for name in fixtures:
            if problem := fixture_problem(name):
                self._add(f'"{shown(name)}" is {problem}', place, "write a path inside the workspace, with /")
        if clash := clashing_fixtures(list(fixtures)):
            self._add(clash, place, "rename one of them")
        return {name: self._fixture(fixture, place / name) for name, fixture in fixtures.items()}

    def _fixture(self, fixture: Fixture, place: Place) -> bytes:
        if isinstance(fixture, str):
            return fixture.encode("utf-8")
        if isinstance(fixture, FileText):
            return self._content(fixture.file, place / "file")
        return self._decoded(fixture, place / "base64")

    def _decoded(self, fixture: Base64Bytes, place: Place) -> bytes:
        try:
            return base64.b64decode(fixture.base64, validate=True)
        except binascii.Error as error:
            self._add(f"not base64: {error}", place, "encode the bytes again")
            return b""

    def _content(self, name: str, place: Place) -> bytes:
        try:
            return self._folder.read(name, place)
        except SynthesisError as error:
            self._problems.append(error)
            return b""

    def _add(self, what: str, where: Place, fix: str) -> None:
        self._problems.append(SynthesisError(what, where=where, fix=fix))


def _never_asked(scenario: Scenario, seed: int) -> Subject:
    raise SubjectError("subject", f"{scenario.name} was loaded for its criteria, not to run seed {seed}")
