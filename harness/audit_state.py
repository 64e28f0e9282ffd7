"""Where an audit lies on disk, how far it has come, and going on from there."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from harness.audit_aggregate import Aggregate, read_aggregate
from harness.audit_chunk import PartResult
from harness.audit_report import AuditReport
from harness.errors import SynthesisError
from harness.report import link_refused, replace_file
from harness.run_directory import new_folder
from harness.source import Input

_ENDS = 64 * 2**10
"""Bytes of the beginning and of the end of a file that tell it from another."""
_ANOTHER = "choose another --out"


@dataclass(frozen=True)
class Fingerprints:
    """What an audit was begun with; `inputs` is None for a stream, which cannot be read again."""

    inputs: str | None
    options: str


@dataclass
class AuditState:
    """So much is done: parts, bytes of both files, and everything that was added up."""

    fingerprints: Fingerprints
    population: int = 0
    cutoff: bytes | None = None
    parts: int = 0
    findings: int = 0
    rejects: int = 0
    aggregate: Aggregate | None = None


@dataclass(frozen=True)
class AuditDirectory:
    """One audit's folder."""

    path: Path

    @property
    def report(self) -> Path:
        """The figures; there when the audit is done."""
        return self.path / "audit.json"

    @property
    def findings(self) -> Path:
        """One line for each failing turn."""
        return self.path / "findings.jsonl"

    @property
    def rejects(self) -> Path:
        """One line for each row that could not be read."""
        return self.path / "rejects.jsonl"

    @property
    def progress(self) -> Path:
        """How far it has come; there while it is not done."""
        return self.path / "progress.json"

    def finish(self, report: AuditReport) -> None:
        """Write the figures; how far it came is of no more use, nor what a killed audit left half written.

        `progress.json` goes last: an audit killed in here is still one to go on with, which tidies up again.
        """
        text = report.model_dump_json(by_alias=True, indent=2) + "\n"
        replace_file(self.report, [text.encode("utf-8")])
        for pattern in (".progress.json.*", ".audit.json.*", "progress.json"):
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)

    @property
    def is_audit(self) -> bool:
        """Whether an audit lies here, finished or not."""
        return any(path.exists() for path in (self.report, self.findings, self.progress))


def claim_audit(out: str | None) -> AuditDirectory:
    """Take a folder for a new audit; one that holds anything already is refused."""
    if out is None:
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        return AuditDirectory(new_folder(Path("audits"), stamp))
    place = AuditDirectory(Path(out))
    if place.path.exists() and not place.path.is_dir():
        raise SynthesisError("this is a file", where=out, fix="name a folder with --out")
    if place.path.is_dir() and any(place.path.iterdir()):
        what = "an audit lies here already" if place.is_audit else "the folder is not empty"
        fix = f"{_ANOTHER}, or go on with it: --resume {out}" if place.progress.exists() else _ANOTHER
        raise SynthesisError(what, where=out, fix=fix)
    try:
        place.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SynthesisError(f"cannot be made: {error.strerror}", where=out, fix=_ANOTHER) from error
    return place


def read_state(place: AuditDirectory, now: Fingerprints) -> AuditState:
    """How far an earlier audit came; raises where there is none, or where it was another one."""
    where = str(place.path)
    if not place.is_audit:
        raise SynthesisError("there is no audit here", where=where, fix="name the folder of an earlier one")
    if place.report.exists() and not place.progress.exists():
        raise SynthesisError("this audit is finished", where=where, fix=f"read {place.report}")
    try:
        value = json.loads(place.progress.read_bytes())
        state = AuditState(
            fingerprints=Fingerprints(value["inputs"], value["options"]),
            population=value["population"],
            cutoff=None if value["cutoff"] is None else bytes.fromhex(value["cutoff"]),
            parts=value["parts"],
            findings=value["findings"],
            rejects=value["rejects"],
            aggregate=read_aggregate(value["aggregate"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = "how far it came cannot be read"
        raise SynthesisError(what, where=str(place.progress), fix="begin again in another folder") from error
    for name, before, after in (
        ("files", state.fingerprints.inputs, now.inputs),
        ("options, words or version", state.fingerprints.options, now.options),
    ):
        if before != after:
            fix = "give the same files and options as before, or begin again in another folder"
            raise SynthesisError(f"it was begun with other {name}", where=where, fix=fix)
    return state


class AuditFiles:
    """The two files that grow, and the state beside them, which never says more than they hold."""

    def __init__(self, place: AuditDirectory, state: AuditState) -> None:
        self._place = place
        self._state = state
        self._findings = _opened(place.findings, state.findings)
        self._rejects = _opened(place.rejects, state.rejects)

    def append(self, result: PartResult) -> None:
        """What the next part came to."""
        for file, content in ((self._findings, result.findings), (self._rejects, result.rejects)):
            try:
                file.write(content)
            except OSError as error:
                raise _unwritable(file.name, error) from error
        self._state.findings += len(result.findings)
        self._state.rejects += len(result.rejects)
        self._state.parts += 1

    def save(self) -> None:
        """From here it could go on; nothing is saved of what can only be read once."""
        for file in (self._findings, self._rejects):
            try:
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                raise _unwritable(file.name, error) from error
        state = self._state
        if state.fingerprints.inputs is not None and state.aggregate is not None:
            value = {
                "kind": "audit_progress",
                "inputs": state.fingerprints.inputs,
                "options": state.fingerprints.options,
                "population": state.population,
                "cutoff": None if state.cutoff is None else state.cutoff.hex(),
                "parts": state.parts,
                "findings": state.findings,
                "rejects": state.rejects,
                "aggregate": asdict(state.aggregate),
            }
            replace_file(self._place.progress, [json.dumps(value).encode()])

    def close(self) -> None:
        """Nothing more is appended; what could not be written was said when it was to be."""
        for file in (self._findings, self._rejects):
            with suppress(OSError):
                file.close()


def _opened(path: Path, size: int) -> BinaryIO:
    """For appending behind so many bytes; what an audit that was killed wrote beyond them is cut off."""
    if path.is_symlink():
        raise link_refused(path)
    try:
        path.touch()
        if path.stat().st_size < size:
            fix = "begin again in another folder"
            raise SynthesisError("it is shorter than the audit left it", where=str(path), fix=fix)
        os.truncate(path, size)
        return path.open("ab")
    except OSError as error:
        raise _unwritable(str(path), error) from error


def _unwritable(path: str, error: OSError) -> SynthesisError:
    fix = "make room, or choose another place with --out"
    return SynthesisError(f"cannot be written: {error.strerror}", where=path, fix=fix)


def inputs_fingerprint(inputs: Sequence[Input]) -> str | None:
    """Of names, sizes, beginnings and ends; not of times, which copying changes."""
    digest = sha256()
    for each in inputs:
        if each.size is None:
            return None
        about = [each.path, each.importer, each.shape, each.compression, each.size]
        digest.update(json.dumps(about).encode() + b"\n")
        try:
            with Path(each.path).open("rb") as file:
                digest.update(sha256(file.read(_ENDS)).digest())
                file.seek(max(0, each.size - _ENDS))
                digest.update(sha256(file.read(_ENDS)).digest())
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            raise SynthesisError(what, where=each.path, fix="check the file") from error
    return digest.hexdigest()
