"""Subjects from their definitions in scenario files."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from harness import plugins
from harness.errors import Place, Problems, SynthesisError, words_of
from harness.problems import from_validation, shown
from harness.scenario import Scenario, SubjectMaker
from harness.subject import ScenarioFolder, Subject, SubjectError


def asks_model(given: dict[str, Any]) -> bool:
    """Whether a language model answers for a subject of this definition."""
    name = given.get("type")
    return name in plugins.names("subjects") and subject_type(str(name)).asks_model


def subject_type(name: str) -> type[Subject]:
    """The subject that lives in `subjects/<name>.py`."""
    return plugins.only_class("subjects", name, Subject)


def read_subject(given: dict[str, Any], place: Place, folder: ScenarioFolder, *, trusted: bool) -> Subject:
    """A subject from its definition; raises all that is wrong with it."""
    name = given.get("type")
    if not isinstance(name, str) or name not in plugins.names("subjects"):
        known = ", ".join(plugins.names("subjects"))
        what = '"type" is missing' if name is None else f'unknown type "{shown(name)}"'
        raise Problems([SynthesisError(what, where=place, fix=f"use one of: {known}")])
    kind = subject_type(name)
    if (kind.code and not trusted) or (kind.starts_programs and folder.confined):
        need = "trusted Python (.py)" if kind.code else "a run without --data-only"
        raise Problems(
            [SynthesisError(f'a "{name}" subject needs {need}', where=place, fix="use another type here")]
        )
    try:
        subject = kind.model_validate({key: value for key, value in given.items() if key != "type"})
        return subject.settle(folder, place)
    except ValidationError as error:
        raise Problems(from_validation(error, kind, place)) from error


def subject_maker(given: Callable[..., Any], place: Place, folder: ScenarioFolder) -> SubjectMaker:
    """A function of trusted Python that chooses the subject; what it raises is an error of the trial."""

    def make(scenario: Scenario, seed: int) -> Subject:
        try:
            made = given(scenario, seed)
            if isinstance(made, Subject):
                return made.settle(folder, place)
            if isinstance(made, dict):
                return read_subject(made, place, folder, trusted=True)
        except SubjectError:
            raise
        except SynthesisError as error:
            found = error.problems if isinstance(error, Problems) else (error,)
            said = "; ".join(f"{problem.where}: {problem.what}" for problem in found)
            raise SubjectError("subject", said) from error
        except (Exception, SystemExit) as error:
            raise SubjectError(type(error).__name__, words_of(error)) from error
        raise SubjectError("subject", f"the function gave {type(made).__name__}, not a subject")

    return make
