"""Reports on disk: written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Iterable
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from harness.errors import SynthesisError
from harness.records import CheckReport


def prepare_out(path: Path, inputs: Iterable[str | None] = ()) -> Path:
    """Make sure a report can be written there, over none of the inputs; an existing one stays untouched."""
    fix = "choose another place with --out"
    if path.exists() and any(name and Path(name).exists() and path.samefile(name) for name in inputs):
        raise SynthesisError("the report would replace an input", where=str(path), fix=fix)
    if path.is_dir():
        raise SynthesisError("this is a directory", where=str(path), fix="name a file with --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as probe:
            probe.write(b"")
    except OSError as error:
        raise SynthesisError(f"cannot be written: {error.strerror}", where=str(path), fix=fix) from error
    return path


def write_report(report: BaseModel, path: str | Path) -> Path:
    """Replace the file in one step, so that nobody ever reads half a report."""
    target = Path(path)
    text = report.model_dump_json(by_alias=True, indent=2) + "\n"
    replace_file(target, [text.encode("utf-8")])
    return target


def replace_file(target: Path, pieces: Iterable[bytes]) -> None:
    """Write beside the target, piece by piece, flush to disk, then rename over it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise SynthesisError(
            f"cannot be written: {error.strerror}", where=str(target), fix="choose another place"
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SynthesisError(
            f"cannot be written: {error.strerror}", where=str(target), fix="choose another place"
        ) from error


def format_artifact(report: CheckReport, path: str | Path) -> str:
    """The report as one artifact object on one line, for tools that call this command."""
    return json.dumps(
        {
            "type": "artifact",
            "name": "synthesis-report",
            "path": str(path),
            "summary": report.summary.model_dump(mode="json", by_alias=True),
        },
        ensure_ascii=False,
    )
