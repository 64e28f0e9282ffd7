"""Putting aside what is needed again, in a file that no folder shows."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import SynthesisError


@contextmanager
def putting_aside() -> Iterator[None]:
    """Where that fails, it is not the input or the output that is to blame."""
    try:
        yield
    except OSError as error:
        what = f"what is put aside cannot be written: {error.strerror}"
        fix = "make room there, or name another folder in TMPDIR"
        raise SynthesisError(what, where=tempfile.tempdir or "", fix=fix) from error
