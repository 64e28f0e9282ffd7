"""A validation error in our own words: where, what with the offending value, and how to mend it."""

import difflib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.errors import Place, SynthesisError

_EXCERPT = 60


def from_validation(
    error: ValidationError, model: type[BaseModel], where: str | Place
) -> Iterator[SynthesisError]:
    """One problem per mistake, its place as a JSON pointer behind `where`."""
    for detail in error.errors(include_url=False):
        place = where if isinstance(where, Place) else Place(where)
        for part in detail["loc"]:
            place /= shown(part)
        what, fix = _say(detail, model)
        yield SynthesisError(what, where=place, fix=fix)


def _say(detail: Any, model: type[BaseModel]) -> tuple[str, str]:
    key, kind, context = (
        str(detail["loc"][-1]) if detail["loc"] else "",
        detail["type"],
        detail.get("ctx", {}),
    )
    if kind == "extra_forbidden":
        return f'unknown key "{shown(key)}"', _nearest(key, known_keys(model))
    if kind == "missing":
        return f'"{key}" is missing', f'add "{key}"'
    if kind == "value_error":
        return str(context["error"]), "correct the value"
    message = detail["msg"][0].lower() + detail["msg"][1:]
    return f'"{shown(key)}": {message}, not {shown(detail["input"])}', _fix(kind, context)


def _fix(kind: str, context: dict[str, Any]) -> str:
    if kind == "string_pattern_mismatch":
        return f"write it so that it matches {context['pattern']}"
    if kind.endswith("too_short"):
        return "do not leave it empty"
    if kind.endswith("_type"):
        return f"give a value of type {kind.removesuffix('_type')}"
    return "correct the value"


def known_keys(model: type[BaseModel]) -> list[str]:
    """The keys a file may use for this record and the records directly inside it."""
    keys: list[str] = []
    for name, field in model.model_fields.items():
        keys.append(field.alias or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys += known_keys(field.annotation)
    return keys


def _nearest(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"remove it; the known keys are {', '.join(known)}"


def shown(value: object) -> str:
    """A value from a file, short and with nothing in it that a terminal would act on."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode() for char in text
    )
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
