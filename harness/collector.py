"""Work that makes many small records and no cycles of them, done without looking for cycles."""

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def without_collector(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """The work with the cycle collector paused: it would go through all those records time and again."""

    @wraps(work)
    def paused(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        if not gc.isenabled():
            return work(*args, **kwargs)
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            gc.enable()

    return paused
