"""An evaluation whose trials are run by the workers of an engine: each makes the same plan, runs a share."""

import asyncio
import math
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

import orjson

from harness.conclude import make_stamp, shared_subject
from harness.engine import LOCAL, Engine, open_engine
from harness.errors import SynthesisError
from harness.evaluate import Display, Evaluation
from harness.evaluation_request import EvaluationRequest, ResolvedEvaluation
from harness.plan import Plan, Trial
from harness.run_directory import RunDirectory
from harness.run_report import StopReason
from harness.score import ScoredTrial
from harness.spending import Usage, total
from harness.workers import Stop

SHARES = 4
"""A worker gets its part of the trials in so many shares, so that none waits long for the last."""
LONGEST = 8
"""A share has no more rounds than this, so that what is done is soon known."""

Share = tuple[tuple[str, int], ...]
"""Trials by the slug of their scenario and their seed."""


@dataclass(frozen=True)
class Errand:
    """What was asked for and where; a worker whose plan has another fingerprint would run something else."""

    request: EvaluationRequest
    folder: str
    run: str
    jobs: int
    fingerprint: str


@dataclass(frozen=True)
class Done:
    """What came of a share, the scores by the slug of their scenario."""

    scores: tuple[tuple[str, ScoredTrial], ...]
    unscored: Usage | None
    stopped: StopReason | None


@contextmanager
def opened_evaluation(resolved: ResolvedEvaluation, display: Display) -> Iterator[Evaluation]:
    """Ready to run, its folder claimed; workers end when this is left."""
    if resolved.engine == LOCAL:
        yield Evaluation(resolved.plan, resolved.claim(), display)
        return
    with open_engine(resolved.engine) as engine:
        options = resolved.claim()
        stop = _SharedStop(options.run.place.stopping)
        evaluation = SpreadEvaluation(resolved.plan, options, display, stop)
        evaluation.send_out(engine, resolved)
        yield evaluation


class _SharedStop(Stop):
    """Workers hear of it, wherever they are, by a file in the run's folder."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def ask(self, reason: StopReason) -> None:
        super().ask(reason)
        with suppress(OSError):
            self.file.touch()


class SpreadEvaluation(Evaluation):
    """Keeps the display, the scores and the report here; trials are run elsewhere."""

    def send_out(self, engine: Engine, resolved: ResolvedEvaluation) -> None:
        """To whom, and with which errand."""
        at_once = math.ceil(self.options.run.jobs / engine.workers())
        self._engine = engine
        self._errand = Errand(
            resolved.request,
            str(Path.cwd()),
            str(self.options.run.place.path),
            at_once,
            plan_fingerprint(resolved),
        )

    async def run_trials(self, waiting: Iterable[Trial]) -> None:
        """Nothing else goes on here meanwhile, so that a signal is heard at once."""
        stopping = self.options.run.place.stopping
        stopping.unlink(missing_ok=True)
        try:
            for done in self._engine.map(partial(do_share, self._errand), self._shares(list(waiting))):
                self._take_in(done)
        except BaseException:
            stopping.touch()  # workers of another machine may still be at it
            raise
        stopping.unlink(missing_ok=True)

    def _take_in(self, done: Done) -> None:
        self._last = time.perf_counter()
        self._unscored = total([self._unscored, done.unscored])
        scenarios = {scenario.slug: scenario for scenario in self.plan.scenarios}
        for slug, scored in done.scores:
            trial = Trial(scenarios[slug], scored.seed)
            self.note_score(trial, scored)
            self.display.scored(trial, scored)
        if done.stopped:
            self.stop.ask(done.stopped)

    def _shares(self, trials: list[Trial]) -> Iterator[Share]:
        at_once, workers = self._errand.jobs, self._engine.workers()
        size = min(max(math.ceil(len(trials) / (SHARES * workers)), at_once), LONGEST * at_once)
        for first in range(0, len(trials), size):
            if self.stop.reason:
                return
            share = trials[first : first + size]
            for trial in share:
                self.started(trial)
            yield tuple((trial.scenario.slug, trial.seed) for trial in share)


def plan_fingerprint(resolved: ResolvedEvaluation) -> str:
    """Of everything that shapes a transcript or a score."""
    shaping = [
        [
            scenario.slug,
            seeds,
            scenario.fingerprint(0, shared_subject(scenario)),
            [criterion.definition() for criterion in scenario.criteria],
        ]
        for scenario, seeds in resolved.plan.rows
    ]
    stamp = make_stamp(resolved.plan.scenarios, resolved.settings.check).model_dump(mode="json")
    settings = resolved.settings.model_dump(mode="json")
    return sha256(orjson.dumps([shaping, stamp, settings], option=orjson.OPT_SORT_KEYS)).hexdigest()


_OPENING = threading.Lock()
"""A worker may have several threads, and loading somebody's Python is for one at a time."""


@lru_cache(maxsize=1)
def _resolved_again(errand: Errand) -> ResolvedEvaluation:
    """From the same files, once in a process."""
    try:
        os.chdir(errand.folder)
    except OSError as error:
        raise _elsewhere(errand.folder) from error
    if not RunDirectory(Path(errand.run)).is_run:
        raise _elsewhere(errand.run)
    resolved = errand.request.resolve(lambda _: None)
    if plan_fingerprint(resolved) != errand.fingerprint:
        raise SynthesisError(
            "a worker finds other scenarios, words or settings than there were when the run began",
            where=errand.folder,
            fix="leave the files as they are while a run is under way; then go on with --resume",
        )
    return resolved


def _elsewhere(path: str) -> SynthesisError:
    fix = "let all workers see the same files at the same place"
    return SynthesisError("a worker does not find this folder", where=path, fix=fix)


def _part(plan: Plan, share: Share) -> Plan:
    rows = [
        (scenario, tuple(seed for slug, seed in share if slug == scenario.slug))
        for scenario in plan.scenarios
    ]
    return Plan(tuple(row for row in rows if row[1]))


def do_share(errand: Errand, share: Share) -> Done:
    """What a worker does. As when going on with a run: what a worker that died has finished stands."""
    with _OPENING:
        resolved = _resolved_again(errand)
    models = resolved.request.models.models(resolved.settings, os.environ, errand.jobs)
    options = replace(resolved, models=models).options(RunDirectory(Path(errand.run)))
    evaluation = _ShareEvaluation(
        _part(resolved.plan, share), replace(options, resume=True, stop_decided=False)
    )
    asyncio.run(evaluation.run_until_told())
    return evaluation.done()


class _ShareEvaluation(Evaluation):
    """A few trials of a run that others run, too."""

    async def run_trials(self, waiting: Iterable[Trial]) -> None:
        stopping = self.options.run.place.stopping
        await super().run_trials(trial for trial in waiting if not stopping.exists())

    async def run_until_told(self) -> None:
        """Told to end, trials are cancelled as by a second Ctrl-C.

        The worker's own way, an exception in the midst of anything, would lose a program that is just being
        started. In a thread of a worker of Dask nobody tells.
        """
        if threading.current_thread() is not threading.main_thread():
            return await self.run()
        before, loop = signal.getsignal(signal.SIGTERM), asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._end)
        try:
            await self.run()
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            signal.signal(signal.SIGTERM, before)
        if self.stop.interrupts:
            raise KeyboardInterrupt
        return None

    def _end(self) -> None:
        self.stop.ask("interrupted")
        self.stop.ask("interrupted")

    def done(self) -> Done:
        scores = tuple((slug, trial) for slug, found in self._scores.items() for trial in found.values())
        return Done(scores, self._unscored, self.stop.reason)
