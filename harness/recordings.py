"""Answers of models on disk: recorded once, replayed without a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson
from pydantic import Field, ValidationError

from harness.attempt import Asker, Attempt
from harness.errors import SubjectError, SynthesisError
from harness.json_file import read_regular
from harness.problems import shown
from harness.records import Record
from harness.report import replace_file
from harness.secrets import Redactor
from harness.transcript import Json

MOST_BYTES = 2**28
"""Of one recording: several times the largest answer that is taken, since it is written to be read."""


class RecordedTry(Record):
    """One attempt and, where it was answered, the server's response as it came."""

    attempt: Attempt
    payload: Json = None


class RecordedFailure(Record):
    """What the question came to where it was not answered."""

    kind: str
    message: str


class Recorded(Record):
    """One question: who asked what for the how manieth time, and every attempt at it."""

    scenario: str
    seed: int
    number: int
    request: dict[str, Json]
    tries: tuple[RecordedTry, ...] = Field(min_length=1)
    failure: RecordedFailure | None = None


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
    """A folder of answers, either written or read; what is written has no key in it."""

    folder: Path
    mode: Literal["record", "replay"]
    redactor: Redactor = Redactor()

    def __post_init__(self) -> None:
        if self.mode == "replay" and not self.folder.is_dir():
            fix = "record first: synthesis eval … --record DIR"
            raise SynthesisError("there is no such folder", where=f"--replay {self.folder}", fix=fix)

    def claim(self) -> None:
        """Make the folder, before anything is asked that could then not be kept."""
        if self.mode == "replay":
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise SynthesisError(what, where=f"--record {self.folder}", fix="choose another") from error

    def save(
        self, key: RecordingKey, tries: Sequence[RecordedTry], failure: RecordedFailure | None = None
    ) -> None:
        """Whole or not at all."""
        recorded = Recorded(
            scenario=key.scenario,
            seed=key.seed,
            number=key.number,
            request=key.request,
            tries=tuple(tries),
            failure=failure,
        )
        clean = self.redactor.value(recorded.model_dump(mode="json"))
        text = orjson.dumps(clean, option=orjson.OPT_INDENT_2)
        replace_file(self._path(key), [text, b"\n"], root=self.folder)

    def load(self, key: RecordingKey) -> Recorded:
        """What was recorded; a miss is an error and nothing else is tried."""
        path = self._path(key)
        try:
            return Recorded.model_validate_json(read_regular(path, MOST_BYTES))
        except FileNotFoundError as error:
            what = f"nothing is recorded for question {key.number} of {shown(key.scenario)}, seed {key.seed}"
            why = "the prompt, the model or a parameter is another, or the conversation took another way"
            raise SubjectError("replay", f"{what}: {why}; record again with --record") from error
        except (OSError, ValidationError) as error:
            raise SubjectError("replay", f"the recording {path.name} is damaged; record again") from error

    def _path(self, key: RecordingKey) -> Path:
        return self.folder / key.digest[:2] / f"{key.digest}.json"
