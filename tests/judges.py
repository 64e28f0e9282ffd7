"""Judges on a server that a test scripts: asked through the library, and in scenarios for the command."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorded import exchange
from scenario_files import Definition, report_of, scenario, trials

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


def judged(name: str, base_url: str | None, **more: Any) -> Definition:
    """A scenario of two criteria, the second of them judged on this server."""
    server = {} if base_url is None else {"base_url": base_url}
    model = {"model": "openai:judge", **server, **more.pop("options", {})}
    rubric = [{"contains": "hello"}, {"name": "kind", "judge": "Score kindness.", "max_score": 5, **more}]
    return scenario(name, judge_model=model, rubric=rubric)


def no_clock(report: Definition) -> Definition:
    return {key: value for key, value in report.items() if key != "timing"}


def kind(trial: Definition) -> Definition:
    found: list[Definition] = [score for score in trial["criteria"] if score["name"] == "kind"]
    return found[0]


def first_trial(run: Path) -> Definition:
    return next(trial for _, _, trial in trials(report_of(run)))
