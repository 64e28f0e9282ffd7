"""Agents for tests: scripted ones, served ones, and what their transcripts say in short."""

import asyncio
from pathlib import Path
from typing import Any

from subject_trials import Events, Outcome, scenario, write_scenarios

from harness.conclude import read_report
from harness.evaluate import Evaluation, EvaluationOptions
from harness.load import LoadOptions, load_scenarios
from harness.plan import plan_trials
from harness.run import RunOptions
from harness.run_directory import claim_new

Definition = dict[str, Any]


def call(gate: str, **arguments: Any) -> Definition:
    return {"gate": gate, "arguments": arguments}


def turn(*calls: Definition, text: str = "") -> Definition:
    """What a scripted model says in one go."""
    return {"text": text, "calls": list(calls)}


def done(result: Any) -> Definition:
    return turn(call("done", result=result))


def agent(*replies: Any, children: Any = (), **more: Any) -> Definition:
    """An agent whose model says this in order."""
    return {"type": "agent", "model": {"replies": list(replies), "children": list(children)}, **more}


def script(*replies: Any, children: Any = ()) -> Definition:
    """What a child's model says."""
    return {"replies": list(replies), "children": list(children)}


def evaluated(path: Path, out: Path, *, timeout: float = 60, options: LoadOptions = LoadOptions()) -> Outcome:
    """All trials of a scenario file."""
    place = claim_new(out)
    plan = plan_trials(load_scenarios([path], options))
    evaluation = Evaluation(plan, EvaluationOptions(RunOptions(place, timeout=timeout)))
    asyncio.run(evaluation.run())
    evaluation.finish()
    return Outcome(place, read_report(place.report))


def perform(
    folder: Path, subject: Definition, prompt: str | list[str] = "hello", timeout: float = 60, **more: Any
) -> Outcome:
    """One scenario, `talk`, with this agent in it; a note lies in its workspace."""
    fixtures = {"note.txt": "alpha\nbeta\n"}
    file = write_scenarios(folder, scenario(subject, prompt, **{"fixtures": fixtures, **more}))
    return evaluated(file, folder / "run", timeout=timeout)


def python_file(folder: Path, functions: str, subject: str, prompt: str = "'hello'") -> Path:
    """A trusted file with functions and one scenario, `talk`, whose agent has them."""
    file = folder / "talks.py"
    file.write_text(
        f"{functions}\nscenarios = [{{'name': 'talk', 'prompt': {prompt}, 'subject': {subject},"
        " 'rubric': [{'terminated': True}]}]\n"
    )
    return file


def outline(events: Events) -> list[tuple[Any, ...]]:
    """Each event between start and end as its parent, its type and what matters most about it."""
    keys = {
        "user": ("text",),
        "assistant": ("text", "code"),
        "gate_call": ("gate", "arguments"),
        "observation": ("gate", "ok", "result"),
        "child_start": ("medium", "prompt"),
        "child_end": ("reason", "result"),
        "sandbox": ("network",),
        "attempt": ("status", "error"),
        "error": ("kind", "message"),
    }
    return [
        (event["parent"], event["type"], *(event[key] for key in keys[event["type"]]))
        for event in events[1:-1]
    ]


def of_type(outcome: Outcome, kind: str, seed: int = 1) -> Events:
    return [event for event in outcome.events(seed=seed) if event["type"] == kind]


def results(outcome: Outcome, gate: str, seed: int = 1) -> list[tuple[bool, Any]]:
    """What a gate gave, each time with whether it was granted."""
    return [
        (event["ok"], event["result"])
        for event in of_type(outcome, "observation", seed)
        if event["gate"] == gate
    ]
