"""Scenarios run through the library as `synthesis eval` runs them, and what came of them."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.conclude import read_report
from harness.evaluate import Evaluation, EvaluationOptions
from harness.load import LoadOptions, load_scenarios
from harness.plan import plan_trials
from harness.run import RunOptions
from harness.run_directory import RunDirectory, claim_new, claim_resumed
from harness.run_report import RunReport

Events = list[dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """A finished run on disk."""

    place: RunDirectory
    report: RunReport

    def raw(self, name: str = "talk", seed: int = 1) -> bytes:
        return (self.place.transcripts / f"{name}-{seed}.jsonl").read_bytes()

    def events(self, name: str = "talk", seed: int = 1) -> Events:
        return [json.loads(line) for line in self.raw(name, seed).splitlines()]

    def said(self, name: str = "talk", seed: int = 1) -> list[str]:
        """Everything the subject said, children's words included."""
        return [event["text"] for event in self.events(name, seed) if event["type"] == "assistant"]

    def end(self, name: str = "talk", seed: int = 1) -> dict[str, Any]:
        last = self.events(name, seed)[-1]
        assert last["type"] == "end"
        return last

    def error(self, name: str = "talk", seed: int = 1) -> tuple[str, str]:
        """Kind and message of a trial that failed, which is also an error in the report."""
        (found,) = [event for event in self.events(name, seed) if event["type"] == "error"]
        assert self.end(name, seed)["reason"] in ("error", "timeout")
        (trial,) = [
            trial
            for scenario in self.report.scenarios
            if scenario.name == name
            for trial in scenario.trials
            if trial.seed == seed
        ]
        assert (trial.status, trial.score) == ("error", None)
        return found["kind"], found["message"]

    def workspace(self, name: str = "talk", seed: int = 1) -> Path:
        return self.place.path / "workspaces" / name / str(seed)


async def evaluate(
    path: Path, out: Path, *, jobs: int = 8, timeout: float = 30, resume: bool = False
) -> Outcome:
    """All trials of the scenario file or folder."""
    scenarios = load_scenarios([path], LoadOptions())
    place = claim_resumed(out) if resume else claim_new(out)
    options = EvaluationOptions(RunOptions(place, jobs, timeout), resume=resume)
    evaluation = Evaluation(plan_trials(scenarios), options)
    await evaluation.run()
    evaluation.finish()
    return Outcome(place, read_report(place.report))


def run(path: Path, out: Path, *, jobs: int = 8, timeout: float = 30, resume: bool = False) -> Outcome:
    """The same from outside a loop."""
    return asyncio.run(evaluate(path, out, jobs=jobs, timeout=timeout, resume=resume))


def scenario(subject: object, prompt: str | list[str] = "hello", **more: object) -> dict[str, object]:
    """A scenario called `talk` that anything said would pass."""
    return {"name": "talk", "prompt": prompt, "subject": subject, "rubric": [{"terminated": True}], **more}


def write_scenarios(folder: Path, *scenarios: dict[str, object]) -> Path:
    """A scenario file in a folder, made if it is not there."""
    folder.mkdir(exist_ok=True)
    file = folder / "talks.json"
    file.write_text(json.dumps({"scenarios": scenarios}))
    return file
