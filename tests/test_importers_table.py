"""Tables: what stands in their cells, and which columns are read."""

import csv
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from imported import found, readings, rejects, turns

from harness.conversation import Message
from harness.importer import ImportOptions
from harness.source import Reading

USER = {"role": "user", "content": "My cat died."}
REPLY = {"role": "assistant", "content": "I am sorry."}
ASKED, SAID = Message("user", "My cat died."), Message("assistant", "I am sorry.")


def packed(value: object) -> str:
    return orjson.dumps(value).decode()


def rows(folder: Path, *lines: Sequence[str]) -> list[Reading]:
    """What is read from a CSV file of these; the first names the columns."""
    file = folder / "rows.csv"
    with file.open("w", newline="") as text:
        csv.writer(text).writerows(lines)
    return readings(file)


def test_messages_in_cells_are_unpacked(tmp_path: Path) -> None:
    earlier = [{"role": "system", "content": "Be kind."}, USER, REPLY, {"role": "user", "content": "Thanks."}]
    last = {"role": "assistant", "content": "Any time."}
    everything = rows(
        tmp_path,
        ("input", "output"),
        (packed([USER]), packed(REPLY)),
        (packed(earlier), packed([*earlier, last])),
        ("My cat died.", packed({"choices": [{"message": REPLY}]})),
    )
    assert rejects(everything) == []
    first, second, third = (each.conversation.messages for each in found(everything))
    assert first == third == (ASKED, SAID)
    assert [(each.role, each.context) for each in second[1:]] == [
        ("user", False), ("assistant", True), ("user", False), ("assistant", False),
    ]  # fmt: skip
    assert second[-1].text == "Any time."


@pytest.mark.parametrize(
    ("asked", "reply", "said"),
    [
        ("Hi", packed({"choices": [], "b": 2}), '"output" is JSON: no words found under choices, b'),
        ("Hi", packed({"content": ""}), '"output" is JSON without words'),
        ("Hi", packed(USER), '"output" has no reply in it'),
        ("Hi", str([REPLY]), '"output" has messages that are not JSON'),
        (packed([{"role": "nobody", "content": "x"}]), "Hello", '"input" is JSON: unknown role nobody'),
    ],
)
def test_json_in_a_cell_that_has_no_words_is_a_reject(
    asked: str, reply: str, said: str, tmp_path: Path
) -> None:
    everything = rows(tmp_path, ("input", "output"), ("Hello", "Hi"), (asked, reply))
    assert rejects(everything) == [(3, said)]
    assert turns(everything) == [("Hello", "Hi")]


@pytest.mark.parametrize("depth", [100, 900, 1000])
def test_a_cell_that_is_nested_without_end_is_a_reject(depth: int, tmp_path: Path) -> None:
    deep = "[" * depth + "]" * depth
    cell = f'[{{"role": "assistant", "content": {{"type": "text", "text": {deep}}}}}]'
    everything = rows(tmp_path, ("input", "output"), ("My cat died.", cell))
    ((_, reason),) = rejects(everything)
    assert reason.startswith('"output" is JSON: the text of a part is [[[')
    assert len(reason) < 120


def test_json_that_a_person_pasted_and_brackets_are_words(tmp_path: Path) -> None:
    talks = [("[1, 2", "[sic] yes"), ("Two?", "[1, 2]"), ('{"a": 1, "b": 2}', "An object.")]
    assert turns(rows(tmp_path, ("input", "output"), *talks)) == talks


def test_parts_in_a_message_a_row_are_unpacked_and_a_tools_answer_is_not(tmp_path: Path) -> None:
    parts = packed([{"type": "text", "text": "I am sorry."}])
    talk = (("1", "user", "My cat died."), ("1", "tool", '{"a": 1}'), ("1", "assistant", parts))
    (only,) = found(rows(tmp_path, ("conversation_id", "role", "content"), *talk))
    assert only.conversation.messages == (ASKED, Message("tool", '{"a": 1}'), SAID)


def test_a_column_of_messages_is_read_as_such_a_line_would_be(tmp_path: Path) -> None:
    shared = packed([{"from": "human", "value": "My cat died."}, {"from": "gpt", "value": "I am sorry."}])
    for column, cell in (("messages", packed([USER, REPLY])), ("conversations", shared)):
        everything = rows(tmp_path, ("id", column, "error"), ("a", cell, ""), ("b", str([USER]), ""))
        (only,) = found(everything)
        assert (only.conversation.id, only.conversation.messages) == ("a", (ASKED, SAID))
        assert rejects(everything) == [(3, f'"{column}" is not a list of messages in JSON')]


def test_an_instruction_and_what_it_is_about_are_both_the_persons_words(tmp_path: Path) -> None:
    lines = (("Say hello.", "", "Hello."), ("Translate.", "Katze", "cat"))
    everything = rows(tmp_path, ("instruction", "input", "output"), *lines)
    assert turns(everything) == [("Say hello.", "Hello."), ("Translate.\n\nKatze", "cat")]
    assert [dict(each.conversation.fields) for each in found(everything)] == [{}, {}]
    file = tmp_path / "rows.csv"
    told = ImportOptions(columns={"user": "instruction"})
    assert turns(readings(file, options=told))[1] == ("Translate.", "cat")
