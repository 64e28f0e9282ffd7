"""Reports on disk: written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec
import orjson
from pydantic import BaseModel

from harness.errors import SynthesisError
from harness.records import CheckReport, CheckStamp, CheckSummary, CheckTiming

WRITE_BACK = 1 << 22
"""Bytes of a report that go to the disk together."""
_ELSEWHERE = "choose another place with --out"


@contextmanager
def prepared_out(path: Path, inputs: Iterable[str | None] = ()) -> Iterator[Path]:
    """As `prepare_out`; where nothing comes of it, folders that were made for it go again."""
    made = [folder for folder in path.resolve().parents if not folder.exists()]
    try:
        yield prepare_out(path, inputs)
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def prepare_out(path: Path, inputs: Iterable[str | None] = ()) -> Path:
    """Make sure a report can be written there, over none of the inputs; an existing one stays untouched."""
    try:
        target = _regular_target(path)
        if target.exists() and any(name and Path(name).exists() and target.samefile(name) for name in inputs):
            raise SynthesisError("the report would replace an input", where=str(path), fix=_ELSEWHERE)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:50]}."):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _regular_target(path: Path) -> Path:
    """Where a link leads; only a file, or nothing yet, may be replaced: not a folder, a device or a pipe."""
    target = path.resolve()
    if target.is_dir():
        raise SynthesisError("this is a directory", where=str(path), fix="name a file with --out")
    if target.exists() and not target.is_file():
        raise SynthesisError("this is no regular file", where=str(path), fix="name a file with --out")
    return target


def _unwritable(path: Path, error: OSError) -> SynthesisError:
    return SynthesisError(f"cannot be written: {error.strerror}", where=str(path), fix=_ELSEWHERE)


def write_report(report: BaseModel, path: str | Path) -> Path:
    """Replace the file in one step, so that nobody ever reads half a report; a link is followed."""
    if not isinstance(report, CheckReport):
        text = report.model_dump_json(by_alias=True, indent=2) + "\n"
        return replace_report(Path(path), [text.encode()])
    encode = msgspec.json.Encoder().encode
    pieces = chain(
        check_report_pieces("results", map(encode, report.results)),
        check_report_pieces("failures", map(encode, report.failures)),
        [check_report_end(report.summary, report.stamp, report.timing)],
    )
    return replace_report(Path(path), pieces)


def replace_report(path: Path, pieces: Iterable[bytes]) -> Path:
    """The same for a report in pieces."""
    replace_file(_regular_target(path), pieces)
    return path


_PARTS = {"results": b'{"kind":"check","schema_version":"1",\n"results":[', "failures": b'"failures":['}


def check_report_pieces(part: Literal["results", "failures"], items: Iterable[bytes]) -> Iterator[bytes]:
    """One list of a `CheckReport`, an item a line; what is many comes first, as it can be written at once."""
    return check_report_part(part, (piece for item in items for piece in (b",\n", item)), skip=1)


def check_report_part(
    part: Literal["results", "failures"], pieces: Iterable[bytes], skip: int = 0
) -> Iterator[bytes]:
    """The same list from its text in any pieces, without the first `skip` of them."""
    yield _PARTS[part]
    before = b"\n"
    for piece in islice(pieces, skip, None):
        yield before
        yield piece
        before = b""
    yield b"\n],\n"


def check_report_end(summary: CheckSummary, stamp: CheckStamp, timing: CheckTiming) -> bytes:
    """What is only known when everything is done."""
    last = {"summary": summary, "stamp": stamp, "timing": timing}
    return orjson.dumps({name: value.model_dump(mode="json") for name, value in last.items()})[1:] + b"\n"


def replace_file(path: Path, pieces: Iterable[bytes], root: Path | None = None) -> None:
    """Write beside the target, piece by piece, flush to disk, then rename over it.

    A link is refused, for the file itself and for every folder below `root`: what is written somewhere on
    someone's behalf stays there.
    """
    try:
        _refuse_links(path, root or path.parent)
        target = _regular_target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise


def _write(file: BinaryIO, pieces: Iterable[bytes]) -> None:
    """The disk begins with what there is while more is made: in the end there is little to wait for."""
    begun = written = 0
    for piece in pieces:
        written += file.write(piece)
        if written - begun >= WRITE_BACK and hasattr(os, "posix_fadvise"):
            file.flush()
            os.posix_fadvise(file.fileno(), begun, written - begun, os.POSIX_FADV_DONTNEED)
            begun = written


def _refuse_links(path: Path, root: Path) -> None:
    for spot in (path, *path.parents):
        if spot == root:
            return
        if spot.is_symlink():
            raise link_refused(spot)


def link_refused(path: Path) -> SynthesisError:
    """What to say of a link in a folder of ours, which may come from a stranger."""
    fix = "remove the link: what is written here must stay here"
    return SynthesisError("a link lies where the run writes", where=str(path), fix=fix)


def _mode(target: Path) -> int:
    """As the file had it, or as any new file would: `mkstemp` alone keeps it from everyone else."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def format_artifact(report: CheckReport, path: str | Path) -> str:
    """The report as one artifact object on one line, for tools that call this command."""
    return artifact_line(report.summary, path)


def artifact_line(summary: CheckSummary, path: str | Path) -> str:
    """The same where only the summary is at hand."""
    return json.dumps(
        {
            "type": "artifact",
            "name": "synthesis-report",
            "path": str(path),
            "summary": summary.model_dump(mode="json", by_alias=True),
        },
        ensure_ascii=False,
    )
