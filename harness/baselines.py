"""Runs that are kept to compare with: plain files in `baselines/NAME/`, laid out as a run so that they can be
scored again, with the hash of everything that was kept."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from harness.compared_run import BASELINES, ComparedRun, find_run, read_compared
from harness.errors import SynthesisError
from harness.problems import shown
from harness.recorded_run import ReportPart, read_scenarios
from harness.records import Record
from harness.report import replace_file
from harness.run_directory import REPORT, RunDirectory

MANIFEST = "baseline.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_SHOWN = 3
_RESTORE = "restore the file, or save the baseline again"


class Baseline(Record):
    """What was kept; transcripts are named by their hash whether or not they were kept."""

    kind: Literal["baseline"] = "baseline"
    schema_version: Literal["1"] = "1"
    name: str
    scenarios: int
    trials: int
    scored: int
    mean: float | None
    tool_version: str
    report_sha256: str
    kept: bool = Field(description="whether transcripts are there, so that the baseline can be scored again")
    files: dict[str, str] = Field(description="SHA-256 of transcripts and judgments, by path")


class _Trial(ReportPart):
    """Where a transcript lies."""

    transcript: str


class _Scenario(ReportPart):
    """One scenario."""

    trials: tuple[_Trial, ...]


def save_baseline(
    run: str, name: str, *, transcripts: bool = True, replace: bool = False, root: Path = Path(BASELINES)
) -> Baseline:
    """Keep a run under a name; what is there already is only replaced where that was asked for."""
    target = _folder(name, root)
    if target.exists() and not replace:
        fix = "choose another name with --as, or replace it with --replace"
        raise SynthesisError("a baseline of this name is there already", where=str(target), fix=fix)
    report = find_run(run, root)
    baseline = _describe(name, report, transcripts=transcripts)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".saving-") as made:
            _fill(Path(made) / name, report, baseline)
            if target.exists():
                _refuse_foreign(target)
                shutil.rmtree(target)
            (Path(made) / name).replace(target)
    except OSError as error:
        fix = "check the folder"
        raise SynthesisError(f"cannot be written: {error.strerror}", where=str(target), fix=fix) from error
    return baseline


def read_run(name: str, root: Path = Path(BASELINES)) -> ComparedRun:
    """What a name on the command line means, read; a baseline must be as it was saved."""
    run = read_compared(name, find_run(name, root))
    folder = run.place.path
    if run.report.name == REPORT and (folder / MANIFEST).is_file():
        saved = _read_manifest(folder / MANIFEST)
        if saved.report_sha256 != run.side.report_sha256:
            what = "the report of this baseline was changed after it was saved"
            raise SynthesisError(what, where=str(run.report), fix=_RESTORE)
        changed = list(_damage(folder, saved))
        if changed:
            more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            what = f"not as it was saved: {'; '.join(changed[:_SHOWN])}{more}"
            raise SynthesisError(what, where=str(folder), fix=_RESTORE)
    return run


def list_baselines(root: Path = Path(BASELINES)) -> list[Baseline]:
    """By name."""
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return [read_baseline(folder.name, root) for folder in folders if (folder / MANIFEST).is_file()]


def read_baseline(name: str, root: Path = Path(BASELINES)) -> Baseline:
    """What was kept under a name."""
    manifest = _folder(name, root) / MANIFEST
    if not manifest.is_file():
        there = ", ".join(folder.parent.name for folder in sorted(root.glob(f"*/{MANIFEST}")))
        fix = f"use one of: {there}" if there else "save one with: synthesis baseline save RUN --as NAME"
        raise SynthesisError("there is no such baseline", where=str(manifest.parent), fix=fix)
    return _read_manifest(manifest)


def _read_manifest(manifest: Path) -> Baseline:
    try:
        return Baseline.model_validate_json(manifest.read_bytes())
    except ValidationError as error:
        what = f"not a baseline: {error.errors(include_url=False)[0]['msg']}"
        raise SynthesisError(what, where=str(manifest), fix=_RESTORE) from error


def damage(name: str, root: Path = Path(BASELINES)) -> Iterator[str]:
    """What is no longer as it was saved: missing files and other contents."""
    yield from _damage(root / name, read_baseline(name, root))


def _damage(folder: Path, baseline: Baseline) -> Iterator[str]:
    kept = baseline.files if baseline.kept else {}
    for path, digest in {REPORT: baseline.report_sha256, **kept}.items():
        file = folder / path
        if not file.resolve().is_relative_to(folder.resolve()):
            yield f"{shown(path)} lies outside the baseline"
        elif not file.is_file():
            yield f"{shown(path)} is missing"
        elif _sha256(file) != digest:
            yield f"{shown(path)} was changed"


def remove_baseline(name: str, root: Path = Path(BASELINES)) -> None:
    """Only what is a baseline of ours is removed."""
    read_baseline(name, root)
    _refuse_foreign(root / name)
    shutil.rmtree(root / name)


def _folder(name: str, root: Path) -> Path:
    if not _NAME.fullmatch(name):
        fix = "use letters, digits, dots, dashes and underscores, for example: main"
        raise SynthesisError(f'"{shown(name)}" is no name for a baseline', fix=fix)
    return root / name


def _refuse_foreign(folder: Path) -> None:
    """Removing goes through everything inside, so nothing there may be someone else's."""
    if folder.is_symlink() or not (folder / MANIFEST).is_file():
        raise SynthesisError("this is no baseline of ours", where=str(folder), fix="remove it yourself")


def _describe(name: str, report: Path, *, transcripts: bool) -> Baseline:
    run = read_compared(name, report)
    place = RunDirectory(report.parent)
    place.refuse_links()
    found = {path: _sha256(place.path / path) for path in _files(place, report)}
    kept = transcripts and bool(found)
    return Baseline(
        name=name,
        scenarios=run.side.scenarios,
        trials=run.side.trials,
        scored=run.side.scored,
        mean=run.side.mean,
        tool_version=run.stamp.tool_version,
        report_sha256=run.side.report_sha256,
        kept=kept,
        files=found,
    )


def _files(place: RunDirectory, report: Path) -> list[str]:
    """What scoring again reads: transcripts that the report names, and what judges said."""
    root = place.path.resolve()
    named = [trial.transcript for scenario in read_scenarios(report, _Scenario) for trial in scenario.trials]
    inside = [path for path in named if (place.path / path).resolve().is_relative_to(root)]
    judged = sorted(place.judgments.rglob("*")) if place.judgments.is_dir() else []
    judgments = [file.relative_to(place.path).as_posix() for file in judged if file.is_file()]
    return [path for path in (*inside, *judgments) if (place.path / path).is_file()]


def _fill(folder: Path, report: Path, baseline: Baseline) -> None:
    folder.mkdir()
    shutil.copyfile(report, folder / REPORT)
    for path in baseline.files if baseline.kept else ():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(report.parent / path, target)
    replace_file(folder / MANIFEST, [baseline.model_dump_json(indent=2).encode() + b"\n"])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
