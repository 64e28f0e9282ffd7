"""Answers of models on disk: recorded once, replayed without a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson
from pydantic import ValidationError

from harness.attempt import Asker, Attempt
from harness.errors import SubjectError, SynthesisError
from harness.problems import shown
from harness.records import Record
from harness.report import replace_file
from harness.transcript import Json


class RecordedTry(Record):
    """One attempt and, where it was answered, the server's response as it came."""

    attempt: dict[str, Json]
    payload: Json = None


class Recorded(Record):
    """One question: who asked what for the how manieth time, and every attempt at it."""

    scenario: str
    seed: int
    number: int
    request: dict[str, Json]
    tries: tuple[RecordedTry, ...]


@dataclass(frozen=True)
class RecordingKey:
    """Which question of which trial; two seeds never share an answer, even to the same words."""

    scenario: str
    seed: int
    number: int
    request: dict[str, Json]

    @property
    def digest(self) -> str:
        """The name of its file."""
        parts = [self.scenario, self.seed, self.number, self.request]
        return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def key_of(asker: Asker, provider: str, body: dict[str, Json]) -> RecordingKey:
    """The next time this trial asks this; the server's address is no part of it."""
    request = {"provider": provider, "body": body}
    asked = sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
    asker.asked[asked] += 1
    return RecordingKey(asker.scenario, asker.seed, asker.asked[asked], request)


@dataclass(frozen=True)
class Recordings:
    """A folder of answers, either written or read."""

    folder: Path
    mode: Literal["record", "replay"]

    def __post_init__(self) -> None:
        if self.mode == "replay" and not self.folder.is_dir():
            fix = "record first: synthesis eval … --record DIR"
            raise SynthesisError("there is no such folder", where=f"--replay {self.folder}", fix=fix)
        if self.mode == "record":
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                what = f"cannot be written: {error.strerror}"
                raise SynthesisError(what, where=f"--record {self.folder}", fix="choose another") from error

    def save(self, key: RecordingKey, tries: Sequence[RecordedTry]) -> None:
        """Whole or not at all."""
        recorded = Recorded(
            scenario=key.scenario, seed=key.seed, number=key.number, request=key.request, tries=tuple(tries)
        )
        replace_file(self._path(key), [recorded.model_dump_json(indent=1).encode(), b"\n"])

    def load(self, key: RecordingKey) -> tuple[tuple[Attempt, Json], ...]:
        """What was recorded; a miss is an error and nothing else is tried."""
        path = self._path(key)
        try:
            recorded = Recorded.model_validate_json(path.read_bytes())
            return tuple((Attempt(**entry.attempt), entry.payload) for entry in recorded.tries)
        except FileNotFoundError as error:
            what = f"nothing is recorded for question {key.number} of {shown(key.scenario)}, seed {key.seed}"
            why = "the prompt, the model or a parameter is another, or the conversation took another way"
            raise SubjectError("replay", f"{what}: {why}; record again with --record") from error
        except (OSError, ValidationError, TypeError) as error:
            raise SubjectError("replay", f"the recording {path.name} is damaged; record again") from error

    def _path(self, key: RecordingKey) -> Path:
        return self.folder / key.digest[:2] / f"{key.digest}.json"
