"""Any text at all gets a score or a clear error, the same each time; a megabyte takes time in proportion."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import evaluate_turn
from harness.content_words import split_words
from harness.folded import WORD
from harness.text import fold
from harness.turn_evaluation import Memory, Source, ToolInvocation, TurnContext

ANY_TEXT = st.text(st.characters(), max_size=200)
"""With lone surrogates, other scripts, control characters, emoji."""

WORDS = (
    "I can't|help|with that|30|years old|You're|undefined|$5|10:30|.|?|!|Paris|[object Object]|[made up]|"
    "not sure|definitely|twenty|five|\n- |1,000.5%|3rd|“|'|ß|İ|١٢|²|日本語。|👩‍👩‍👧|\ud800|\x00|٣ سنوات|"
    "it's|''|/|http://"
)
PIECES = st.lists(st.sampled_from(WORDS.split("|")), max_size=30)
TEXT = st.one_of(ANY_TEXT, PIECES.map(" ".join), PIECES.map("".join))
CONTEXT = st.builds(
    TurnContext,
    turn_index=st.integers(0, 10),
    stance=st.sampled_from([None, "helpful", "cautious", "confident"]),
    memories=st.lists(st.builds(Memory, content=TEXT), max_size=2).map(tuple),
    tool_invocations=st.lists(
        st.builds(ToolInvocation, status=st.sampled_from(["success", "failure"])), max_size=3
    ).map(tuple),
    is_harmful_request=st.sampled_from([None, True, False]),
    sources=st.lists(st.builds(Source, url=TEXT, title=TEXT), max_size=2).map(tuple),
)


@settings(max_examples=300, deadline=None)
@given(user=TEXT, reply=TEXT, golden=TEXT, context=CONTEXT)
@example(user="", reply="", golden="", context=TurnContext())
@example(
    user="\ud800?",
    reply="\ud800",
    golden="\udfff",
    context=TurnContext(memories=(Memory(content="\ud8001"),)),
)
@example(user="?", reply="²", golden="²³", context=TurnContext(memories=(Memory(content="² 1" * 9),)))
@example(user="", reply="9" * 5000 + ":30", golden="It is 5:30.", context=TurnContext())
@example(user="How many?", reply="9" * 400, golden="9" * 400 + ".5", context=TurnContext())
def test_any_text_is_scored(user: str, reply: str, golden: str, context: TurnContext) -> None:
    turn = evaluate_turn(user, reply, golden, context)
    assert len(turn.scores) == 8
    assert all(0 <= score <= 1 for score in turn.scores.values())
    assert turn.overall is not None
    assert 0 <= turn.overall <= 1
    assert turn.evidence
    assert {issue.dimension for issue in turn.issues}.isdisjoint(turn.not_applicable)
    again = evaluate_turn(user, reply, golden, context)
    assert turn.model_dump_json(exclude={"latency_ms"}) == again.model_dump_json(exclude={"latency_ms"})


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_splitting_ascii_finds_the_words_that_the_pattern_finds(text: str) -> None:
    folded = fold(text).text
    assert split_words(folded) == WORD.findall(folded)


def test_half_characters_are_replaced_so_that_the_record_can_be_written() -> None:
    turn = evaluate_turn("a\ud800", "b\udfff")
    assert (turn.user_message, turn.actual_response) == ("a\ufffd", "b\ufffd")
    assert turn.model_dump_json()
    assert turn.id != evaluate_turn("a\ufffd", "b\ufffd").id


SIZE = 1_000_000
LONG: dict[str, Callable[[int], str]] = {
    "prose": lambda size: (
        "You said you're 50 years old. I can't help it, Anna, and it is not sure? " * size
    )[:size],
    "one word": lambda size: "a" * size,
    "digits": lambda size: "1" * size,
    "numbers": lambda size: ("30 years old " * size)[:size],
    "numbers without space": lambda size: ("1a$1.1," * size)[:size],
    "capitals": lambda size: ("Ab Cd " * size)[:size],
    "questions": lambda size: ("who? " * size)[:size],
    "cancelled phrases": lambda size: ("it is not sure to help is it will " * size)[:size],
    "apostrophes": lambda size: (" 'a" * size)[:size],
    "brackets": lambda size: ("((((" * size)[:size],
    "addresses": lambda size: ("example.org/ab" * size)[:size],
    "spaces": lambda size: " " * size,
    "emoji": lambda size: ("👍 " * size)[:size],
    "chinese": lambda size: ("我三十岁。" * size)[:size],
}


@pytest.mark.parametrize("kind", LONG)
def test_a_very_long_reply_gets_scores(kind: str) -> None:
    """A megabyte, compared with a golden answer as long; one that took quadratic time would not come back."""
    text = LONG[kind](SIZE)
    context = {
        "stance": "confident",
        "memories": [{"content": "User is 30 years old"}],
        "tool_invocations": [{"status": "success"}],
        "is_harmful_request": True,
        "sources": [{"url": "example.org/a", "title": "a 1"}],
    }
    golden = f"You are 40 years old, Ada. {text[1:]}"
    turn = evaluate_turn("Is it far? How old am I?", text, golden, context)
    assert turn.not_applicable == ()
    assert len(turn.scores) == 8
    assert all(0 <= score <= 1 for score in turn.scores.values())
