"""What judges said, kept on disk: the same question about the same trial is not asked again."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import orjson
from pydantic import Field, ValidationError

from harness.attempt import TimelessFields
from harness.errors import SynthesisError
from harness.json_file import read_regular
from harness.judge_answer import AnswerReader, Reading
from harness.model import Message
from harness.records import Record
from harness.report import replace_file
from harness.transcript import Json, Transcript


class JudgeAnswer(Record):
    """One answer as it came; which of the repeats it is for, and which try at it."""

    repeat: int = Field(ge=1)
    number: int = Field(ge=1, alias="try")
    text: str


class Judgment(Record):
    """Everything one judge said about one trial; scores are read from it, never kept beside it."""

    answers: tuple[JudgeAnswer, ...] = ()
    attempts: tuple[TimelessFields, ...] = ()

    def readings(self, reader: AnswerReader) -> tuple[Reading, ...]:
        """One for each repeat that came to a score."""
        read = (reader.read(answer.text) for answer in self.answers)
        return tuple(reading for reading in read if isinstance(reading, Reading))


class _KeptJudgment(Judgment):
    """`key` is the name of the file, so that one that was moved is not taken for another."""

    key: str


@dataclass(frozen=True)
class JudgmentKey:
    """What was asked about which trial, of whom; the same words under another seed are another question."""

    transcript: Transcript
    messages: Sequence[Message]
    judge: dict[str, Json]
    reader: AnswerReader
    repeats: int

    @property
    def digest(self) -> str:
        """The name of its file."""
        start = self.transcript.start
        said = [[message.role, message.content] for message in self.messages]
        parts = [start["scenario"], start["seed"], said, self.judge, self.reader.maximum, self.repeats]
        return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True)
class Judgments:
    """A folder of them; without one nothing is kept."""

    folder: Path | None

    def load(self, key: JudgmentKey) -> Judgment | None:
        """None where it was not asked yet, and where the file cannot be trusted to say what was answered."""
        if self.folder is None:
            return None
        try:
            kept = _KeptJudgment.model_validate_json(read_regular(self._path(self.folder, key)))
        except (OSError, ValidationError):
            return None
        whole = kept.key == key.digest and len(kept.readings(key.reader)) == key.repeats
        return Judgment(answers=kept.answers, attempts=kept.attempts) if whole else None

    def save(self, key: JudgmentKey, judgment: Judgment) -> None:
        """Whole or not at all; raises SynthesisError where it cannot be written."""
        if self.folder is None:
            return
        path = self._path(self.folder, key)
        for spot in (self.folder, path):
            if spot.is_symlink():
                fix = "remove the link: what is written here must stay here"
                raise SynthesisError("a link lies where the run writes", where=str(spot), fix=fix)
        kept = _KeptJudgment(key=key.digest, answers=judgment.answers, attempts=judgment.attempts)
        text = kept.model_dump_json(by_alias=True, indent=1)
        replace_file(path, [text.encode(), b"\n"])

    def _path(self, folder: Path, key: JudgmentKey) -> Path:
        return folder / f"{key.digest}.json"
