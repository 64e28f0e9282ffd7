"""A recorded transcript, said again byte for byte: no model, no key, the same bytes every time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Self

from pydantic import Field, PrivateAttr

from harness.errors import Place, Problems, SynthesisError
from harness.problems import shown
from harness.record import encode_event, end_fields, replay
from harness.subject import Context, Reply, ScenarioFolder, Subject, SubjectError
from harness.transcript import Json, Transcript, parse_event

FileName = Annotated[str, Field(min_length=1)]
SeedKey = Annotated[int, Field(ge=0)]
_EVERY_SEED = -1
"""Stands where a seed would: no seed is negative."""


@dataclass(frozen=True)
class RecordedTurn:
    """A message of the person's, and the lines that followed it."""

    message: str
    lines: tuple[bytes, ...]
    text: str


@dataclass(frozen=True)
class Recording:
    """A finished transcript, cut where the person speaks."""

    before: tuple[bytes, ...]
    turns: tuple[RecordedTurn, ...]
    terminated: bool
    result: Json
    ward: str | None = None


class Replay(Subject):
    """`transcript` is a file beside the scenario file, or a map of them by seed."""

    transcript: FileName | Annotated[dict[SeedKey, FileName], Field(min_length=1)]
    _recordings: dict[int, Recording] = PrivateAttr(default_factory=dict)
    _sha256: str = PrivateAttr(default="")

    def settle(self, folder: ScenarioFolder, place: Place) -> Self:
        """Read the recordings; one that did not finish, or was changed by hand, is refused."""
        settled, digest, problems = self.model_copy(), sha256(), []
        for seed, name, spot in self._named(place / "transcript"):
            try:
                content = folder.read(name, spot)
                settled._recordings[seed] = read_recording(content, name, spot)
                digest.update(f"{seed}:{sha256(content).hexdigest()}\n".encode())
            except SynthesisError as error:
                problems.append(error)
        if problems:
            raise Problems(problems)
        settled._sha256 = digest.hexdigest()
        return settled

    def _named(self, place: Place) -> Iterator[tuple[int, str, Place]]:
        if isinstance(self.transcript, str):
            yield _EVERY_SEED, self.transcript, place
        else:
            for seed, name in sorted(self.transcript.items()):
                yield seed, name, place / seed

    def identity(self) -> dict[str, Json]:
        """A hash stands for what was recorded."""
        return {"type": "replay", "sha256": self._sha256}

    def open(self, context: Context) -> "ReplaySession":
        """The recording of this seed, if it has as many turns as the scenario."""
        recording = self._recordings.get(context.seed, self._recordings.get(_EVERY_SEED))
        if recording is None:
            raise SubjectError("replay", f"there is no transcript for seed {context.seed}")
        recorded = len(recording.turns)
        if recorded > context.turns or (recorded < context.turns and recording.terminated):
            raise SubjectError(
                "replay",
                f"the person speaks {context.turns} times here and {recorded} times in the recording",
            )
        replay(context.recorder, recording.before)
        return ReplaySession(recording, context)


@dataclass
class ReplaySession:
    """Says what was said, as long as it is asked what was asked."""

    recording: Recording
    context: Context
    played: int = 0

    async def reply(self, message: str) -> Reply:
        """The recorded events of this turn; after the last of them the recorded end."""
        turn = self.recording.turns[self.played]
        self.played += 1
        if message != turn.message:
            both = f'"{shown(message)}" here, "{shown(turn.message)}" in the recording'
            raise SubjectError("replay", f"turn {self.played} differs: {both}")
        replay(self.context.recorder, turn.lines)
        last = self.played == len(self.recording.turns)
        return Reply(
            turn.text,
            result=self.recording.result if last else None,
            terminated=self.recording.terminated if last else True,
            recorded=True,
            ward=self.recording.ward if last else None,
        )

    async def close(self) -> None:
        """Nothing is held."""


def read_recording(content: bytes, name: str, place: Place) -> Recording:
    """Every line has to be as we write it, else it could not be said again byte for byte."""

    def refused(what: str) -> SynthesisError:
        fix = "name a transcript of a finished trial, as it was written"
        return SynthesisError(f'"{shown(name)}" {what}', where=place, fix=fix)

    *lines, rest = content.split(b"\n")
    try:
        transcript = Transcript([parse_event(line) for line in lines])
    except ValueError as error:
        raise refused(f"is not a transcript: {shown(str(error))}") from error
    if rest or not lines or not transcript.finished:
        why = "its last line is missing or cut off" if rest or not lines else str(transcript.error)
        raise refused(f"holds a trial that never finished: {shown(why)}")
    recording = _cut(transcript, [line + b"\n" for line in lines])
    as_written = b"".join(_retold(recording)) == content[len(lines[0]) + 1 :]
    if not as_written or not _in_order(transcript.events):
        raise refused("is not as it was recorded")
    return recording


def _in_order(events: Sequence[dict[str, Json]]) -> bool:
    """Numbered from 0, one start at the start, one end at the end."""
    places = {"start": 0, "end": len(events) - 1}
    return all(
        event["seq"] == index and (index in places.values()) is (places.get(event["type"]) == index)
        for index, event in enumerate(events)
    )


def _cut(transcript: Transcript, lines: Sequence[bytes]) -> Recording:
    spoken = [index for index, event in enumerate(transcript.events) if event["type"] == "user"]
    last = len(lines) - 1
    turns = tuple(
        RecordedTurn(
            transcript.events[begin]["text"], tuple(lines[begin + 1 : end]), _said(transcript, begin, end)
        )
        for begin, end in zip(spoken, [*spoken[1:], last], strict=False)
    )
    before = tuple(lines[1 : min([*spoken, last])])
    end = transcript.events[-1]
    return Recording(before, turns, transcript.terminated, transcript.result, end.get("ward"))


def _said(transcript: Transcript, begin: int, end: int) -> str:
    events = transcript.events[begin:end]
    return "\n\n".join(
        event["text"] for event in events if event["type"] == "assistant" and event["parent"] is None
    )


def _retold(recording: Recording) -> Iterator[bytes]:
    """What a run would write of it after its start."""
    yield from recording.before
    seq = 1 + len(recording.before)
    for number, turn in enumerate(recording.turns, 1):
        yield encode_event(seq, "user", number, None, {"text": turn.message})
        yield from turn.lines
        seq += 1 + len(turn.lines)
    reason = "completed" if recording.terminated else "ward"
    end = end_fields(reason, terminated=recording.terminated, result=recording.result, ward=recording.ward)
    yield encode_event(seq, "end", len(recording.turns), None, end)
