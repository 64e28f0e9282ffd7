"""Read JSON that a person wrote: only from a regular file, and no key twice, where one would be lost."""

import errno
import json
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

import orjson

from harness.problems import shown


def read_regular(path: Path, most: int | None = None) -> bytes:
    """The bytes of a file; raises OSError, also for a pipe or a device, which could be waited on for ever.

    With `most`, also for a file of more bytes than that.
    """
    mode = path.stat().st_mode
    if not S_ISREG(mode) and not S_ISDIR(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if most is None:
        return path.read_bytes()
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"more than {most} bytes", str(path))
    return content


def read_json(path: Path) -> Any:
    """The value in a file; raises OSError, or ValueError saying what is wrong with the JSON."""
    content = read_regular(path)
    value = orjson.loads(content)
    try:
        json.loads(content, object_pairs_hook=_once, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f'the key "{shown(twice)}" is there twice in one object')
    return found
