"""What can go wrong, said so that a stranger can mend it, and the exit codes."""

import copyreg
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

_LONGEST_POINTER = 240


class Exit(IntEnum):
    """What the process tells its caller; 1 outranks 2, 2 outranks 3."""

    HOLDS = 0
    FATAL = 1
    THRESHOLD = 2
    INCONCLUSIVE = 3


@dataclass(frozen=True)
class Place:
    """A spot in a file: `place / "scenarios" / 2` is the JSON pointer `/scenarios/2` in it."""

    file: str
    pointer: str = ""

    def __truediv__(self, part: object) -> "Place":
        escaped = str(part).replace("~", "~0").replace("/", "~1")
        return Place(self.file, f"{self.pointer}/{escaped}")

    def __str__(self) -> str:
        """What lies very deep is pointed at by the beginning and the end of the way to it."""
        pointer = self.pointer
        if len(pointer) > _LONGEST_POINTER:
            pointer = f"{pointer[: _LONGEST_POINTER // 2]}…{pointer[-_LONGEST_POINTER // 2 :]}"
        return f"{self.file}:{pointer}" if pointer else self.file


class SynthesisError(Exception):
    """A problem with a place and a way out of it."""

    def __init__(self, what: str, *, where: str | Place = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = str(where)
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  fix: {self.fix}" if self.fix else head


class SubjectError(Exception):
    """The subject could not answer; the trial is recorded as an error, never as a score."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again(self)


class Refused(SubjectError):  # noqa: N818 - it says what the server did
    """The model's server will have none of it, whatever is asked: a wrong key or a wrong name."""

    def __init__(self, message: str) -> None:
        super().__init__("model", message)


class Withdrawn(Exception):  # noqa: N818 - nothing went wrong with the trial
    """The run ends before the trial can: it has no score and is no error, and going on repeats it."""


def words_of(error: BaseException) -> str:
    """What an exception of someone else's code says, as text that can always be written down.

    Not `str(error)`: a stranger's `__str__` may raise, and its text may hold what UTF-8 cannot.
    """
    said = "".join(traceback.format_exception_only(error)).partition(": ")[2].strip()
    return said.encode("utf-8", "backslashreplace").decode("utf-8")


class Problems(SynthesisError):  # noqa: N818 - it is a list of errors
    """Everything found wrong with one input, reported together, each once."""

    def __init__(self, problems: Iterable[SynthesisError]) -> None:
        self.problems = tuple({str(problem): problem for problem in problems}.values())
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again(self)


def _made_again(error: Exception) -> tuple[object, ...]:
    """How to pickle an exception whose arguments are not those of its `__init__`: without calling that."""
    return copyreg.__newobj__, (type(error), *error.args), vars(error)  # type: ignore[attr-defined]
