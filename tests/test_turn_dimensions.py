"""Voice, memory, tools and tone: their numbers, at each boundary on both sides."""

from typing import Any

import pytest

from harness import evaluate_turn


def score(dimension: str, reply: str, *, user: str = "", golden: str = "", **context: Any) -> float:
    evaluation = evaluate_turn(user, reply, golden, context)
    assert dimension not in evaluation.not_applicable
    return evaluation.scores[dimension]


def of_length(size: int) -> str:
    """One sentence without first person that is as long as asked, and is not well formed by its start."""
    return ("the river runs on and on past mills " * size)[: size - 1].strip().ljust(size - 1, "x") + "."


class TestIdentity:
    """0.8; first person, fair length, well-formed sentences +0.05 each; errors -0.3; dismissals -0.2."""

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("runs on past the mill", 0.8),
            ("I run past the mill, and then", 0.85 + 0.05),
            ("runs past the mill and I follow,", 0.85),
            ("It runs past the mill.", 0.85),
            ("I've seen it run past the mill, and on to the sea beyond.", 0.95),
            ("[object Object] runs past it", 0.5),
            ("Whatever.", 0.65),
            ("[object Object] idk", 0.3),
        ],
    )
    def test_what_is_found_is_added(self, reply: str, expected: float) -> None:
        assert score("identity_correctness", reply) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize(
        ("size", "fair"), [(49, False), (50, True), (51, True), (1999, True), (2000, True), (2001, False)]
    )
    def test_a_fair_length_is_50_to_2000_characters(self, size: int, fair: bool) -> None:
        reply = of_length(size)
        assert len(reply) == size
        assert score("identity_correctness", reply) == (0.85 if fair else 0.8)
        assert score("identity_correctness", f"  {reply}\n") == (0.85 if fair else 0.8), "blanks around"

    @pytest.mark.parametrize(
        ("reply", "brief"), [("idk, no clue, sorry", True), ("idk, no clue, sorry!", False)]
    )
    def test_a_dismissal_is_brief_under_20_characters(self, reply: str, brief: bool) -> None:
        assert len(reply) == (19 if brief else 20)
        assert score("identity_correctness", reply) == (0.6 if brief else 0.8)

    def test_a_brief_reply_that_dismisses_nobody_is_fine(self) -> None:
        assert score("identity_correctness", "Try again at noon.") == 0.85

    def test_no_is_a_dismissal_unless_it_answers(self) -> None:
        assert score("identity_correctness", "No.", user="Please explain it.") == 0.65
        assert score("identity_correctness", "No.", user="Is 7 an even number?") == 0.85

    @pytest.mark.parametrize(
        ("good", "bad", "formed"), [(3, 2, True), (2, 2, False), (6, 4, True), (5, 4, False)]
    )
    def test_60_percent_of_the_sentences_make_good_grammar(self, good: int, bad: int, formed: bool) -> None:
        reply = " ".join(["Go on."] * good + ["go on."] * bad)
        assert len(reply) not in range(50, 2000) or good + bad > 7
        base = 0.85 if len(reply) >= 50 else 0.8
        assert score("identity_correctness", reply) == pytest.approx(base + (0.05 if formed else 0))

    @pytest.mark.parametrize(
        ("reply", "formed"),
        [
            ("It costs 30.", True),
            ("It costs 30", False),
            ("Welcome back", True),
            ("WELCOME BACK", False),
            ("Dr. Brown knows e.g. Rome.", True),
            ("“Paris,” she said.", True),
            ("**Note:** it is open.", True),
            ("and so on,", False),
            ("今日は晴れです。", True),
            ("...", False),
        ],
    )
    def test_a_well_formed_sentence(self, reply: str, formed: bool) -> None:
        assert score("identity_correctness", reply) == (0.85 if formed else 0.8)


class TestMemory:
    """Precision 0.8, -0.6, -0.3, 0.5; recall 0.7 + 0.1 a term up to 0.9, 0.3 unused."""

    AGE = ({"content": "User is 30 years old"},)
    MANY = ({"content": "User paints watercolours in Lisbon every Sunday"},)

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("Being 30 years old, you can apply.", 0.8),
            ("Here is the form.", 0.8),
            ("You told me that you're 50 years old.", 0.2),
            ("I'm not sure how old you are.", 0.5),
            ("I'm not sure, but you definitely paint.", 0.5),
            ("You definitely paint.", 0.8),
            ("I'm not sure, but you are 50 years old.", 0.2),
            ("I'm not sure, but you're definitely 50 years old.", 0.0),
        ],
    )
    def test_precision(self, reply: str, expected: float) -> None:
        assert score("memory_precision", reply, memories=self.AGE) == expected

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("Take a coat.", 0.3),
            ("How is Lisbon?", 0.8),
            ("How is Lisbon on a Sunday?", 0.9),
            ("Painting watercolours in Lisbon every Sunday sounds fine.", 0.9),
        ],
    )
    def test_recall_grows_with_each_term_up_to_a_limit(self, reply: str, expected: float) -> None:
        assert score("memory_recall", reply, memories=self.MANY) == expected

    def test_one_term_is_enough_where_there_is_one(self) -> None:
        assert score("memory_recall", "How is Lisbon?", memories=({"content": "User likes Lisbon"},)) == 0.8

    def test_a_contradicted_memory_is_not_recalled(self) -> None:
        """The words are there, but what was remembered is not."""
        reply = "You said you're 50 years old, which is old."
        assert score("memory_recall", reply, memories=self.AGE) == 0.3
        assert score("memory_recall", reply.replace("50", "30"), memories=self.AGE) == 0.9

    def test_one_contradicted_memory_leaves_the_others(self) -> None:
        reply = "You said you're 50 years old. How is Lisbon?"
        both = (*self.AGE, {"content": "User likes Lisbon"})
        assert score("memory_precision", reply, memories=both) == 0.2
        assert score("memory_recall", reply, memories=both) == 0.8

    def test_a_memory_that_says_nothing_cannot_be_recalled(self) -> None:
        turn = evaluate_turn("", "Fine.", "", {"memories": [{"content": "the user is"}]})
        assert "memory_recall" in turn.not_applicable
        assert "memory_precision" not in turn.not_applicable


class TestTools:
    """All 0.95, none 0.3, some 0.3 + rate × 0.65; +0.05 where the reply says what they brought."""

    @pytest.mark.parametrize(
        ("succeeded", "failed", "plain", "told"),
        [
            (2, 0, 0.95, 1.0),
            (0, 2, 0.3, 0.3),
            (1, 1, 0.625, 0.675),
            (3, 1, 0.7875, 0.8375),
            (1, 3, 0.4625, 0.5125),
        ],
    )
    def test_the_rate_decides(self, succeeded: int, failed: int, plain: float, told: float) -> None:
        tools = [{"status": "success", "result": 1}] * succeeded + [
            {"name": "x", "status": "failure"}
        ] * failed
        assert score("tool_success_rate", "Here you are.", tool_invocations=tools) == plain
        assert score("tool_success_rate", "I found two rooms.", tool_invocations=tools) == told


class TestTone:
    """0.7; the stance's words +0.15; drift -0.25; dismissals -0.3; helpful and lively +0.05."""

    @pytest.mark.parametrize(
        ("stance", "reply", "expected"),
        [
            ("helpful", "Press the green button.", 0.7),
            ("helpful", "I can help with the green button.", 0.85),
            ("helpful", "Happy to! Press the green button.", 0.9),
            ("helpful", "Maybe press the green button.", 0.7),
            ("cautious", "Press the green button.", 0.7),
            ("cautious", "You might press the green button.", 0.85),
            ("cautious", "Definitely press the green button.", 0.45),
            ("cautious", "You could press it, and it definitely opens.", 0.6),
            ("confident", "Press the green button.", 0.7),
            ("confident", "The green button will open it.", 0.85),
            ("confident", "Maybe press the green button.", 0.45),
            ("confident", "I don't know which button.", 0.45),
            ("confident", "The green button will open it, perhaps.", 0.6),
            ("helpful", "Whatever.", 0.4),
            ("cautious", "Whatever.", 0.4),
        ],
    )
    def test_what_is_found_is_added(self, stance: str, reply: str, expected: float) -> None:
        assert score("tone_adherence", reply, stance=stance) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize(("marks", "lively"), [("", False), ("!", True), ("!?", True), ("!?!", False)])
    def test_one_or_two_marks_are_lively(self, marks: str, lively: bool) -> None:
        assert score("tone_adherence", f"Press it{marks}", stance="helpful") == (0.75 if lively else 0.7)
        assert score("tone_adherence", f"Press it{marks}", stance="cautious") == 0.7

    def test_a_dismissal_is_brief_under_20_characters(self) -> None:
        assert score("tone_adherence", "idk, no clue, sorry", stance="helpful") == 0.4
        assert score("tone_adherence", "idk, no clue, sorry.", stance="helpful") == 0.7
