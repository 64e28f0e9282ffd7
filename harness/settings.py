"""Defaults a project keeps in `synthesis.toml`, or under `[tool.synthesis]` in its `pyproject.toml`."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from harness.errors import Problems, SynthesisError
from harness.problems import from_validation
from harness.records import Record
from harness.similarity import BAG_OF_WORDS, Measure


class CheckSettings(Record):
    """What shapes a verdict beside the text itself; recorded in every report."""

    language: str = Field(default="en", min_length=2)
    similarity: Measure = BAG_OF_WORDS
    similarity_threshold: float = Field(default=0.45, ge=0, le=1)


Share = Annotated[float, Field(ge=0, le=1)]


class EvalSettings(Record):
    """Defaults of `synthesis eval`; the command line wins."""

    seeds: str | None = Field(default=None, description='as on the command line: "5" or "3,7,11"')
    jobs: int = Field(default=8, ge=1, le=10_000)
    timeout: float = Field(default=300, gt=0, allow_inf_nan=False, description="seconds for one trial")
    min_mean: Share | None = None
    min_worst: Share | None = None
    min_scenario_mean: Share | None = None
    max_errors: int = Field(default=0, ge=0)
    keep_workspaces: Literal["always", "failed", "never"] = "always"


class Settings(Record):
    """The whole project file."""

    check: CheckSettings = CheckSettings()
    eval: EvalSettings = EvalSettings()


def find_settings(folder: Path) -> Settings:
    """The nearest project file from this folder upwards; defaults where there is none."""
    for place in (folder, *folder.parents):
        own = place / "synthesis.toml"
        if own.is_file():
            return _settings(_read(own), own)
        project = place / "pyproject.toml"
        if project.is_file() and (table := _read(project).get("tool", {}).get("synthesis")) is not None:
            return _settings(table, project)
    return Settings()


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SynthesisError(
            f"not readable as TOML: {error}", where=str(file), fix="mend the file"
        ) from error


def _settings(table: dict[str, Any], file: Path) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise Problems(from_validation(error, Settings, str(file))) from error
