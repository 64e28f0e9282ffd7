"""The file of a lexicon: its shape, and what can be wrong with that."""

from collections.abc import Iterator
from typing import Annotated, Any

import tomli  # the same as tomllib, compiled: reading the lexicons is a good part of every start
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import Problems, SynthesisError
from harness.problems import shown

Example = Annotated[str, Field(pattern=r"\S")]


class Entry(BaseModel):
    """One rule: what it is called, what it matches, why it counts, and the examples that test it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    group: str = Field(min_length=1)
    pattern: str = Field(min_length=1)
    unless: tuple[str, ...] = ()
    why: str = Field(min_length=1)
    match: tuple[Example, ...] = Field(min_length=1)
    no_match: tuple[Example, ...] = Field(min_length=1)


class LexiconFile(BaseModel):
    """The shape of a lexicon file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    words: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    guards: dict[str, str] = {}
    entry: tuple[Entry, ...] = Field(min_length=1)


def read_file(source: bytes, where: str) -> LexiconFile:
    """The file's content, if its shape is right."""
    try:
        data = tomli.loads(source.decode("utf-8"))
    except (tomli.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SynthesisError(f"not readable as TOML: {error}", where=where, fix="mend the syntax") from error
    try:
        return LexiconFile.model_validate(data)
    except ValidationError as error:
        raise Problems(_shape_problems(error, data, where)) from error


def _shape_problems(error: ValidationError, data: dict[str, Any], where: str) -> Iterator[SynthesisError]:
    for detail in error.errors():
        place, *rest = detail["loc"]
        if place == "entry" and not rest and data.get("entry") and detail["type"] == "too_short":
            continue  # its entries are wrong, which is said of each
        if place == "entry" and rest:
            index, *inside = rest
            entry = data["entry"][index]
            name = entry.get("id") if isinstance(entry, dict) else None
            spot = f"{where}: entry {f'number {int(index) + 1}' if name is None else shown(name)}"
            known = list(Entry.model_fields)
        else:
            inside, spot, known = list(detail["loc"]), where, list(LexiconFile.model_fields)
        key = shown(".".join(str(part) for part in inside) or "entry")
        yield SynthesisError(
            f'"{key}": {detail["msg"]}', where=spot, fix=_shape_fix(detail["type"], key, known)
        )


def _shape_fix(kind: str, key: str, known: list[str]) -> str:
    if kind == "extra_forbidden":
        return f'remove "{key}"; the known keys are {", ".join(known)}'
    if key.partition(".")[0] in ("match", "no_match"):
        return f'give "{key.partition(".")[0]}" at least one example sentence, and none that is blank'
    if key.startswith("words.") and kind == "too_short":
        return f'give "{key}" at least one word, or remove it'
    if kind == "missing":
        return f'add "{key}"'
    return f'correct "{key}"'
