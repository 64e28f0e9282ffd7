"""Turns in bulk and in an event loop, settings, wrong input, and one evaluation against another."""

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_turn_evaluation import CONTEXT, GOLDEN, NAMES, REPLY, USER, same

from harness import (
    SynthesisError,
    TurnEvaluation,
    TurnSettings,
    compare_turns,
    evaluate_turn,
    evaluate_turn_async,
    evaluate_turns,
)
from harness.dimension import dimensions
from harness.settings import find_settings
from harness.turn_evaluation import TurnInput


class TestSettings:
    """Weights and thresholds from the call or from the project file."""

    def test_weights_are_these_and_make_one(self) -> None:
        assert {each.name: each.weight for each in dimensions()} == dict(
            zip(NAMES, (0.15, 0.1, 0.1, 0.25, 0.15, 0.1, 0.1, 0.05), strict=True)
        )
        assert sum(each.weight for each in dimensions()) == pytest.approx(1, abs=1e-12)

    def test_a_call_changes_weights(self) -> None:
        weights = {"identity_correctness": 0.05, "response_completeness": 0.15}
        turn = evaluate_turn(USER, REPLY, settings=TurnSettings(weights=weights))
        assert turn.overall == pytest.approx((0.05 * 0.95 + 0.15 * 1.0) / 0.2, abs=1e-6)

    @pytest.mark.parametrize(("pass_at", "passed"), [(0.9625, True), (0.962501, False)])
    def test_pass_is_from_the_threshold_on(self, pass_at: float, passed: bool) -> None:
        assert evaluate_turn(USER, REPLY, settings={"pass_at": pass_at}).passed is passed

    @pytest.mark.parametrize(("warn_below", "warned"), [(0.9625, False), (0.962501, True)])
    def test_a_warning_is_under_the_threshold(self, warn_below: float, warned: bool) -> None:
        assert evaluate_turn(USER, REPLY, settings={"warn_below": warn_below}).warned is warned

    def test_thresholds_are_these(self) -> None:
        assert (TurnSettings().pass_at, TurnSettings().warn_below, TurnSettings().changed_beyond) == (
            0.85,
            0.75,
            0.05,
        )

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"weights": {"tone": 0.15}}, r'no dimension is called "tone"; did you mean "tone_adherence"\?'),
            (
                {"weights": {"zzzzzz": 0.15}},
                r'no dimension is called "zzzzzz"; they are identity_correctness, ',
            ),
            ({"weights": {"tone_adherence": 0.2}}, r"the weights make 1\.05 together, not 1: identity_cor"),
            ({"weights": {"tone_adherence": -0.1}}, r"/weights/tone_adherence.*\n.*at least 0"),
            ({"wieghts": {}}, r'unknown key "wieghts"\n  fix: did you mean "weights"\?'),
            ({"language": "xx"}, r'no lexicon for language "xx"'),
            (7, r"settings: 7 is no TurnSettings\n  fix: give a TurnSettings or a dict"),
        ],
    )
    def test_wrong_settings_are_clear_errors(self, settings: Any, message: str) -> None:
        with pytest.raises(SynthesisError, match=message):
            evaluate_turn(USER, REPLY, settings=settings)

    def test_the_project_file_changes_weights(self, tmp_path: Path) -> None:
        weights = "tone_adherence = 0.1\nresponse_completeness = 0.1\n"
        (tmp_path / "synthesis.toml").write_text(f"[turns]\npass_at = 0.5\n[turns.weights]\n{weights}")
        turns = find_settings(tmp_path).turns
        assert turns.pass_at == 0.5
        assert turns.weights == {"tone_adherence": 0.1, "response_completeness": 0.1}

    def test_a_project_file_with_wrong_weights_names_the_place(self, tmp_path: Path) -> None:
        (tmp_path / "synthesis.toml").write_text("[turns.weights]\ntone_adherance = 0.15\n")
        with pytest.raises(
            SynthesisError, match=r'toml:/turns/weights: no dimension is called "tone_adherance"'
        ):
            find_settings(tmp_path)


class TestWrongInput:
    """A clear error with the nearest valid key, never a crash."""

    @pytest.mark.parametrize(
        ("context", "message"),
        [
            ({"stanse": "helpful"}, r'context: unknown key "stanse"\n  fix: did you mean "stance"\?'),
            ({"stance": "rude"}, r"context:/stance: .*'helpful', 'cautious' or 'confident', not \"rude\""),
            ({"memories": [{"text": "x"}]}, r'context:/memories/0: unknown key "text"'),
            ({"memories": "x"}, r"context:/memories: "),
            (
                {"tool_invocations": [{"status": "ok"}]},
                r"context:/tool_invocations/0/status: .*'success' or 'failure'",
            ),
            ({"tool_invocations": [{"name": "x"}]}, r'context:/tool_invocations/0: "status" is missing'),
            ({"is_harmful_request": "no"}, r"context:/is_harmful_request: "),
            ({"turn_index": -1}, r"context:/turn_index: .*\n.*at least 0"),
            ({"turn_index": 1.0}, r"context:/turn_index: "),
            ({"sources": [{"link": "x"}]}, r'context:/sources/0: unknown key "link"'),
            ("helpful", r"context: helpful is no TurnContext\n  fix: give a TurnContext or a dict"),
            ([], r"context: \[\] is no TurnContext"),
        ],
    )
    def test_wrong_context(self, context: Any, message: str) -> None:
        with pytest.raises(SynthesisError, match=message):
            evaluate_turn(USER, REPLY, "", context)

    @pytest.mark.parametrize("place", [0, 1, 2])
    @pytest.mark.parametrize("value", [None, b"bytes", 7])
    def test_what_is_not_text(self, place: int, value: Any) -> None:
        texts: list[Any] = ["a", "b", "c"]
        texts[place] = value
        name = ("user_message", "actual_response", "golden_response")[place]
        with pytest.raises(SynthesisError, match=rf"{name}: .* is not text\n  fix: give a string"):
            evaluate_turn(*texts)
        with pytest.raises(SynthesisError, match=name):
            asyncio.run(evaluate_turn_async(*texts))

    def test_a_wrong_turn_of_a_batch_is_named(self) -> None:
        with pytest.raises(SynthesisError, match=r'turns:/1: unknown key "actual"'):
            list(evaluate_turns([{"user_message": "", "actual_response": ""}, {"actual": ""}]))


class TestBatchAndAsync:
    """The same results, one at a time or in an event loop."""

    def test_a_batch_is_lazy(self) -> None:
        taken = []

        def source() -> Iterator[TurnInput]:
            for index in itertools.count():
                taken.append(index)
                yield TurnInput(user_message=USER, actual_response=f"{REPLY}{index}")

        found = evaluate_turns(source())
        assert taken == []
        assert [turn.actual_response for turn in itertools.islice(found, 2)] == [REPLY + "0", REPLY + "1"]
        assert taken == [0, 1]

    def test_a_batch_takes_settings(self) -> None:
        turns = [{"user_message": USER, "actual_response": REPLY}]
        assert [turn.passed for turn in evaluate_turns(turns, settings={"pass_at": 1})] == [False]

    def test_wrong_settings_of_a_batch_are_found_before_the_first_turn(self) -> None:
        with pytest.raises(SynthesisError, match="no dimension"):
            evaluate_turns([], settings={"weights": {"x": 1}})

    @pytest.mark.parametrize("times", [1, 200])
    def test_async_gives_the_same(self, times: int) -> None:
        """Long texts go through a thread."""
        reply = REPLY * times
        turn = asyncio.run(evaluate_turn_async(USER, reply, GOLDEN, CONTEXT, settings={"pass_at": 0.99}))
        assert same(turn) == same(evaluate_turn(USER, reply, GOLDEN, CONTEXT, settings={"pass_at": 0.99}))


class TestComparison:
    """Beyond 0.05, or when pass changes."""

    def turn(self, overall: float | None, passed: bool | None = True) -> TurnEvaluation:
        whole = evaluate_turn(USER, REPLY, GOLDEN, CONTEXT)
        return whole.model_copy(update={"overall": overall, "passed": passed})

    @pytest.mark.parametrize(
        ("before", "after", "change"),
        [
            (0.9, 0.95, "unchanged"),
            (0.9, 0.950001, "improvement"),
            (0.95, 0.9, "unchanged"),
            (0.9, 0.85, "unchanged"),
            (0.950001, 0.9, "degradation"),
            (0.9, 0.9, "unchanged"),
        ],
    )
    def test_a_change_is_beyond_the_tolerance(self, before: float, after: float, change: str) -> None:
        found = compare_turns(self.turn(before), self.turn(after))
        assert (found.change, found.pass_changed) == (change, False)
        assert found.delta == pytest.approx(after - before)

    def test_a_change_of_pass_is_one_however_small(self) -> None:
        lost = compare_turns(self.turn(0.85), self.turn(0.849, passed=False))
        assert (lost.change, lost.pass_changed) == ("degradation", True)
        gained = compare_turns(self.turn(0.849, passed=False), self.turn(0.85))
        assert (gained.change, gained.pass_changed) == ("improvement", True)

    def test_the_tolerance_can_be_set(self) -> None:
        found = compare_turns(self.turn(0.9), self.turn(0.95), settings=TurnSettings(changed_beyond=0.01))
        assert found.change == "improvement"

    def test_nothing_scored_is_not_comparable(self) -> None:
        for pair in itertools.product((None, 0.9), repeat=2):
            found = compare_turns(*(self.turn(each, None if each is None else True) for each in pair))
            assert (found.change == "not_comparable") is (None in pair)
            assert (found.delta is None) is (None in pair)

    def test_dimensions_are_compared_where_both_apply(self) -> None:
        found = compare_turns(
            evaluate_turn(USER, REPLY, "", {"stance": "helpful", "is_harmful_request": False}),
            evaluate_turn(USER, "Whatever.", "", {"stance": "helpful", "memories": CONTEXT["memories"]}),
        )
        assert found.change == "degradation"
        assert found.by_dimension == {
            "identity_correctness": -0.3,
            "tone_adherence": -0.5,
            "response_completeness": -0.45,
        }
