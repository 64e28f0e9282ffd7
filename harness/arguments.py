"""Values from the command line, checked before anything runs, refused with the value in the message."""

import math
from collections.abc import Sequence

from harness.errors import SynthesisError
from harness.problems import shown


def whole_number(text: str, option: str, *, least: int = 0) -> int:
    """Digits only: no sign, no exponent, no point."""
    if text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= least:
        return int(text)
    raise SynthesisError(
        f'"{shown(text)}" is not a whole number of at least {least}',
        where=option,
        fix=f"write for example {option} {least + 3}",
    )


def share(text: str, option: str, example: float = 0.85) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        fix = f"write for example {option} {example:g}"
        raise SynthesisError(f'"{shown(text)}" is not a number from 0 to 1', where=option, fix=fix)
    return value


def confidence(text: str, option: str) -> float:
    """A level of confidence: a number above 0.5 and below 1."""
    value = share(text, option, 0.95)
    if not 0.5 < value < 1:
        what = f'"{shown(text)}" is not a level between 0.5 and 1'
        raise SynthesisError(what, where=option, fix=f"write for example {option} 0.95")
    return value


def seconds(text: str, option: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        fix = f"write for example {option} 60"
        raise SynthesisError(f'"{shown(text)}" is not a number of seconds above 0', where=option, fix=fix)
    return value


def one_of(text: str, option: str, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if text not in allowed:
        raise SynthesisError(
            f'"{shown(text)}" is not known', where=option, fix=f"use one of: {', '.join(allowed)}"
        )
    return text
