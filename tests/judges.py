"""Judges on a server that a test scripts, asked through the library."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from recorded import exchange

from harness.criteria.judge import Judge
from harness.criterion import Verdict
from harness.errors import Place, Problems, SynthesisError
from harness.facts import ScenarioFacts
from harness.judging import Judging
from harness.models import Models
from harness.rubric import RubricReader
from harness.transcript import Json, Transcript

TASK = "Score whether it is kind."
TALK = exchange(("I lost my job.", "That is hard. Do you want to tell me more?"))
PLACE = Place("s.json") / "rubric"


def read(**definition: Json) -> Judge:
    """A judge as a file defines it; None leaves a key out."""
    problems: list[SynthesisError] = []
    given = {"judge": TASK, "max_score": 5, **definition}
    given = {key: value for key, value in given.items() if value is not None}
    found = tuple(RubricReader(Path(), trusted=False, problems=problems).read([given], PLACE))
    if problems:
        raise Problems(problems)
    (judge,) = found
    assert isinstance(judge, Judge)
    return judge


def judge_on(base_url: str, options: dict[str, Json] | None = None, **definition: Json) -> Judge:
    """A judge that is asked on this server."""
    model = {"model": "openai:judge", "base_url": base_url, **(options or {})}
    return read(judge_model=model, **definition).settle(ScenarioFacts(), PLACE)


def verdicts(
    judges: Sequence[Judge], folder: Path | None = None, transcript: Transcript = TALK
) -> list[Verdict]:
    """One after the other, with the same connections."""
    asked = Judging(Models(), folder)

    async def ask() -> list[Verdict]:
        try:
            return [await judge.ask(transcript, asked) for judge in judges]
        finally:
            await asked.models.close()

    return asyncio.run(ask())


def verdict(judge: Judge, folder: Path | None = None, transcript: Transcript = TALK) -> Verdict:
    (found,) = verdicts([judge], folder, transcript)
    return found
