"""Defaults a project keeps in `synthesis.toml`, or under `[tool.synthesis]` in its `pyproject.toml`."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli
from pydantic import Field, StrictInt, ValidationError, field_validator

from harness.errors import Place, Problems, SynthesisError
from harness.price import Price
from harness.problems import from_validation
from harness.records import Record
from harness.similarity import BAG_OF_WORDS, Measure

MOST_JOBS = 10_000


class CheckSettings(Record):
    """What shapes a verdict beside the text itself; recorded in every report."""

    language: str = Field(default="en", min_length=2)
    similarity: Measure = BAG_OF_WORDS
    similarity_threshold: float = Field(default=0.45, ge=0, le=1, strict=True)


Share = Annotated[float, Field(ge=0, le=1)]


class EvalSettings(Record):
    """Defaults of `synthesis eval`; the command line wins."""

    paths: tuple[str, ...] = Field(
        default=(), description="scenario files or folders, relative to the project file"
    )
    seeds: StrictInt | str | None = Field(
        default=None,
        description='5, or as on the command line: "3,7,11"; for scenarios that do not say themselves',
    )
    jobs: int = Field(default=8, ge=1, le=MOST_JOBS)
    engine: str = Field(
        default="local", description="where trials are run: local, processes[:N] or dask[:ADDRESS]"
    )
    timeout: float = Field(default=300, gt=0, allow_inf_nan=False, description="seconds for one trial")
    min_mean: Share | None = None
    min_worst: Share | None = None
    min_scenario_mean: Share | None = None
    confidence: float | None = Field(default=None, gt=0.5, lt=1, description="decide thresholds by intervals")
    max_errors: int = Field(default=0, ge=0)
    retries: int = Field(default=5, ge=0, le=20, description="further attempts at one request to a model")
    keep_workspaces: Literal["always", "failed", "never"] = "always"


class TurnSettings(Record):
    """How the dimensions of a turn make one score, and when it is good enough."""

    language: str = Field(default="en", min_length=2)
    weights: dict[str, Share] = Field(
        default={}, description="by dimension; those not named keep theirs, and all together are 1"
    )
    pass_at: Share = 0.85
    warn_below: Share = 0.75
    changed_beyond: Share = Field(default=0.05, description="of two overall scores, what is a change")

    @field_validator("weights")
    @classmethod
    def _known_and_whole(cls, weights: dict[str, float]) -> dict[str, float]:
        if weights:
            from harness.dimension import check_weights

            check_weights(weights)
        return weights


class Settings(Record):
    """The whole project file."""

    # Made without being checked, since making ready to check them takes time.
    check: CheckSettings = CheckSettings.model_construct()
    eval: EvalSettings = EvalSettings.model_construct()
    turns: TurnSettings = TurnSettings.model_construct()
    prices: dict[str, Price] = Field(
        default={}, description='of a million tokens, by model: [prices."openai:gpt-4o-mini"]'
    )


def find_settings(folder: Path) -> Settings:
    """The nearest project file from this folder upwards; defaults where there is none."""
    for place in (folder, *folder.parents):
        own = place / "synthesis.toml"
        if own.is_file():
            return _settings(_read(own), Place(str(own)), place)
        project = place / "pyproject.toml"
        tools = _read(project).get("tool") if project.is_file() else None
        if isinstance(tools, dict) and "synthesis" in tools:
            return _settings(tools["synthesis"], Place(str(project)) / "tool" / "synthesis", place)
    return Settings.model_construct()


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomli.loads(file.read_text("utf-8"))
    except (tomli.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SynthesisError(
            f"not readable as TOML: {error}", where=str(file), fix="mend the file"
        ) from error


def _settings(table: Any, place: Place, folder: Path) -> Settings:
    try:
        settings = Settings.model_validate(table)
    except ValidationError as error:
        raise Problems(from_validation(error, Settings, place)) from error
    paths = tuple(os.path.relpath(folder / path) for path in settings.eval.paths)
    return settings.model_copy(update={"eval": settings.eval.model_copy(update={"paths": paths})})
