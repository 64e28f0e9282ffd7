"""Run trials: each in a fresh workspace, recorded as it happens, none able to touch another."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from harness.errors import Withdrawn, words_of
from harness.models import Models
from harness.plan import Trial
from harness.record import Recorder, Sink
from harness.run_directory import RunDirectory
from harness.subject import Context, Reply, Subject, SubjectError
from harness.transcript import Json, Transcript
from harness.workers import Stop, work_off
from harness.workspace import prepare_workspace


class Listener(Protocol):
    """Who wants to know how the run goes."""

    def started(self, trial: Trial) -> None:
        """A trial begins."""

    async def finished(self, trial: Trial, transcript: Transcript) -> None:
        """A trial came to an end, good or bad."""


@dataclass(frozen=True)
class RunOptions:
    """How trials are run."""

    place: RunDirectory
    jobs: int = 8
    timeout: float = 300.0
    timeout_wins: bool = False
    models: Models = field(default_factory=Models)

    def seconds_for(self, trial: Trial) -> float:
        """How long a trial may take: as its scenario says, unless the one here was asked for."""
        own = trial.scenario.definition.timeout
        return self.timeout if own is None or self.timeout_wins else own


async def run_trials(trials: Iterable[Trial], options: RunOptions, listener: Listener, stop: Stop) -> None:
    """At most `jobs` at once."""

    async def run(trial: Trial) -> None:
        listener.started(trial)
        await listener.finished(trial, await run_trial(trial, options))

    await work_off(trials, run, options.jobs, stop)


async def run_trial(trial: Trial, options: RunOptions) -> Transcript:
    """One trial from its first event to its last; whatever goes wrong is in the transcript."""
    earlier = options.place.set_aside(trial)
    recorder = Recorder(options.place.transcript(trial), options.models.redactor)
    limit = asyncio.timeout(options.seconds_for(trial))
    try:
        async with limit:
            last = await _converse(trial, options, recorder, limit.when())
        recorder.end(
            "completed" if last.terminated else "ward",
            terminated=last.terminated,
            result=last.result,
            ward=last.ward,
        )
    except asyncio.CancelledError:
        _fail(recorder, "interrupted", "interrupted", "the run was stopped")
        raise
    except Withdrawn as error:
        _fail(recorder, "interrupted", "interrupted", str(error))
    except Exception as error:  # noqa: BLE001 - one of the two places: a subject is someone else's code
        if limit.expired():
            _fail(recorder, "timeout", "timeout", f"not finished after {options.seconds_for(trial):g} s")
        else:
            kind = error.kind if isinstance(error, SubjectError) else type(error).__name__
            _fail(recorder, "timeout" if kind == "timeout" else "error", kind, words_of(error))
    finally:
        transcript = recorder.close()
        if earlier is not None:
            options.place.settle(trial, transcript)
    return transcript


def start_fields(trial: Trial, identity: dict[str, Json]) -> dict[str, Json]:
    """What the first event of a trial says."""
    return {
        "scenario": trial.scenario.name,
        "seed": trial.seed,
        "fingerprint": trial.scenario.fingerprint(trial.seed, identity),
        "subject": identity,
        "system": trial.scenario.system,
    }


def _open_subject(trial: Trial, recorder: Recorder) -> Subject:
    """The first event is written even where the subject cannot be made."""
    try:
        subject = trial.scenario.subject_for(trial.seed)
        fields = start_fields(trial, trial.scenario.identity_of(subject))
    except Exception:
        recorder.start(start_fields(trial, {"type": "none"}))
        raise
    recorder.start(fields)
    return subject


async def _converse(trial: Trial, options: RunOptions, recorder: Recorder, deadline: float | None) -> Reply:
    scenario = trial.scenario
    subject = _open_subject(trial, recorder)
    workspace = prepare_workspace(options.place.workspace(trial).absolute(), scenario.fixtures)
    context = Context(
        scenario.name,
        trial.seed,
        workspace,
        scenario.system,
        Sink(recorder),
        turns=len(scenario.prompts),
        models=options.models,
        deadline=deadline,
    )
    session = subject.open(context)
    try:
        for message in scenario.prompts:
            recorder.user(message)
            context.messages.append({"role": "user", "content": message})
            reply = await session.reply(message)
            if not reply.recorded:
                recorder.assistant(reply.text)
            context.messages.append({"role": "assistant", "content": reply.text})
            if not reply.terminated:
                break
    except BaseException:
        recorder.seal()
        raise
    finally:
        await session.close()
    return reply


def _fail(recorder: Recorder, reason: str, kind: str, message: str) -> None:
    recorder.seal()
    recorder.error(kind, message)
    recorder.end(reason, terminated=False)
