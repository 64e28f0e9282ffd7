"""Answers kept on disk: told apart by who asked what, replayed as they were, and without a network."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from asking import Trial, endpoint, run
from faulty_server import FaultyServer, Request, ToolCall, hang, ok, refusing, status, wrong_json

from harness import recordings as recordings_module
from harness import retry
from harness.attempt import Attempt
from harness.endpoint import Endpoint
from harness.errors import SubjectError, SynthesisError
from harness.model import Answer
from harness.models import Models
from harness.recordings import RecordedTry, RecordingKey, Recordings, key_of
from harness.secrets import SHOWN, Redactor
from harness.spending import Budget

NOWHERE = endpoint("http://127.0.0.1:9/v1")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_FIRST", 0.001)


def recording(folder: Path, **more: Any) -> Models:
    recordings = Recordings(folder, "record", more.get("redactor", Redactor()))
    recordings.claim()
    return Models(recordings=recordings, **more)


def replaying(folder: Path, **more: Any) -> Models:
    return Models(recordings=Recordings(folder, "replay"), **more)


def counting(request: Request) -> Any:
    """Every answer is another, so that a shared one would show."""
    return ok(f"answer {request.number}")


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.json"))


# What makes two questions one


BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
ASKED = RecordingKey("talk", 1, 1, {"provider": "openai", "body": BODY})


@pytest.mark.parametrize(
    "other",
    [
        RecordingKey("talks", 1, 1, ASKED.request),
        RecordingKey("talk", 2, 1, ASKED.request),
        RecordingKey("talk", 1, 2, ASKED.request),
        RecordingKey("talk", 1, 1, {"provider": "anthropic", "body": BODY}),
        RecordingKey("talk", 1, 1, {"provider": "openai", "body": {**BODY, "temperature": 0}}),
        RecordingKey("talk", 1, 1, {"provider": "openai", "body": {**BODY, "model": "n"}}),
    ],
)
def test_another_scenario_seed_turn_or_request_is_another_question(other: RecordingKey) -> None:
    assert other.digest != ASKED.digest


def test_the_order_of_keys_and_the_server_make_no_difference() -> None:
    body = {"messages": BODY["messages"], "model": "m"}
    assert RecordingKey("talk", 1, 1, {"body": body, "provider": "openai"}).digest == ASKED.digest
    assert key_of(Trial().asker, "openai", body) == ASKED


def test_the_same_words_again_in_one_trial_are_another_question() -> None:
    asker = Trial().asker
    numbers = [key_of(asker, "openai", body).number for body in (BODY, BODY, {**BODY, "n": 1}, BODY)]
    assert numbers == [1, 2, 1, 3]


# Record, then replay


def test_a_replay_says_the_same_with_the_same_attempts_and_asks_nobody(tmp_path: Path) -> None:
    questions = [(1, "Hi."), (1, "Hi."), (1, "And?"), (2, "Hi.")]

    async def all_of(models: Models, where: Endpoint) -> tuple[list[Answer], list[Attempt]]:
        trials = {seed: Trial(seed) for seed, _ in questions}
        answers = [await trials[seed].ask(models, where, text) for seed, text in questions]
        return answers, [attempt for trial in trials.values() for attempt in trial.attempts]

    busy = status(429, headers={"Retry-After": "0"})
    with FaultyServer(lambda request: busy if request.number == 2 else counting(request)) as server:
        first = recording(tmp_path)
        recorded = run(first, all_of(first, endpoint(server.base_url)))
        assert len(server.requests) == 5
    assert [answer.text for answer in recorded[0]] == ["answer 1", "answer 3", "answer 4", "answer 5"]
    assert len(files(tmp_path)) == 4
    second = replaying(tmp_path)
    assert run(second, all_of(second, NOWHERE)) == recorded
    assert second._client._http is None


@pytest.mark.parametrize(
    "behaviour", [wrong_json(), status(503, headers={"Retry-After": "0"}), status(401), status(404)]
)
def test_a_failure_is_replayed_with_its_kind_and_its_words(behaviour: Any, tmp_path: Path) -> None:
    def outcome(models: Models, where: Endpoint) -> tuple[str, str, list[Attempt]]:
        trial = Trial()
        error = run(models, trial.fails(models, where))
        return error.kind, str(error), trial.attempts

    with FaultyServer([behaviour]) as server:
        recorded = outcome(recording(tmp_path, retries=2), endpoint(server.base_url))
    assert outcome(replaying(tmp_path), NOWHERE) == recorded


def test_a_question_that_was_cut_short_is_no_answer_in_a_replay(tmp_path: Path) -> None:
    models = recording(tmp_path)

    async def cut_short(where: Endpoint) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await Trial().ask(models, where)

    with FaultyServer([hang()]) as server:
        run(models, cut_short(endpoint(server.base_url)))
    again = replaying(tmp_path)
    error = run(again, Trial().fails(again, NOWHERE))
    assert str(error) == "the recording ends without an answer: given up before an answer came"


def test_repeats_under_other_seeds_never_share_an_answer(tmp_path: Path) -> None:
    """Not even of a provider that has no seeds, where the requests are the same to the byte."""
    with FaultyServer(counting) as server:
        where = endpoint(server.base_url, "anthropic:m")

        async def of_seeds(models: Models, where: Endpoint) -> list[str]:
            return [(await Trial(seed).ask(models, where)).text for seed in (1, 2, 3)]

        first = recording(tmp_path)
        said = run(first, of_seeds(first, where))
        bodies = [request.body for request in server.requests]
        assert bodies[0] == bodies[1] == bodies[2]
    assert len(set(said)) == 3
    again = replaying(tmp_path)
    assert run(again, of_seeds(again, endpoint(NOWHERE.base_url, "anthropic:m"))) == said


@pytest.mark.parametrize(
    "asked",
    [
        {"text": "Other words."},
        {"temperature": 0.5},
        {"seed": 2},
        {"scenario": "other"},
        {"model": "openai:other"},
        {"model": "anthropic:m"},
        {"extra_body": {"x": 1}},
    ],
)
def test_what_was_not_recorded_is_an_error_and_never_a_request(asked: dict[str, Any], tmp_path: Path) -> None:
    with FaultyServer([ok()]) as server:
        first = recording(tmp_path)
        run(first, Trial().ask(first, endpoint(server.base_url)))
        again = replaying(tmp_path)
        trial = Trial(asked.pop("seed", 1), asked.pop("scenario", "talk"))
        where = endpoint(server.base_url, asked.pop("model", "openai:m"))
        error = run(again, trial.fails(again, where, **asked))
        assert len(server.requests) == 1
    assert error.kind == "replay"
    assert f"nothing is recorded for question 1 of {trial.scenario}, seed {trial.seed}" in str(error)
    assert "record again with --record" in str(error)
    assert trial.attempts == []


def test_more_questions_than_were_recorded_are_an_error(tmp_path: Path) -> None:
    async def ask(models: Models, where: Endpoint, times: int) -> None:
        trial = Trial()
        for _ in range(times):
            await trial.ask(models, where)

    with FaultyServer([ok()]) as server:
        first = recording(tmp_path)
        run(first, ask(first, endpoint(server.base_url), 2))
    again = replaying(tmp_path)
    with pytest.raises(SubjectError, match="nothing is recorded for question 3"):
        run(again, ask(again, NOWHERE, 3))


def test_a_replay_uses_no_budget_and_needs_no_key(tmp_path: Path) -> None:
    with FaultyServer([ok(usage=(10**6, 1))]) as server:
        first = recording(tmp_path)
        run(first, Trial().ask(first, endpoint(server.base_url)))
    again = replaying(tmp_path, budget=Budget(max_tokens=1))
    lacking = Endpoint("openai:m", NOWHERE.base_url, lacks="OPENAI_API_KEY is not set")

    async def twice() -> None:
        for _ in range(2):
            assert (await Trial().ask(again, lacking)).text == "hello"

    run(again, twice())


def test_an_answer_that_no_budget_could_count_is_still_an_answer_when_replayed(tmp_path: Path) -> None:
    with FaultyServer([ok(usage=None)]) as server:
        first = recording(tmp_path, budget=Budget(max_tokens=1))
        assert "counts no tokens" in str(run(first, Trial().fails(first, endpoint(server.base_url))))
    again = replaying(tmp_path)
    assert run(again, Trial().ask(again, NOWHERE)).text == "hello"


# Files


def test_what_a_file_holds(tmp_path: Path) -> None:
    with FaultyServer([ok("Hello.", usage=(7, 3))]) as server:
        models = recording(tmp_path)
        run(models, Trial(seed=4).ask(models, endpoint(server.base_url)))
    (path,) = files(tmp_path)
    kept = json.loads(path.read_bytes())
    assert (kept["scenario"], kept["seed"], kept["number"], kept["failure"]) == ("talk", 4, 1, None)
    assert kept["request"]["body"]["seed"] == 4
    (made,) = kept["tries"]
    assert made["attempt"]["status"] == 200
    assert made["payload"]["choices"][0]["message"]["content"] == "Hello."
    assert path.parent.name == path.name[:2]


def test_no_key_is_kept_wherever_it_stood(tmp_path: Path) -> None:
    key = "Zq8-own-planted-key-no-shape"
    looks = "sk-another-0123456789abcdef"
    redactor = Redactor.of({"OPENAI_API_KEY": key})
    said = ok(f"{key}\n{looks}", request_id=key, note=key)
    with FaultyServer([status(500, f"{key} {looks}", {"Retry-After": "0"}, request_id=key), said]) as server:
        models = recording(tmp_path, redactor=redactor)
        work = Trial().ask(
            models, endpoint(server.base_url, key=key), f"Hi {key}", extra_body={"user": looks}
        )
        answer = run(models, work)
    (path,) = files(tmp_path)
    assert key not in path.read_text()
    assert looks not in path.read_text()
    assert path.read_text().count(SHOWN) >= 6
    again = replaying(tmp_path)
    replayed = Trial().ask(again, endpoint(NOWHERE.base_url), f"Hi {key}", extra_body={"user": looks})
    assert run(again, replayed) == answer


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", b"[", b"null", b'{"tries": []}', b"\xff",
        orjson.dumps({"scenario": "talk", "seed": 1, "number": 1, "request": {}, "tries": []}),
        orjson.dumps({"scenario": "talk", "seed": 1, "number": 1, "request": {}, "tries": [{"attempt": {}}]}),
        orjson.dumps(
            {"scenario": "talk", "seed": 1, "number": 1, "request": {},
             "tries": [{"attempt": {"model": "m", "attempt": "first"}}]}
        ),
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_and_never_a_request(content: bytes, tmp_path: Path) -> None:
    with FaultyServer([ok()]) as server:
        first = recording(tmp_path)
        run(first, Trial().ask(first, endpoint(server.base_url)))
        (path,) = files(tmp_path)
        path.write_bytes(content)
        again = replaying(tmp_path)
        error = run(again, Trial().fails(again, endpoint(server.base_url)))
        assert len(server.requests) == 1
    assert (error.kind, str(error)) == ("replay", f"the recording {path.name} is damaged; record again")


def test_a_payload_that_was_changed_by_hand_is_read_like_any_other(tmp_path: Path) -> None:
    with FaultyServer([ok()]) as server:
        first = recording(tmp_path)
        run(first, Trial().ask(first, endpoint(server.base_url)))
    (path,) = files(tmp_path)
    kept = json.loads(path.read_bytes())
    kept["tries"][0]["payload"] = {"choices": []}
    path.write_text(json.dumps(kept))
    again = replaying(tmp_path)
    error = run(again, Trial().fails(again, NOWHERE))
    assert (error.kind, 'the answer\'s "choices"' in str(error)) == ("answer", True)


def test_a_key_that_a_recording_was_given_by_hand_is_not_passed_on(tmp_path: Path) -> None:
    key = "Zq8-own-planted-key-no-shape"
    with FaultyServer([ok(None, tool_calls=[ToolCall("g", "{}")])]) as server:
        first = recording(tmp_path)
        run(first, Trial().ask(first, endpoint(server.base_url)))
    (path,) = files(tmp_path)
    kept = json.loads(path.read_bytes())
    message = kept["tries"][0]["payload"]["choices"][0]["message"]
    message["content"] = key
    message["tool_calls"][0]["function"]["arguments"] = json.dumps({"text": key}).replace("Z", "\\u005a")
    path.write_text(json.dumps(kept))
    again = replaying(tmp_path, redactor=Redactor.of({"OPENAI_API_KEY": key}))
    answer = run(again, Trial().ask(again, NOWHERE))
    assert (answer.text, answer.calls[0].arguments) == (SHOWN, {"text": SHOWN})


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [pipe, endless])
def test_what_never_ends_is_not_read(put: Callable[[Path], None], tmp_path: Path) -> None:
    Recordings(tmp_path, "record").save(ASKED, [RecordedTry(attempt=Attempt("openai:m", 1))])
    (path,) = files(tmp_path)
    path.unlink()
    put(path)
    with pytest.raises(SubjectError, match=f"the recording {path.name} is damaged"):
        Recordings(tmp_path, "replay").load(ASKED)


def test_a_file_larger_than_any_recording_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = Recordings(tmp_path, "record")
    recordings.save(ASKED, [RecordedTry(attempt=Attempt("openai:m", 1))])
    (path,) = files(tmp_path)
    size = path.stat().st_size
    monkeypatch.setattr(recordings_module, "MOST_BYTES", size)
    assert recordings.load(ASKED).scenario == ASKED.scenario
    monkeypatch.setattr(recordings_module, "MOST_BYTES", size - 1)
    with pytest.raises(SubjectError, match=f"the recording {path.name} is damaged"):
        recordings.load(ASKED)


@pytest.mark.parametrize("which", ["file", "folder"])
def test_nothing_is_recorded_through_a_link(which: str, tmp_path: Path) -> None:
    recordings, outside = Recordings(tmp_path / "kept", "record"), tmp_path / "outside"
    recordings.save(ASKED, [RecordedTry(attempt=Attempt("openai:m", 1))])
    (path,) = files(tmp_path / "kept")
    link = path if which == "file" else path.parent
    link.rename(outside)
    link.symlink_to(outside)
    before = (outside if which == "file" else outside / path.name).read_bytes()
    with pytest.raises(SynthesisError, match=f"{link}: a link lies where the run writes"):
        recordings.save(ASKED, [RecordedTry(attempt=Attempt("openai:another", 1))])
    assert (outside if which == "file" else outside / path.name).read_bytes() == before


def test_recording_again_replaces_what_was_there(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with FaultyServer([ok(text)]) as server:
            models = recording(tmp_path)
            run(models, Trial().ask(models, endpoint(server.base_url)))
    again = replaying(tmp_path)
    assert run(again, Trial().ask(again, NOWHERE)).text == "new"


def test_nothing_is_kept_where_nothing_was_sent(tmp_path: Path) -> None:
    models = recording(tmp_path, budget=Budget(max_tokens=1, tokens=1))
    with refusing() as base_url, pytest.raises(Exception, match="--max-tokens is reached"):
        run(models, Trial().ask(models, endpoint(base_url)))
    assert files(tmp_path) == []


def test_a_folder_that_is_not_there_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r"(?s)--replay .*/none: there is no such folder.*--record DIR"):
        Recordings(tmp_path / "none", "replay")
    (tmp_path / "file").write_text("")
    with pytest.raises(SynthesisError, match=r"--record .*/file/in: cannot be written"):
        Recordings(tmp_path / "file" / "in", "record").claim()
    Recordings(tmp_path / "later", "record")
    assert not (tmp_path / "later").exists(), "made when the run begins, not while it is checked"


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path, "record")
    recordings.save(ASKED, [RecordedTry(attempt=Attempt("openai:m", 1))])
    (path,) = files(tmp_path)
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert recordings.load(ASKED).tries[0].attempt == Attempt("openai:m", 1)
