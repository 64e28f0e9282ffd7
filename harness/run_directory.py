"""Where a run lies on disk, and the rules about writing there."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SynthesisError
from harness.plan import Trial
from harness.report import link_refused
from harness.transcript import Transcript

REPORT = "report.json"
COMPARISON = "comparison.json"
_TRANSCRIPTS = "transcripts"
_WORKSPACES = "workspaces"


@dataclass(frozen=True)
class RunDirectory:
    """One run's folder."""

    path: Path

    @property
    def report(self) -> Path:
        """The summary of the run."""
        return self.path / REPORT

    @property
    def transcripts(self) -> Path:
        """One JSONL file per trial."""
        return self.path / _TRANSCRIPTS

    @property
    def judgments(self) -> Path:
        """What judges said, so that scoring again need not ask them again."""
        return self.path / "judgments"

    @property
    def stopping(self) -> Path:
        """A file that is there while workers are not to begin anything more."""
        return self.path / "stopping"

    def transcript(self, trial: Trial) -> Path:
        """The transcript of one trial."""
        return self.path / _TRANSCRIPTS / f"{trial.name}.jsonl"

    def set_aside(self, trial: Trial) -> Path | None:
        """Move an earlier transcript of the trial out of the way, until the new one has something to say."""
        path = self.transcript(trial)
        with suppress(OSError):  # where it cannot be moved, it cannot be written over either
            return path.replace(self.aside(trial)) if path.is_file() else None
        return None

    def aside(self, trial: Trial) -> Path:
        """Where an earlier transcript waits."""
        return self.path / _TRANSCRIPTS / f"{trial.name}.jsonl.earlier"

    def settle(self, trial: Trial, transcript: Transcript) -> None:
        """An earlier answer is given up for a new one, never for none: going on may still want it."""
        with suppress(OSError):
            if any(transcript.of_type("assistant")):
                self.aside(trial).unlink()
            elif transcript.end is None or transcript.end["reason"] == "interrupted":
                self.bring_back(trial)

    def bring_back(self, trial: Trial) -> None:
        """The earlier transcript stands again."""
        self.aside(trial).replace(self.transcript(trial))

    def transcript_name(self, trial: Trial) -> str:
        """The transcript's path as reports give it: relative to the run, with /."""
        return f"{_TRANSCRIPTS}/{trial.name}.jsonl"

    def workspace(self, trial: Trial) -> Path:
        """The workspace of one trial."""
        return self.path / _WORKSPACES / trial.scenario.slug / str(trial.seed)

    def remove_empty_workspaces(self) -> None:
        """Folders of scenarios whose workspaces are all gone."""
        root = self.path / _WORKSPACES
        for folder in (*(root.iterdir() if root.is_dir() else ()), root):
            with suppress(OSError):  # one that is not empty stays
                folder.rmdir()

    def first_link(self) -> Path | None:
        """A link on the way to anything of a run, which would lead what is written out of here."""
        folders = (self.transcripts, self.path / _WORKSPACES, self.judgments)
        inside = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
        reports = sorted(self.path.glob("report*.json"))
        return next((path for path in (*reports, *folders, *inside) if path.is_symlink()), None)

    def refuse_links(self) -> None:
        """Before anything is written into a folder that may come from a stranger."""
        if link := self.first_link():
            raise link_refused(link)

    @property
    def is_run(self) -> bool:
        """Whether a run of ours lies here."""
        return self.transcripts.is_dir() or self.report.is_file()


def claim_new(path: Path) -> RunDirectory:
    """Take a folder for a new run; one that holds anything already is refused."""
    place = RunDirectory(path)
    if path.exists() and not path.is_dir():
        raise SynthesisError("this is a file", where=str(path), fix="name a folder with --out")
    if path.is_dir() and any(path.iterdir()):
        if place.is_run:
            fix = f"choose another --out, or go on with it: --resume {path}"
            raise SynthesisError("a run lies here already", where=str(path), fix=fix)
        raise SynthesisError("the folder is not empty", where=str(path), fix="choose another --out")
    return _make(place)


def claim_resumed(path: Path) -> RunDirectory:
    """Take the folder of an earlier run to go on with it."""
    place = RunDirectory(path)
    check_resumable(place)
    return _make(place)


def check_resumable(place: RunDirectory) -> None:
    """A run lies here, and nothing in it leads elsewhere."""
    if not place.is_run:
        fix = "name the folder of an earlier run"
        raise SynthesisError("there is no run here", where=str(place.path), fix=fix)
    place.refuse_links()


def claim_default(root: Path, stamp: str) -> RunDirectory:
    """A folder named for the time; a second run in the same second gets its own."""
    return _make(RunDirectory(new_folder(root, stamp)))


def new_folder(root: Path, stamp: str) -> Path:
    """A folder that was not there before."""
    number = 1
    while True:
        path = root / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            fix = "choose another place with --out"
            raise SynthesisError(f"cannot be made: {error.strerror}", where=str(path), fix=fix) from error
        else:
            return path


def _make(place: RunDirectory) -> RunDirectory:
    try:
        place.transcripts.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose another place with --out"
        raise SynthesisError(
            f"cannot be written: {error.strerror}", where=str(place.path), fix=fix
        ) from error
    return place
