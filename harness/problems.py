"""A validation error in our own words: where, what with the offending value, and how to mend it."""

import difflib
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from harness.errors import Place, SynthesisError

_EXCERPT = 60
_WORDS = {
    "tuple": "list",
    "dict": "object",
    "dictionary": "object",
    "bool": "true or false",
    "float": "number",
    "int": "whole number",
}
"""What a file calls the types of its values."""


@dataclass(frozen=True)
class _Mistake:
    """One detail of a validation error with the path a file's reader would write.

    `choices` are the unions passed on the way, each as where it stands and which of its kinds was tried.
    """

    path: tuple[int | str, ...]
    choices: tuple[tuple[int, str], ...]
    model: type[BaseModel] | None
    detail: Any

    @property
    def about_a_key(self) -> bool:
        """Whether the last part of the path is a key that is missing or does not belong there."""
        return self.detail["type"] in ("extra_forbidden", "missing")


def from_validation(
    error: ValidationError, model: type[BaseModel], where: str | Place
) -> Iterator[SynthesisError]:
    """One problem per mistake, its place as a JSON pointer behind `where`."""
    mistakes = [_mistake(detail, model) for detail in error.errors(include_url=False)]
    for mistake in _without_echoes(_likeliest(mistakes)):
        place = where if isinstance(where, Place) else Place(where)
        for part in mistake.path[:-1] if mistake.about_a_key else mistake.path:
            place /= shown(part)
        what, fix = _say(mistake)
        yield SynthesisError(what, where=place, fix=fix)


def first_mistake(error: ValidationError, between: str = "/") -> tuple[str, str]:
    """Where the first mistake is and what it is, in pydantic's words: for what no person wrote by hand."""
    first = error.errors(include_url=False)[0]
    return between.join(map(str, first["loc"])), first["msg"]


def _mistake(detail: Any, model: type[BaseModel]) -> _Mistake:
    """Follow pydantic's location along the types: it also names the kinds of a union it tried."""
    path: list[int | str] = []
    choices: list[tuple[int, str]] = []
    here: list[Any] = [model]
    owner: type[BaseModel] | None = model
    for part in detail["loc"]:
        if part == "[key]":  # pydantic's way to say that the key before it is what is wrong
            continue
        here = [kind for annotation in here for kind in _kinds(annotation)]
        if len(here) > 1 and isinstance(part, str):
            choices.append((len(path), part))
            here = [kind for kind in here if getattr(kind, "__name__", "?") in part] or here
            continue
        path.append(part)
        models = [kind for kind in here if isinstance(kind, type) and issubclass(kind, BaseModel)]
        owner = models[0] if models else None
        here = [inner for kind in here for inner in _inside(kind, part)]
    return _Mistake(tuple(path), tuple(choices), owner, detail)


def _kinds(annotation: Any) -> Iterator[Any]:
    """The types a value may have, with `Annotated` and `None` taken away."""
    if get_origin(annotation) is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for choice in get_args(annotation):
            yield from _kinds(choice)
    elif annotation not in (type(None), Ellipsis):
        yield annotation


def _inside(kind: Any, part: int | str) -> Iterator[Any]:
    """The types of what lies under a key or an index."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            if part in (name, field.alias):
                yield field.annotation
    elif get_origin(kind) is dict:
        yield get_args(kind)[1]
    elif get_origin(kind) in (tuple, list):
        yield get_args(kind)[0]


def _likeliest(mistakes: Sequence[_Mistake]) -> list[_Mistake]:
    """Of each union, only what is wrong by the kind that fits best: the one that was followed furthest."""
    level = 0
    left = list(mistakes)
    while any(len(mistake.choices) > level for mistake in left):
        unions: dict[tuple[int | str, ...], dict[str, list[_Mistake]]] = {}
        for mistake in left:
            if len(mistake.choices) > level:
                depth, choice = mistake.choices[level]
                unions.setdefault(mistake.path[:depth], {}).setdefault(choice, []).append(mistake)
        dropped = {
            id(mistake)
            for kinds in unions.values()
            for mistakes_of_kind in sorted(kinds.values(), key=_misfit)[1:]
            for mistake in mistakes_of_kind
        }
        left = [mistake for mistake in left if id(mistake) not in dropped]
        level += 1
    return left


def _misfit(mistakes: Iterable[_Mistake]) -> tuple[int, bool]:
    furthest = max(mistakes, key=lambda mistake: len(mistake.path))
    kind, given = furthest.detail["type"], furthest.detail["input"]
    other_type = kind.endswith("_type") or (kind == "literal_error" and not isinstance(given, str))
    return -len(furthest.path), other_type


def _without_echoes(mistakes: Sequence[_Mistake]) -> Iterator[_Mistake]:
    """A list that is called too short only because its items are wrong says nothing new."""
    for mistake in mistakes:
        size = len(mistake.path)
        echo = mistake.detail["type"] == "too_short" and any(
            len(other.path) > size and other.path[:size] == mistake.path for other in mistakes
        )
        if not echo:
            yield mistake


def _say(mistake: _Mistake) -> tuple[str, str]:
    detail = mistake.detail
    key, kind, context = (
        str(mistake.path[-1]) if mistake.path else "",
        detail["type"],
        detail.get("ctx", {}),
    )
    if kind == "extra_forbidden":
        return f'unknown key "{shown(key)}"', _nearest(key, known_keys(mistake.model))
    if kind == "missing":
        return f'"{key}" is missing', f'add "{key}"'
    if kind == "value_error":
        return str(context["error"]), "correct the value"
    if kind.endswith("too_short") and context["min_length"] == 1:
        return f'"{shown(key)}" is empty', "do not leave it empty"
    if kind == "model_type":
        return f"this has to be an object, not {_quoted(detail['input'])}", "write it as { … }"
    message = " ".join(_WORDS.get(word, word) for word in detail["msg"].split(" "))
    name = f'"{shown(key)}": ' if key else ""
    return f"{name}{message[0].lower()}{message[1:]}, not {_quoted(detail['input'])}", _fix(kind, context)


def _quoted(given: object) -> str:
    return f'"{shown(given)}"' if isinstance(given, str) else shown(given)


_ALLOWED = {
    "greater_than": "give a number above {gt:g}",
    "greater_than_equal": "give a number of at least {ge}",
    "less_than": "give a number below {lt:g}",
    "less_than_equal": "give a number of at most {le}",
    "string_too_long": "use at most {max_length} characters",
    "literal_error": "use {expected}",
    "string_pattern_mismatch": "write it so that it matches {pattern}",
    "finite_number": "give a finite number",
}
"""How to mend what pydantic calls so, with what it knows about it."""


def _fix(kind: str, context: dict[str, Any]) -> str:
    if kind in _ALLOWED:
        return _ALLOWED[kind].format(**context)
    if kind.endswith("_type"):
        word = kind.removesuffix("_type")
        return f"give a value of type {_WORDS.get(word, word)}"
    return "correct the value"


def known_keys(model: type[BaseModel] | None) -> list[str]:
    """The keys a file may use for this record."""
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]


def _nearest(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"remove it; the known keys are {', '.join(known)}"


def unwritable_texts(value: object, place: Place) -> Iterator[SynthesisError]:
    """Texts with half a surrogate pair: Python can hold them, UTF-8 cannot, so no transcript could."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            what = f'"{shown(value)}" is not text: it holds half a character'
            yield SynthesisError(what, where=place, fix="remove the lone surrogate")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from unwritable_texts(key, place)
            yield from unwritable_texts(inner, place / shown(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from unwritable_texts(inner, place / index)


def shown(value: object) -> str:
    """A value from a file, short and with nothing in it that a terminal would act on."""
    whole = value if isinstance(value, str) else repr(value)
    text = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in whole[: _EXCERPT + 1]
    )
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
