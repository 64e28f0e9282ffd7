"""What an earlier run left: its report as far as going on and scoring again need it, and its trials."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import SynthesisError
from harness.load import LoadOptions, load_scenarios
from harness.plan import Plan, Trial
from harness.problems import shown
from harness.resources import is_bundled
from harness.run_directory import RunDirectory
from harness.scenario import Scenario
from harness.subject import SubjectError
from harness.transcript import Transcript, read_transcript

Why = Literal["new", "unfinished", "failed", "changed", "kept"]

_SHOWN = 10


class ReportPart(BaseModel):
    """A report holds far more than is wanted here; at many thousand trials the rest would fill the memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Wanted = TypeVar("Wanted", bound=ReportPart)


class RecordedTrial(ReportPart):
    """Which trial it was and where its transcript lies."""

    seed: int
    transcript: str


class RecordedScenario(ReportPart):
    """One scenario of the earlier run."""

    name: str
    file: str
    tags: tuple[str, ...]
    subject: dict[str, Any]
    rubric: tuple[dict[str, Any], ...]
    not_run: int
    trials: tuple[RecordedTrial, ...]


class _RecordedRun(ReportPart):
    """The earlier run as a whole."""

    kind: Literal["run"]
    scenarios: tuple[Any, ...]


def read_recorded_scenarios(place: RunDirectory) -> Iterator[RecordedScenario]:
    """What going on and scoring again need of a run."""
    return read_scenarios(place.report, RecordedScenario)


def read_scenarios(report: Path, part: type[Wanted]) -> Iterator[Wanted]:
    """One scenario after the other, so that a large report is never in memory as a whole."""
    try:
        with report.open("rb") as file:
            if _is_as_written(file):
                yield from map(part.model_validate_json, _scenario_texts(file))
            else:
                file.seek(0)
                yield from map(part.model_validate, _RecordedRun.model_validate_json(file.read()).scenarios)
    except ValidationError as error:
        what = f"not a run report: {error.errors(include_url=False)[0]['msg']}"
        raise SynthesisError(what, where=str(report), fix="restore the file") from error


def _is_as_written(file: BinaryIO) -> bool:
    """Whether the lines are where `encode_report` puts them; a report may have been formatted since."""
    return file.readline().startswith(b'{"kind":"run",') and file.readline() == b'"scenarios":[\n'


def _scenario_texts(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Scenarios and trials each begin a line, and no line break is inside one."""
    text: list[bytes] = []
    for line in lines:
        begins, over = line.startswith(b'{"name":'), line == b"],\n"
        if text and (begins or over):
            yield b"".join(text).rstrip(b",\n")
            text = []
        if over:
            return
        text.append(line)
    yield b"".join(text)  # the list was cut off, and so is this


def find_scenario_file(place: RunDirectory, file: str) -> Path:
    """Reports give paths as they were typed: seen from here, or else from a folder the run lies in."""
    run = place.path.resolve()
    seen_from = (Path(), run.parent, *run.parent.parents[:2])
    return next((folder / file for folder in seen_from if (folder / file).is_file()), Path(file))


def may_load(file: Path) -> bool:
    """A report is data, perhaps a stranger's: that it names a .py file is no reason to run it."""
    return file.is_file() and (file.suffix == ".json" or is_bundled(file, "scenarios"))


def load_recorded_scenarios(place: RunDirectory, options: LoadOptions) -> list[Scenario]:
    """The scenarios of an earlier run from their files, so that its folder alone says how to go on."""
    fix = f"give the scenarios of the run: synthesis eval PATH… --resume {place.path}"
    if not place.report.is_file():
        raise SynthesisError("no report says which scenarios this run has", where=str(place.path), fix=fix)
    recorded = {entry.name: entry.file for entry in read_recorded_scenarios(place)}
    files = [find_scenario_file(place, file) for file in dict.fromkeys(recorded.values())]
    for file in files:
        if not may_load(file):
            why = "is code, which a report cannot ask to run" if file.is_file() else "is not there"
            raise SynthesisError(f"{shown(str(file))} {why}", where=str(place.report), fix=fix)
    return [scenario for scenario in load_scenarios(files, options) if scenario.name in recorded]


def refuse_left_out(place: RunDirectory, plan: Plan) -> None:
    """A resumed run replaces its report: what the new one would lack must not be lost by oversight."""
    planned = {scenario.name: seeds for scenario, seeds in plan.rows}
    left_out = [
        entry.name
        for entry in (read_recorded_scenarios(place) if place.report.is_file() else ())
        if not _covers(planned.get(entry.name, ()), entry)
    ]
    if left_out:
        names = ", ".join(map(shown, left_out[:_SHOWN])) + (", …" if len(left_out) > _SHOWN else "")
        raise SynthesisError(
            f"the run has trials that this call leaves out: {names}",
            where=str(place.path),
            fix="give the same paths, filters and seeds, or start a run of its own with --out",
        )


def _covers(seeds: Sequence[int], entry: RecordedScenario) -> bool:
    """Of trials that were never run a report knows only the number."""
    enough = len(seeds) >= len(entry.trials) + entry.not_run
    return enough and set(seeds).issuperset(trial.seed for trial in entry.trials)


def earlier(trial: Trial, place: RunDirectory) -> tuple[Why, Transcript | None]:
    """What an earlier run left of a trial, where it can stand as it is, or why it has to be run."""
    path = place.transcript(trial)
    if _stands(trial, place.aside(trial)):
        place.bring_back(trial)
    if not path.is_file():
        return "new", None
    try:
        transcript = read_transcript(path)
    except SynthesisError:
        return "unfinished", None
    if not transcript.finished:
        cut = transcript.end is None or transcript.end["reason"] == "interrupted"
        return "unfinished" if cut else "failed", None
    return ("kept", transcript) if _same_inputs(trial, transcript) else ("changed", None)


def _stands(trial: Trial, path: Path) -> bool:
    """Whether a transcript that was set aside for another subject's is wanted again."""
    try:
        transcript = read_transcript(path) if path.is_file() else None
    except SynthesisError:
        return False
    return transcript is not None and transcript.finished and _same_inputs(trial, transcript)


def _same_inputs(trial: Trial, transcript: Transcript) -> bool:
    try:
        identity = trial.scenario.identity_of(trial.scenario.subject_for(trial.seed))
    except SubjectError:
        return False
    return bool(transcript.start["fingerprint"] == trial.scenario.fingerprint(trial.seed, identity))
