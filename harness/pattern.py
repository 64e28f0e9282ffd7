"""Patterns compiled by RE2, which is imported when the first one is: the compiled core needs none of them."""

from typing import Any

from harness.errors import SynthesisError
from harness.problems import shown

MEMORY = 8 << 20
"""Bytes RE2 may use for one pattern: with less it forgets states that it needs again at once."""
KEPT_MEMORY = 1 << 20
"""The same for a pattern that is kept and put to a few sentences at a time."""
GUARD_MEMORY = 2 << 20
"""The same for a pattern that cancels hits."""
SET_MEMORY = 64 << 20
"""The same for a set of patterns; with less it gives up its fast engine."""


def by_line(pattern: str) -> str:
    """The pattern as lexicons mean it: `^` and `$` are where a line begins and ends."""
    return f"(?m:{pattern})"


def compiled(pattern: str, memory: int = MEMORY, where: str = "") -> Any:
    """A pattern ready to search; refused where it is wrong, or does not fit into so many bytes."""
    import re2

    try:
        found = re2.compile(pattern, re2_options(memory))
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace")
        written = shown(pattern.removeprefix("(?m:").removesuffix(")"))
        what = f"the pattern {written!r} does not compile: {why}"
        raise SynthesisError(what, where=where, fix="mend the pattern") from error
    re2.purge()  # else it keeps a reference, and with it all that the pattern has seen
    return found


def re2_options(memory: int) -> Any:
    """Enough memory, and no word of its own on standard error."""
    import re2

    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
