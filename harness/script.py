"""Replies that are given as data: which of them are said under a seed."""

from collections.abc import Mapping
from typing import TypeVar, cast

from harness.errors import SubjectError

Line = TypeVar("Line")
Lines = tuple[Line, ...]


def lines_for(
    seed: int, replies: Lines[Line] | tuple[Lines[Line], ...] | Mapping[int, Lines[Line]]
) -> Lines[Line]:
    """A flat list under every seed; a list of lists goes by (seed − 1) modulo its size, a map by seed."""
    if isinstance(replies, Mapping):
        if seed not in replies:
            raise SubjectError("script", f"there are no replies for seed {seed}")
        return replies[seed]
    if isinstance(replies[0], tuple):  # all are lists or none is, since a line is none
        replies = cast("tuple[Lines[Line], ...]", replies)
        return replies[(seed - 1) % len(replies)]
    return cast("Lines[Line]", replies)
