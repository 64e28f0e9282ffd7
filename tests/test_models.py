"""Models asked over real sockets, whatever the server does: every attempt is written down."""

import asyncio
import threading
from typing import Any

import pytest
from asking import KEY, Trial, endpoint, run
from faulty_server import (
    Behaviour,
    End,
    FaultyServer,
    Request,
    ToolCall,
    disconnect,
    drip,
    echo_key,
    half_body,
    hang,
    huge,
    later,
    ok,
    redirect,
    refusing,
    status,
    wrong_json,
    wrong_shape,
)

from harness import client, retry
from harness import models as models_module
from harness.errors import Refused, SubjectError, Withdrawn
from harness.model import Answer, Tokens
from harness.models import Models
from harness.price import Price
from harness.run_report import StopReason
from harness.secrets import SHOWN, Redactor
from harness.spending import Budget

AT_ONCE = {"Retry-After": "0"}
BUSY = status(429, headers=AT_ONCE)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a server does not say how long, a test does not wait either."""
    monkeypatch.setattr(retry, "_FIRST", 0.001)


def asked(
    *script: Behaviour, retries: int = 5, model: str = "openai:m", **options: Any
) -> tuple[Answer, Trial]:
    trial, models = Trial(), Models(retries=retries)
    with FaultyServer(script) as server:
        answer = run(models, trial.ask(models, endpoint(server.base_url, model), **options))
    return answer, trial


def failed(
    *script: Behaviour,
    retries: int = 0,
    model: str = "openai:m",
    redactor: Redactor | None = None,
    **options: Any,
) -> tuple[SubjectError, Trial]:
    trial, models = Trial(), Models(redactor or Redactor(), retries=retries)
    with FaultyServer(script) as server:
        error = run(models, trial.fails(models, endpoint(server.base_url, model), **options))
        assert len(server.requests) == len(trial.attempts), "every request is an attempt"
    return error, trial


# Answers


@pytest.mark.parametrize(("model", "finish"), [("openai:m", "stop"), ("anthropic:m", "end_turn")])
def test_an_answer_and_what_is_written_down_of_it(model: str, finish: str) -> None:
    answer, trial = asked(ok("Hello.", usage=(11, 2)), model=model)
    assert answer == Answer("Hello.", finish=finish, tokens=Tokens(11, 2))
    (attempt,) = trial.attempts
    assert attempt.latency_ms > 0
    assert {**attempt.fields(), "latency_ms": 0} == {
        "model": model, "attempt": 1, "status": 200, "request_id": "req_1", "latency_ms": 0,
        "input_tokens": 11, "output_tokens": 2, "finish": finish, "error": None, "wait_ms": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "path", "key"),
    [("openai:a:b", "/v1/chat/completions", f"Bearer {KEY}"), ("anthropic:a:b", "/v1/messages", KEY)],
)
def test_what_reaches_the_server(model: str, path: str, key: str) -> None:
    trial, models = Trial(seed=7), Models()
    with FaultyServer([ok()]) as server:
        run(models, trial.ask(models, endpoint(server.base_url, model), temperature=0.5, extra_body={"x": 1}))
        (request,) = server.requests
    assert (request.method, request.path, request.key) == ("POST", path, key)
    assert (request.body["model"], request.body["temperature"], request.body["x"]) == ("a:b", 0.5, 1)
    assert request.body.get("seed") == (7 if model.startswith("openai") else None)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("synthesis-harness/")


def test_without_a_key_none_is_sent() -> None:
    trial, models = Trial(), Models()
    with FaultyServer([ok()]) as server:
        for model in ("openai:m", "anthropic:m"):
            run(models, trial.ask(models, endpoint(server.base_url, model, key=None)))
        assert [request.key for request in server.requests] == [None, None]


def test_no_trial_leaves_a_cookie_for_another() -> None:
    trial, models = Trial(), Models()

    async def twice(where: Any) -> None:
        await trial.ask(models, where)
        await trial.ask(models, where)

    with FaultyServer([ok(headers={"Set-Cookie": "session=1; Path=/"})]) as server:
        run(models, twice(endpoint(server.base_url)))
        assert ["cookie" in request.headers for request in server.requests] == [False, False]


def test_connections_are_shared_by_all_trials() -> None:
    models = Models()

    async def many(where: Any) -> None:
        for seed in range(5):
            await Trial(seed).ask(models, where)

    with FaultyServer([ok()]) as server:
        run(models, many(endpoint(server.base_url)))
        assert (len(server.requests), server.connections) == (5, 1)


# Tried again


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again_and_every_attempt_is_written_down(code: int) -> None:
    answer, trial = asked(status(code, headers=AT_ONCE), status(code, headers=AT_ONCE), ok("at last"))
    assert answer.text == "at last"
    assert trial.statuses == [code, code, 200]
    assert [attempt.attempt for attempt in trial.attempts] == [1, 2, 3]
    assert [attempt.wait_ms for attempt in trial.attempts] == [0, 0, None]
    assert [attempt.request_id for attempt in trial.attempts] == ["req_1", "req_2", "req_3"]
    first, _, last = trial.attempts
    assert first.error is not None
    assert first.error.startswith(f"{code}: ")
    assert (first.input_tokens, last.input_tokens, last.error) == (None, 7, None)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (disconnect(), "RemoteProtocolError: Server disconnected"),
        (disconnect(End.RESET), "ReadError"),
        (half_body(), "RemoteProtocolError: peer closed connection"),
        (half_body(end=End.RESET), "ReadError"),
        (half_body(status(500)), "RemoteProtocolError"),
        (status(200, b"not packed at all", {"Content-Encoding": "gzip"}), "DecodingError"),
    ],
)
def test_a_connection_that_breaks_is_tried_again(behaviour: Behaviour, said: str) -> None:
    answer, trial = asked(behaviour, ok("whole"))
    assert answer.text == "whole"
    broken, _ = trial.attempts
    assert broken.error is not None
    assert said in broken.error
    assert broken.error.startswith("http://127.0.0.1:")
    assert broken.wait_ms is not None


@pytest.mark.parametrize("behaviour", [hang(), drip(0.01), drip(0.01, head=True), later(30)])
def test_a_server_that_does_not_come_to_an_end_is_tried_again(behaviour: Behaviour) -> None:
    answer, trial = asked(behaviour, ok("quick"), request_timeout=0.2)
    assert answer.text == "quick"
    assert trial.attempts[0].error is not None
    assert "no answer after 0.2 s" in trial.attempts[0].error
    assert trial.attempts[0].latency_ms >= 200


def test_after_so_many_retries_it_is_given_up_with_what_the_server_said() -> None:
    error, trial = failed(status(503, {"error": {"message": "on fire"}}, AT_ONCE), retries=2)
    assert (error.kind, str(error)) == ("http", "503: on fire (attempt 3)")
    assert trial.statuses == [503, 503, 503]
    assert trial.attempts[-1].wait_ms is None


def test_a_server_that_is_not_there_says_so() -> None:
    trial, models = Trial(), Models(retries=1)
    with (
        refusing() as base_url,
        pytest.raises(Refused, match="ConnectError: All connection attempts"),
    ):
        run(models, trial.ask(models, endpoint(base_url)))
    assert trial.statuses == [None, None]


@pytest.mark.parametrize(("retry_after", "at_least"), [("7", 7.0), ("0.5", 0.5)])
def test_the_wait_that_a_server_asks_for_is_written_down(
    retry_after: str, at_least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def at_once(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    _, trial = asked(status(503, headers={"Retry-After": retry_after}), ok())
    (wait,) = [wait for wait in waits if wait]
    assert at_least <= wait <= at_least * 1.1
    assert trial.attempts[0].wait_ms == round(wait * 1000, 1)


def test_a_wait_that_ends_after_the_trial_is_not_begun() -> None:
    models = Models()

    async def pressed(where: Any) -> tuple[SubjectError, Trial]:
        trial = Trial(deadline=asyncio.get_running_loop().time() + 60)
        return await trial.fails(models, where), trial

    with FaultyServer([status(503, headers={"Retry-After": "3600"})]) as server:
        error, trial = run(models, pressed(endpoint(server.base_url)))
        assert len(server.requests) == 1
    assert "the next try would be in 3.6" in str(error) or "3.7" in str(error)
    assert "the trial ends before" in str(error)
    assert trial.attempts[0].wait_ms is None


def test_nobody_waits_for_a_server_that_wants_to_be_left_alone_longer_than_the_trial() -> None:
    models = Models()

    async def pressed(where: Any) -> list[SubjectError]:
        deadline = asyncio.get_running_loop().time() + 60
        return [await Trial(seed, deadline=deadline).fails(models, where) for seed in range(3)]

    with FaultyServer([status(429, headers={"Retry-After": "3600"})]) as server:
        errors = run(models, pressed(endpoint(server.base_url)))
        assert len(server.requests) == 1
    assert all("the trial ends before" in str(error) for error in errors)
    assert "asks everybody to wait" in str(errors[-1])


def test_a_request_that_the_trial_cannot_wait_for_is_written_down_too() -> None:
    trial, models = Trial(), Models()

    async def cut_short(where: Any) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await trial.ask(models, where)

    with FaultyServer([BUSY, hang()]) as server:
        run(models, cut_short(endpoint(server.base_url)))
    assert trial.statuses == [429, None]
    last = trial.attempts[-1]
    assert (last.attempt, last.error, last.wait_ms) == (2, "given up before an answer came", None)
    assert last.latency_ms > 0


def test_too_many_requests_shrink_what_is_asked_at_once_and_answers_let_it_grow() -> None:
    models = Models(at_once=8)

    async def sixteen(where: Any) -> None:
        await Trial().ask(models, where)
        (limiter,) = models._limiters.values()
        assert limiter.limit == 4
        await asyncio.gather(*(Trial(seed).ask(models, where) for seed in range(30)))
        assert limiter.limit == 8

    def busy_at_first(request: Request) -> Behaviour:
        return BUSY if request.number == 1 else later(0.01)

    with FaultyServer(busy_at_first) as server:
        run(models, sixteen(endpoint(server.base_url)))
        assert 4 <= server.most_at_once <= 8


# Not tried again


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (wrong_json(), "the answer is not JSON: '{\"choices\": ['"),
        (status(200, "<html>Sign in</html>"), "the answer is not JSON: '<html>Sign in</html>'"),
        (status(200, b"\xff\xfe"), "the answer is not JSON"),
        (status(200, ""), "the answer is not JSON: ''"),
        (status(200, "null"), "the answer"),
        (wrong_shape({"choices": []}), 'the answer\'s "choices": '),
        (wrong_shape("just text"), "the answer's"),
        (wrong_shape([1, 2]), "the answer's"),
        (status(200, "[" * 300 + "]" * 300), "the answer is nested too deeply"),
        (status(200, "[" * 100_000), "the answer is not JSON"),
        (status(400), "400: Bad Request"),
        (status(422, {"detail": [{"loc": ["seed"]}]}), "422: [{'loc': ['seed']}]"),
        (status(418, "short and stout"), "418: short and stout"),
        (status(413, {"error": "too much"}), "413: too much"),
        (status(400, {"error": None}), '400: {"error": null}'),
        (status(400, "x" * 9999), f"400: {'x' * 300}…"),
        (status(204, ""), "204"),
        (redirect("http://127.0.0.1:9/v1"), "307: the server points elsewhere, which is not followed"),
    ],
)
def test_an_answer_that_is_none_fails_at_once_and_says_why(behaviour: Behaviour, said: str) -> None:
    error, trial = failed(behaviour, retries=5)
    assert said in str(error)
    assert error.kind in ("answer", "http")
    (attempt,) = trial.attempts
    assert attempt.error == str(error)
    assert attempt.status is not None


@pytest.mark.parametrize("encoding", ["plain", "chunked", "gzip"])
def test_an_answer_without_end_is_cut_off(encoding: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_BYTES", 100_000)
    error, _ = failed(huge(3_000_000, encoding), retries=5)
    assert (error.kind, "more than 100000 bytes" in str(error)) == ("connection", True)


def test_an_answer_may_be_as_long_as_a_book() -> None:
    answer, _ = asked(ok("x" * 2_000_000))
    assert len(answer.text) == 2_000_000


def test_a_redirect_is_not_followed_so_that_no_key_goes_where_it_points() -> None:
    with FaultyServer([ok()]) as elsewhere:
        for code in (301, 302, 303, 307, 308):
            error, _ = failed(redirect(f"{elsewhere.base_url}/chat/completions", code))
            assert f"{code}: the server points elsewhere" in str(error)
        assert elsewhere.requests == []


# Refused


@pytest.mark.parametrize(
    ("behaviour", "hint"),
    [
        (status(401), "check OPENAI_API_KEY"),
        (status(402), "check OPENAI_API_KEY"),
        (status(403), "check OPENAI_API_KEY"),
        (status(404), "check the model's name and the server"),
        (
            status(400, {"error": {"message": "The model `m` does not exist"}}),
            "check the model's name and the server",
        ),
        (
            status(400, {"error": {"message": "nope", "code": "model_not_found"}}),
            "check the model's name and the server",
        ),
        (status(429, {"error": {"code": "insufficient_quota"}}, AT_ONCE), "check OPENAI_API_KEY"),
        (
            status(400, {"error": {"message": "Your credit balance is too low to use it"}}),
            "check OPENAI_API_KEY",
        ),
    ],
)
def test_a_wrong_key_or_model_fails_once_and_the_run_ends(behaviour: Behaviour, hint: str) -> None:
    ended: list[StopReason] = []
    models = Models(retries=5, at_once=8, ended=ended.append)
    trials = [Trial(seed) for seed in range(50)]

    async def all_at_once(where: Any) -> list[Any]:
        return await asyncio.gather(*(trial.ask(models, where) for trial in trials), return_exceptions=True)

    with FaultyServer([behaviour]) as server:
        where = endpoint(server.base_url, hint="check OPENAI_API_KEY")
        outcomes = run(models, all_at_once(where))
        assert len(server.requests) == 1
    (refused,) = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert sum(isinstance(outcome, Withdrawn) for outcome in outcomes) == 49
    assert ended == ["model"]
    assert str(refused).startswith(f"openai:m on {where.base_url} refused: ")
    assert str(refused).endswith(hint)
    assert sum(len(trial.attempts) for trial in trials) == 1


def test_a_model_that_has_answered_is_not_given_up_for_one_question_it_refuses() -> None:
    ended: list[StopReason] = []
    models = Models(ended=ended.append)

    async def three(where: Any) -> None:
        await Trial().ask(models, where)
        assert "403" in str(await Trial().fails(models, where))
        await Trial().ask(models, where)

    with FaultyServer([ok(), status(403, {"error": "flagged"}), ok()]) as server:
        run(models, three(endpoint(server.base_url)))
    assert ended == []


def test_a_key_that_is_withdrawn_or_without_money_in_the_middle_ends_the_run() -> None:
    for end in (status(401), status(429, {"error": {"code": "insufficient_quota"}})):
        ended: list[StopReason] = []
        models = Models(ended=ended.append)

        async def three(where: Any, models: Models = models) -> None:
            await Trial().ask(models, where)
            with pytest.raises(Refused):
                await Trial().ask(models, where)
            with pytest.raises(Withdrawn):
                await Trial().ask(models, where)

        with FaultyServer([ok(), end]) as server:
            run(models, three(endpoint(server.base_url)))
            assert len(server.requests) == 2
        assert ended == ["model"]


def test_one_model_that_is_refused_does_not_stop_another() -> None:
    models = Models()

    def only_good(request: Request) -> Behaviour:
        return ok() if request.body["model"] == "good" else status(404)

    async def both(where: str) -> None:
        with pytest.raises(Refused):
            await Trial().ask(models, endpoint(where, "openai:bad"))
        await Trial().ask(models, endpoint(where, "openai:good"))

    with FaultyServer(only_good) as server:
        run(models, both(server.base_url))


def test_once_a_model_has_answered_nobody_waits_for_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "PATIENCE", 1000)
    together = threading.Barrier(7, timeout=10)
    models = Models(at_once=8)

    def play(request: Request) -> Behaviour:
        if request.number > 1:
            together.wait()
        return ok()

    async def eight(where: Any) -> None:
        await asyncio.gather(*(Trial(seed).ask(models, where) for seed in range(8)))

    with FaultyServer(play) as server:
        run(models, eight(endpoint(server.base_url)))


def test_a_first_answer_that_takes_long_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_module, "PATIENCE", 0.05)
    together = threading.Barrier(4, timeout=10)
    models = Models(at_once=8)

    def play(_: Request) -> Behaviour:
        together.wait()
        return ok()

    async def four(where: Any) -> None:
        await asyncio.gather(*(Trial(seed).ask(models, where) for seed in range(4)))

    with FaultyServer(play) as server:
        run(models, four(endpoint(server.base_url)))


# Budgets


def spend(budget: Budget, *script: Behaviour, questions: int = 10) -> tuple[int, list[StopReason], Exception]:
    """How many answers there were before the budget ended it, and how it did."""
    ended: list[StopReason] = []
    models = Models(budget=budget, ended=ended.append)

    async def until_it_ends(where: Any) -> tuple[int, Exception]:
        for number in range(questions):
            try:
                await Trial(number).ask(models, where)
            except (SubjectError, Withdrawn) as error:
                return number, error
        raise AssertionError("it never ended")

    with FaultyServer(script) as server:
        answered, error = run(models, until_it_ends(endpoint(server.base_url)))
        assert len(server.requests) == answered + (not isinstance(error, Withdrawn))
    return answered, ended, error


def test_tokens_that_are_used_up_end_the_run() -> None:
    answered, ended, error = spend(Budget(max_tokens=25), ok(usage=(7, 3)))
    assert (answered, ended, str(error)) == (3, ["max-tokens"], "--max-tokens is reached")


def test_money_that_is_used_up_ends_the_run() -> None:
    prices = {"openai:m": Price(input=1e6, output=2e6)}
    answered, ended, error = spend(Budget(max_cost=26, prices=prices), ok(usage=(7, 3)))
    assert (answered, ended, str(error)) == (2, ["max-cost"], "--max-cost is reached")


def test_a_budget_that_cannot_be_kept_ends_the_run_with_the_first_answer() -> None:
    answered, ended, error = spend(Budget(max_tokens=25), ok(usage=None))
    assert (answered, ended) == (0, ["model"])
    assert "the server counts no tokens, so --max-cost and --max-tokens cannot be kept" in str(error)
    _, ended, error = spend(Budget(max_cost=1), ok())
    assert (ended, "openai:m has no price" in str(error)) == (["model"], True)


# Keys

OWN_KEY = "Zq8-own-planted-key-no-shape"


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
@pytest.mark.parametrize(
    "behaviour",
    [
        echo_key(401),
        echo_key(400),
        echo_key(500),
        status(400, f"{'x' * 290}{OWN_KEY}"),
        status(400, {"error": {"message": f"{'x' * 290} {OWN_KEY}"}}),
        status(200, f"no JSON but {OWN_KEY}"),
        status(400, request_id=f"{'r' * 190}{OWN_KEY}"),
        redirect(f"http://{OWN_KEY}/"),
    ],
)
def test_a_key_that_a_server_tells_is_not_passed_on(behaviour: Behaviour, model: str) -> None:
    trial, models = Trial(), Models(Redactor.of({"OPENAI_API_KEY": OWN_KEY}), retries=0)
    with FaultyServer([behaviour]) as server:
        where = endpoint(server.base_url, model, key=OWN_KEY)
        error = run(models, trial.fails(models, where))
        assert OWN_KEY in str(server.requests[0].key)
    everything = f"{error}{trial.attempts}"
    for start in range(len(OWN_KEY) - 8):
        assert OWN_KEY[start : start + 9] not in everything


def test_a_key_that_a_model_says_is_not_passed_on() -> None:
    trial, models = Trial(), Models(Redactor.of({"OPENAI_API_KEY": OWN_KEY}))
    said = f"It is:\n{OWN_KEY}, or\nsk-another-0123456789abcdef"
    with FaultyServer([ok(said, request_id=f"req_{OWN_KEY}")]) as server:
        answer = run(models, trial.ask(models, endpoint(server.base_url, key=OWN_KEY)))
    assert answer.text == f"It is:\n{SHOWN}, or\n{SHOWN}"
    assert trial.attempts[0].request_id == f"req_{SHOWN}"


def escaped(text: str) -> str:
    """As JSON may write it, so that no part of it can be read before it is unpacked."""
    return "".join(f"\\u{ord(char):04x}" for char in text)


@pytest.mark.parametrize("key", [OWN_KEY, "sk-another-0123456789abcdef"])
def test_a_key_in_the_packed_arguments_of_a_call_is_not_passed_on(key: str) -> None:
    trial, models = Trial(), Models(Redactor.of({"OPENAI_API_KEY": OWN_KEY}))
    packed = f'{{"path": "a.txt", "text": ["it is {escaped(key)}"]}}'
    with FaultyServer([ok(None, tool_calls=[ToolCall("write_file", packed)])]) as server:
        answer = run(models, trial.ask(models, endpoint(server.base_url)))
    assert [call.arguments for call in answer.calls] == [{"path": "a.txt", "text": [f"it is {SHOWN}"]}]


def test_a_key_that_is_told_in_two_halves_is_not_passed_on() -> None:
    halves = [{"type": "text", "text": half} for half in (OWN_KEY[:9], OWN_KEY[9:])]
    trial, models = Trial(), Models(Redactor.of({"ANTHROPIC_API_KEY": OWN_KEY}))
    with FaultyServer([ok(content=halves)]) as server:
        answer = run(models, trial.ask(models, endpoint(server.base_url, "anthropic:m")))
    assert answer.text == SHOWN


def test_arguments_that_are_nested_too_deeply_are_no_answer() -> None:
    error, _ = failed(ok(None, tool_calls=[ToolCall("g", "[" * 300 + "]" * 300)]), retries=5)
    assert (error.kind, str(error)) == ("answer", "the answer is nested too deeply")


def test_what_cannot_be_asked_is_refused_without_a_request() -> None:
    ended: list[StopReason] = []
    trial, models = Trial(), Models(ended=ended.append)
    with FaultyServer([ok()]) as server:
        where = endpoint(server.base_url)
        lacking = type(where)(where.model, where.base_url, lacks="OPENAI_API_KEY is not set: set it")
        assert str(run(models, trial.fails(models, lacking))) == "OPENAI_API_KEY is not set: set it"
        assert server.requests == []
    assert (trial.attempts, ended) == ([], ["model"])
