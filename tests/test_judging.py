"""How criteria that ask are asked: within their time, only where that is allowed, and whatever they raise."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from faulty_server import FaultyServer, hang, ok
from judges import PLACE, TALK, judge_on, read
from recorded import Recording
from scenario_files import load, scenario, write

from harness import judging
from harness.conclude import make_stamp
from harness.criterion import Criterion, CriterionStamp, Verdict
from harness.endpoint import Endpoint
from harness.errors import Withdrawn
from harness.facts import ScenarioFacts
from harness.judging import Judging, ask_judges
from harness.model_arguments import endpoints
from harness.plan import plan_trials
from harness.price import Price
from harness.score import Scoring, judge_and_score, score_trial
from harness.settings import CheckSettings
from harness.transcript import Json, Transcript


class Asking(Criterion):
    """A criterion that asks, of which the trunk knows nothing."""

    asks: ClassVar[bool] = True
    verdict: Verdict | None = None

    @property
    def label(self) -> str:
        return "asking"

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint("openai:x", "http://127.0.0.1:9/v1")

    def stamp(self, settings: CheckSettings) -> CriterionStamp:
        return CriterionStamp(judges={"openai:x": settings.language})

    async def ask(self, transcript: Transcript, judging: Judging) -> Verdict:
        assert self.verdict is not None
        return self.verdict

    def score(self, transcript: Transcript, settings: CheckSettings) -> Verdict:
        raise NotImplementedError


class Slow(Asking):
    async def ask(self, transcript: Transcript, judging: Judging) -> Verdict:
        await asyncio.sleep(60)
        raise AssertionError


class Raising(Asking):
    error: type[BaseException]

    async def ask(self, transcript: Transcript, judging: Judging) -> Verdict:
        raise self.error("no \ud800 way")


def ask(*criteria: Criterion, transcript: Transcript = TALK, **how: object) -> list[Verdict]:
    how_asked = Judging(**how)  # type: ignore[arg-type]

    async def run() -> dict[int, Verdict]:
        try:
            return await ask_judges(transcript, criteria, how_asked)
        finally:
            await how_asked.models.close()

    return list(asyncio.run(run()).values())


def deep(levels: int) -> Json:
    found: Json = "x"
    for _ in range(levels):
        found = [found]
    return found


# whatever it raises


@pytest.mark.parametrize("error", [ValueError, RecursionError, SystemExit, TimeoutError, AssertionError])
def test_what_a_criterion_raises_while_it_asks_is_an_error_and_others_are_asked(
    error: type[BaseException],
) -> None:
    first, second = ask(Raising(error=error), Asking(verdict=Verdict.passed("fine")), seconds=60.0)
    assert (first.status, first.reason) == ("error", f"raised {error.__name__}: no \\ud800 way")
    assert second.status == "passed"


@pytest.mark.parametrize("error", [Withdrawn, asyncio.CancelledError, KeyboardInterrupt])
def test_what_ends_the_run_ends_it(error: type[BaseException]) -> None:
    with pytest.raises(error):
        ask(Raising(error=error))


def test_an_argument_too_deep_for_the_prompt_is_an_error_of_the_judge() -> None:
    recording = Recording().user("hi")
    recording.add("gate_call", gate="g", arguments=deep(400))
    transcript = recording.says("hello").ends("hello")
    with FaultyServer([ok("3")]) as server:
        (found,) = ask(judge_on(server.base_url), transcript=transcript)
        assert server.requests == []
    assert (found.status, found.points) == ("error", None)
    assert found.reason.startswith("raised TypeError")


@pytest.mark.parametrize("levels", [195, 250, 400])
def test_a_verdict_that_a_report_could_not_hold_is_an_error(levels: int) -> None:
    unreadable = Verdict(status="passed", reason="", evidence={"a": deep(levels)})
    (found,) = ask(Asking(verdict=unreadable))
    assert found.status == "error"


@pytest.mark.parametrize("levels", range(160, 200))
def test_a_verdict_that_is_taken_can_be_read_again(levels: int) -> None:
    given = Asking(verdict=Verdict(status="passed", reason="", evidence={"a": deep(levels)}))
    scored = asyncio.run(judge_and_score(TALK, [given], Judging(), Scoring(), "t.jsonl"))
    assert scored is not None
    assert scored.report().status in {"scored", "error"}


# in time


def test_all_judges_of_a_trial_have_its_time_together() -> None:
    with FaultyServer([hang()]) as server:
        judges = [judge_on(server.base_url, {"request_timeout": 3000.0}, name=name) for name in "ab"]
        began = time.monotonic()
        first, second = ask(*judges, seconds=0.5)
        assert time.monotonic() - began < 30
    for found in (first, second):
        assert (found.status, found.reason) == ("error", "not judged after 0.5 s")
    (attempt,) = first.attempts
    assert attempt["error"] == "given up before an answer came"
    assert first.evidence["attempts"] == [attempt]


def test_what_was_answered_in_time_is_on_record() -> None:
    with FaultyServer([ok("3"), hang()]) as server:
        judge = judge_on(server.base_url, {"request_timeout": 3000.0}, judge_repeats=2)
        (found,) = ask(judge, seconds=2.0)
    assert (found.status, found.evidence["scores"]) == ("error", [3.0])
    assert [attempt["input_tokens"] for attempt in found.attempts] == [7, None]


def test_a_criterion_that_keeps_no_time_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_GRACE", 0.05)
    first, second = ask(Slow(), Asking(verdict=Verdict.passed("fine")), seconds=0.1)
    assert (first.status, first.reason) == ("error", "not judged after 0.1 s")
    assert second.status == "passed"


# only where that is allowed


def test_where_nobody_may_be_asked_only_what_is_kept_counts(tmp_path: Path) -> None:
    with FaultyServer([ok("3")]) as server:
        judge = judge_on(server.base_url)
        (found,) = ask(judge, folder=tmp_path, ask=False)
        assert (found.status, found.points) == ("error", None)
        assert found.reason == "not asked: no judgment is kept; add --ask-judges"
        assert server.requests == []
        assert ask(judge, folder=tmp_path) == ask(judge, folder=tmp_path, ask=False)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "attempts",
    [
        [{}],
        [{"input_tokens": "x"}],
        [{"input_tokens": -1}],
        [{"output_tokens": 10**400}],
        [{"output_tokens": 1.5}],
        [{"attempt": 0}],
        [{"model": None}],
        [5],
    ],
)
def test_requests_that_cannot_have_been_made_make_a_judgment_no_judgment(
    tmp_path: Path, attempts: list[Json]
) -> None:
    with FaultyServer([ok("3"), ok("4")]) as server:
        judge = judge_on(server.base_url)
        ask(judge, folder=tmp_path)
        (kept,) = tmp_path.iterdir()
        said = json.loads(kept.read_bytes())
        (whole,) = said["attempts"]
        said["attempts"] = [
            {**whole, **more} if isinstance(more, dict) and more else more for more in attempts
        ]
        kept.write_text(json.dumps(said))
        (found,) = ask(judge, folder=tmp_path, ask=False)
        assert found.reason == "not asked: no judgment is kept; add --ask-judges"
        (found,) = ask(judge, folder=tmp_path)
        assert found.points == 4.0


def test_a_script_is_not_asked_for_money() -> None:
    judge = read(judge_model={"model": {"replies": ["3"]}}).settle(ScenarioFacts(), PLACE)
    (found,) = ask(judge, ask=False)
    assert found.points == 3.0


# a criterion of someone else's that asks


def test_what_any_criterion_asked_counts_as_the_judges_usage() -> None:
    attempt = {"model": "openai:x", "input_tokens": 5, "output_tokens": 2, "error": None}
    given = Asking(verdict=Verdict(status="passed", reason="", attempts=(attempt, attempt)))
    scoring = Scoring(prices={"openai:x": Price(input=1e6, output=0)}, judged={0: given.verdict})  # type: ignore[dict-item]
    scored = score_trial(TALK, [given], scoring, "t.jsonl")
    assert scored.judge_usage is not None
    assert (scored.judge_usage.requests, scored.judge_usage.cost) == (2, 10)
    assert scored.report().judge_usage == scored.judge_usage
    assert b"attempts" not in scored.encoded


def test_a_report_and_a_budget_hear_of_every_criterion_that_asks(tmp_path: Path) -> None:
    (found,) = load(write(tmp_path / "s.json", scenario()))
    asking = replace(found, criteria=(*found.criteria, Asking()))
    assert make_stamp([found, asking], CheckSettings()).judges == {"openai:x": "en"}
    assert [end.model for end in endpoints(plan_trials([asking]))] == ["openai:x"]
