"""What a judge said is kept and not asked again, unless the question or what is kept is another."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer, ok, status
from judges import TALK, judge_on, verdict
from recorded import exchange

from harness.errors import SynthesisError
from harness.transcript import Transcript

SAID = [ok("pardon?"), ok('{"score": 3, "reason": "fair"}'), ok("4")]


def other(**start: object) -> Transcript:
    """The same conversation of another trial."""
    return Transcript([{**TALK.start, **start}, *TALK.events[1:]])


def test_the_same_question_about_the_same_trial_is_asked_once(tmp_path: Path) -> None:
    with FaultyServer(SAID) as server:
        first = verdict(judge_on(server.base_url, judge_repeats=2), tmp_path)
        assert len(server.requests) == 3
        again = verdict(judge_on(server.base_url, judge_repeats=2), tmp_path)
        assert len(server.requests) == 3
    assert first.points == 3.5
    assert again == first
    assert again.model_dump_json() == first.model_dump_json()


def test_without_a_folder_nothing_is_kept() -> None:
    with FaultyServer([ok("3"), ok("4")]) as server:
        judge = judge_on(server.base_url)
        assert (verdict(judge).points, verdict(judge).points) == (3.0, 4.0)


@pytest.mark.parametrize(
    ("options", "definition"),
    [
        ({}, {"judge": "Score whether it is short."}),
        ({}, {"max_score": 6}),
        ({}, {"judge_repeats": 2}),
        ({"model": "openai:other"}, {}),
        ({"model": "anthropic:judge"}, {}),
        ({"temperature": 1.0}, {}),
        ({"extra_body": {"top_k": 1}}, {}),
    ],
)
def test_another_question_or_another_judge_is_asked(
    tmp_path: Path, options: dict[str, Any], definition: dict[str, Any]
) -> None:
    with FaultyServer([ok("3")]) as server:
        verdict(judge_on(server.base_url), tmp_path)
        before = len(server.requests)
        origin = {"base_url": server.origin} if "anthropic" in str(options) else {}
        assert verdict(judge_on(server.base_url, {**options, **origin}, **definition), tmp_path).points == 3.0
        assert len(server.requests) > before
    assert len(list(tmp_path.iterdir())) == 2


def test_asked_once_and_asked_twice_are_kept_side_by_side(tmp_path: Path) -> None:
    with FaultyServer([ok("3")]) as server:
        for repeats in (1, 2, 1, 2):
            verdict(judge_on(server.base_url, {"temperature": 1.0}, judge_repeats=repeats), tmp_path)
        assert len(server.requests) == 3


@pytest.mark.parametrize("options", [{"request_timeout": 7.0}, {"temperature": 0.0}])
def test_what_does_not_shape_an_answer_does_not_ask_again(tmp_path: Path, options: dict[str, Any]) -> None:
    with FaultyServer([ok("3")]) as server:
        verdict(judge_on(server.base_url), tmp_path)
        verdict(judge_on(server.base_url, options), tmp_path)
        assert len(server.requests) == 1


def test_what_passes_is_decided_anew(tmp_path: Path) -> None:
    with FaultyServer([ok("3")]) as server:
        assert verdict(judge_on(server.base_url), tmp_path).status == "failed"
        assert verdict(judge_on(server.base_url, pass_at=3, name="mild"), tmp_path).status == "passed"
        assert len(server.requests) == 1


@pytest.mark.parametrize("another", [other(seed=2), other(scenario="walk"), exchange(("hi", "hello"))])
def test_another_trial_is_asked_about(tmp_path: Path, another: Transcript) -> None:
    with FaultyServer([ok("3"), ok("4")]) as server:
        assert verdict(judge_on(server.base_url), tmp_path).points == 3.0
        assert verdict(judge_on(server.base_url), tmp_path, another).points == 4.0


@pytest.mark.parametrize("behaviours", [[ok("what?")], [status(400)], [ok("3"), ok("x"), ok("x"), ok("x")]])
def test_what_came_to_no_score_is_not_kept(tmp_path: Path, behaviours: list[Any]) -> None:
    with FaultyServer(behaviours) as server:
        assert verdict(judge_on(server.base_url, judge_repeats=2), tmp_path).status == "error"
    assert list(tmp_path.iterdir()) == []


def changed(**more: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **more}))

    return change


def answer(text: str, repeat: int = 1) -> dict[str, object]:
    return {"repeat": repeat, "try": 1, "text": text}


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-30]),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[]"),
        changed(key="0" * 64),
        changed(answers=[]),
        changed(answers=[answer("99")]),
        changed(answers=[answer("no score")]),
        changed(answers=[answer("5"), answer("5", 2)]),
        changed(answers=[{"repeat": 1, "try": 1, "text": 5}]),
        changed(attempts="none"),
        changed(score=5),
    ],
)
def test_a_damaged_file_is_asked_anew_and_mended(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    with FaultyServer([ok("3"), ok("4")]) as server:
        judge = judge_on(server.base_url)
        verdict(judge, tmp_path)
        (kept,) = tmp_path.iterdir()
        spoil(kept)
        assert verdict(judge, tmp_path).points == 4.0
        assert verdict(judge, tmp_path).points == 4.0
        assert len(server.requests) == 2


def test_a_pipe_is_not_waited_on_and_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "judgments", tmp_path / "elsewhere"
    with FaultyServer([ok("3")]) as server:
        judge = judge_on(server.base_url)
        verdict(judge, folder)
        (kept,) = folder.iterdir()
        as_pipe(kept)
        with pytest.raises(SynthesisError, match="no regular file"):
            verdict(judge, folder)
        kept.unlink()
        kept.symlink_to(elsewhere)
        with pytest.raises(SynthesisError, match="a link lies where the run writes"):
            verdict(judge, folder)
        linked = tmp_path / "linked"
        linked.symlink_to(tmp_path)
        with pytest.raises(SynthesisError, match="a link lies where the run writes"):
            verdict(judge, linked)
    assert not elsewhere.exists()
