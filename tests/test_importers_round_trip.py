"""What a writer of each format puts down comes back word for word."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from imported import found, readings, rejects
from recorded import Recording

from harness import plugins
from harness.conversation import Message

Talk = tuple[str, list[tuple[str, str]]]
"""A system prompt and the turns."""
ODD = [
    "😀 👩‍👩‍👧",
    'say "hi"', "it's, quoted; \t|", "two\nlines\r\nthree\rfour", "a\u2028b\u2029c\x0bd\x85e", "\x00\x1b[31m",
    "[1, 2]", '{"a": 1}', "null", '"', "\\", "a\\", "\ufeffbom", "{", "]", "héllo 日本", "'", "=1+1", " x ",
]  # fmt: skip
TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
TALKS = st.lists(st.tuples(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3)), max_size=4)


def said(role: str, text: Any) -> dict[str, Any]:
    return {"role": role, "content": text}


def chat(talk: Talk) -> list[dict[str, Any]]:
    system, turns = talk
    sides = [
        said(role, text) for turn in turns for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    return [said("system", system), *sides]


def write_lines(path: Path, rows: Sequence[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_document(path: Path, rows: Sequence[Any]) -> None:
    path.write_text(json.dumps(list(rows), ensure_ascii=False, indent=2), "utf-8")


def write_cases(path: Path, talks: Sequence[Talk]) -> None:
    turns = [turn for _, turns in talks for turn in turns]
    rows = [{"id": f"A-{i}", "user": user, "assistant": reply} for i, (user, reply) in enumerate(turns)]
    write_lines(path, rows)


def write_openai_chat(path: Path, talks: Sequence[Talk]) -> None:
    write_document(path, [{"messages": chat(talk)} for talk in talks])


def write_anthropic(path: Path, talks: Sequence[Talk]) -> None:
    blocks = [
        {
            "messages": [
                said(each["role"], [{"type": "text", "text": each["content"]}]) for each in chat(talk)[1:]
            ]
        }
        for talk in talks
    ]
    write_lines(path, [{"system": talk[0], **rest} for talk, rest in zip(talks, blocks, strict=True)])


def write_sharegpt(path: Path, talks: Sequence[Talk]) -> None:
    names = {"user": "human", "assistant": "gpt", "system": "system"}
    rows = [
        [{"from": names[each["role"]], "value": each["content"]} for each in chat(talk)] for talk in talks
    ]
    write_lines(path, [{"conversations": row} for row in rows])


def write_synthesis(path: Path, talks: Sequence[Talk]) -> None:
    events: list[dict[str, Any]] = []
    for system, turns in talks:
        recording = Recording()
        recording.events[0]["system"] = system
        for user, reply in turns:
            recording.user(user).says(reply)
        events += recording.ends("done").events
    write_lines(path, events)


def write_inspect_json(path: Path, talks: Sequence[Talk]) -> None:
    samples = [{"id": i, "epoch": 1, "messages": chat(talk)} for i, talk in enumerate(talks)]
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples}), "utf-8")


def write_inspect_eval(path: Path, talks: Sequence[Talk]) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "t"}}))
        for i, talk in enumerate(talks):
            sample = {"id": i, "epoch": 1, "messages": chat(talk)}
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample))


def write_talk_rows(path: Path, talks: Sequence[Talk], delimiter: str = "\t") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        table.writerow(["Conversation ID", "Role", "Content"])
        for i, talk in enumerate(talks):
            table.writerows([f"c{i}", each["role"], each["content"]] for each in chat(talk))


def write_pairs(path: Path, talks: Sequence[Talk]) -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL)
        table.writerow(["Question", "Answer"])
        table.writerows(turn for _, turns in talks for turn in turns)


def write_parquet(path: Path, talks: Sequence[Talk]) -> None:
    import duckdb

    with duckdb.connect() as database:
        database.execute('CREATE TABLE t (id VARCHAR, messages STRUCT("role" VARCHAR, "content" VARCHAR)[])')
        for i, talk in enumerate(talks):
            database.execute("INSERT INTO t VALUES (?, ?)", [f"p{i}", chat(talk)])
        database.execute(f"COPY t TO '{path}' (FORMAT parquet)")


STORED: dict[str, tuple[str, Callable[[Path, Sequence[Talk]], None]]] = {
    "openai_chat": ("openai_chat", write_openai_chat),
    "anthropic_messages": ("anthropic_messages", write_anthropic),
    "sharegpt": ("sharegpt", write_sharegpt),
    "synthesis": ("synthesis", write_synthesis),
    "inspect json": ("inspect_log", write_inspect_json),
    "inspect eval": ("inspect_log", write_inspect_eval),
    "table of messages": ("table", write_talk_rows),
    "parquet": ("parquet", write_parquet),
}
SINGLE: dict[str, tuple[str, Callable[[Path, Sequence[Talk]], None]]] = {
    "cases": ("cases", write_cases),
    "table of pairs": ("table", write_pairs),
}


def calls(talks: Sequence[Talk]) -> list[tuple[list[dict[str, Any]], str]]:
    """Each reply as a log of requests has it: after all that was said before."""
    return [
        (whole[: place + 1], whole[place + 1]["content"])
        for whole in map(chat, talks)
        for place in range(1, len(whole), 2)
    ]


def responses_row(history: list[dict[str, Any]], reply: str) -> Any:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": reply}]}]
    return {"request": {"input": history}, "response": {"object": "response", "output": output}}


def batch_row(history: list[dict[str, Any]], reply: str) -> Any:
    body = {"choices": [{"message": said("assistant", reply)}]}
    return {"custom_id": "x", "body": {"messages": history}, "response": {"status_code": 200, "body": body}}


def langsmith_row(history: list[dict[str, Any]], reply: str) -> Any:
    kinds = {"user": "human", "assistant": "ai", "system": "system"}
    inputs = [{"type": kinds[each["role"]], "data": {"content": each["content"]}} for each in history]
    message = {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": {"content": reply}}
    return {
        "run_type": "llm",
        "inputs": {"messages": [inputs]},
        "outputs": {"generations": [[{"message": message}]]},
    }


def langfuse_row(history: list[dict[str, Any]], reply: str) -> Any:
    return {
        "id": "o", "traceId": "t", "type": "GENERATION", "input": json.dumps(history),
        "output": json.dumps(said("assistant", reply)),
    }  # fmt: skip


def otel_row(history: list[dict[str, Any]], reply: str) -> Any:
    def parts(text: str) -> list[dict[str, str]]:
        return [{"type": "text", "content": text}]

    system, *rest = history
    attributes = {
        "gen_ai.system_instructions": json.dumps(parts(system["content"])),
        "gen_ai.input.messages": json.dumps(
            [{"role": each["role"], "parts": parts(each["content"])} for each in rest]
        ),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts(reply)}]),
    }
    return {"name": "chat", "context": {"trace_id": "0x1", "span_id": "0x2"}, "attributes": attributes}


LOGGED = {
    "openai_responses": responses_row,
    "openai_chat": batch_row,
    "langsmith": langsmith_row,
    "langfuse": langfuse_row,
    "otel_genai": otel_row,
}
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_messages(items: Sequence[dict[str, Any]], *, context: bool = False) -> tuple[Message, ...]:
    return tuple(
        Message(each["role"], each["content"], context and each["role"] == "assistant") for each in items
    )


def test_every_importer_is_written_here() -> None:
    written = {name for name, _ in (STORED | SINGLE).values()} | set(LOGGED)
    assert written == set(plugins.own("importers"))


@pytest.mark.parametrize("form", STORED)
@given(talks=TALKS)
@QUICK
def test_stored_conversations_come_back(form: str, talks: list[Talk], tmp_path: Path) -> None:
    name, write = STORED[form]
    file = tmp_path / "talks"
    file.unlink(missing_ok=True)
    if not talks:
        return
    write(file, talks)
    everything = readings(file, wanted=name)
    assert rejects(everything) == []
    assert [each.conversation.messages for each in found(everything)] == [as_messages(chat(t)) for t in talks]
    assert readings(file) == everything


@pytest.mark.parametrize("form", SINGLE)
@given(talks=TALKS.filter(bool))
@QUICK
def test_single_turns_come_back(form: str, talks: list[Talk], tmp_path: Path) -> None:
    name, write = SINGLE[form]
    file = tmp_path / "turns"
    write(file, talks)
    everything = readings(file)
    assert rejects(everything) == []
    wanted = [
        (Message("user", turn[0]), Message("assistant", turn[1])) for _, turns in talks for turn in turns
    ]
    assert [each.conversation.messages for each in found(everything)] == wanted
    assert readings(file, wanted=name) == everything


@pytest.mark.parametrize("name", LOGGED)
@given(talks=TALKS.filter(bool))
@QUICK
def test_logged_replies_come_back_once_with_what_came_before_as_context(
    name: str, talks: list[Talk], tmp_path: Path
) -> None:
    file = tmp_path / "log"
    write_lines(file, [LOGGED[name](*call) for call in calls(talks)])
    everything = readings(file)
    assert rejects(everything) == []
    wanted = [
        (*as_messages(history, context=True), Message("assistant", reply)) for history, reply in calls(talks)
    ]
    assert [each.conversation.messages for each in found(everything)] == wanted
    turns = [turn for each in found(everything) for turn in each.conversation.turns()]
    assert [(turn.user, turn.assistant) for turn in turns] == [turn for _, pairs in talks for turn in pairs]
