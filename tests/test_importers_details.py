"""What single formats have that others do not."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import orjson
import pytest
from imported import FIXTURES, TURNS, found, passed_over, readings, rejects, turns

from harness import plugins
from harness.conversation import Conversation, Message
from harness.importer import ImportOptions, PassedOver, Unreadable

USER = {"role": "user", "content": "My cat died."}
REPLY = {"role": "assistant", "content": "I am sorry."}
ASKED, SAID = Message("user", "My cat died."), Message("assistant", "I am sorry.")


def read(name: str, record: Any) -> list[Conversation | PassedOver | Unreadable]:
    return list(plugins.module("importers", name).read(record, ImportOptions()))


def words(name: str, record: Any) -> list[tuple[Message, ...]]:
    return [each.messages for each in read(name, record) if isinstance(each, Conversation)]


def test_every_choice_is_judged_on_its_own() -> None:
    other = {"role": "assistant", "content": "Oh no."}
    record = {"id": "r", "messages": [USER], "choices": [{"message": REPLY}, {"message": other}]}
    first, second = read("openai_chat", record)
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert (first.id, second.id) == ("r", "r#2")
    assert [first.messages, second.messages] == [(ASKED, SAID), (ASKED, Message("assistant", "Oh no."))]


def test_a_reply_may_be_a_text_or_a_message_or_a_refusal() -> None:
    for response in (
        "I am sorry.",
        REPLY,
        {"choices": [{"message": {"content": None, "refusal": "I am sorry."}}]},
    ):
        assert words("openai_chat", {"messages": [USER], "response": response}) == [(ASKED, SAID)]


def test_a_reply_that_is_not_trained_on_is_context() -> None:
    weighed = [USER, {**REPLY, "weight": 0}, USER, {**REPLY, "weight": 1}]
    (talk,) = words("openai_chat", {"messages": weighed})
    assert [message.context for message in talk] == [False, True, False, False]


def test_a_kept_conversation_with_a_null_error_is_judged() -> None:
    assert words("openai_chat", {"messages": [USER, REPLY], "error": None}) == [(ASKED, SAID)]


def test_a_chosen_reply_is_judged_and_the_rejected_one_counted() -> None:
    pair = {
        "conversations": [{"from": "human", "value": "My cat died."}],
        "chosen": {"from": "gpt", "value": "I am sorry."},
        "rejected": {"from": "gpt", "value": "Get another."},
    }
    talk, other = read("sharegpt", pair)
    assert isinstance(talk, Conversation)
    assert talk.messages == (ASKED, SAID)
    assert other == PassedOver("a reply that was not preferred")


def test_a_page_of_langfuse_is_read_item_by_item() -> None:
    trace = {"id": "t", "sessionId": "s", "input": "My cat died.", "output": "I am sorry."}
    page = {"data": [trace, {**trace, "output": 7}, 7], "meta": {"page": 1}}
    assert plugins.module("importers", "langfuse").recognise(page) == "pages of Langfuse's API"
    good, *bad = read("langfuse", page)
    assert isinstance(good, Conversation)
    assert good.messages == (ASKED, SAID)
    assert [str(each) for each in bad] == ["no words found in 7", "not a JSON object"]


def test_every_choice_of_a_traced_call_is_judged_on_its_own() -> None:
    other = (ASKED, Message("assistant", "Oh no."))
    texts = [{"text": "I am sorry."}, {"text": "Oh no."}]
    asked = {"id": "r", "run_type": "llm", "inputs": {"prompts": ["My cat died."]}}
    assert words("langsmith", {**asked, "outputs": {"generations": [texts]}}) == [(ASKED, SAID), other]
    messages = [{"message": {"role": "assistant", "content": each["text"]}} for each in texts]
    trace = {"id": "t", "sessionId": "s", "input": [USER], "output": {"choices": messages}}
    choices = read("langfuse", trace)
    assert [(talk.id, talk.messages) for talk in choices if isinstance(talk, Conversation)] == [
        ("t", (ASKED, SAID)),
        ("t#2", other),
    ]
    assert read("langfuse", {**trace, "output": orjson.dumps(trace["output"]).decode()}) == choices


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("inputs", "outputs", "reason"),
    [
        ({"prompts": ["a", "b"]}, {"generations": [[{"text": "c"}], [{"text": "d"}]]}, "2 prompts in one"),
        ({"input": "a"}, {"output": {"choices": [{"text": "b"}, {"text": "c"}]}}, "2 choices in one"),
    ],
)
def test_what_cannot_be_told_apart_is_a_reject_and_no_silence(
    inputs: dict[str, Any], outputs: dict[str, Any], reason: str, packed: bool
) -> None:
    both = [orjson.dumps(side).decode() if packed else side for side in (inputs, outputs)]
    for name, sides, more in (
        ("langsmith", ("inputs", "outputs"), {"run_type": "llm"}),
        ("langfuse", ("input", "output"), {"sessionId": "s"}),
    ):
        with pytest.raises(Unreadable, match=reason):
            read(name, {"id": "r", **more, **dict(zip(sides, both, strict=True))})


REAL = [{"message": {"role": "assistant", "content": "One."}}, {"text": "Two."}]
"""Choices as a model gives them."""


@pytest.mark.parametrize(
    "outputs",
    [
        {"answer": "I am sorry.", "choices": ["A", "B", "C"]},
        {"answer": "I am sorry.", "choices": [{"label": "A"}, {"label": "B"}]},
        {"answer": "I am sorry.", "prompts": ["A", "B"]},
        {"answer": "I am sorry.", "choices": [{"label": "A", "text": "one"}]},
        {"output": {"content": "I am sorry.", "choices": REAL}},
        {"reply": [REPLY], "generations": REAL},
        {"messages": [USER, REPLY], "choices": [{"label": "A"}, {"label": "B"}]},
        {"messages": [[USER, REPLY]], "choices": REAL},
        {**REPLY, "choices": REAL},
        {"type": "ai", "data": {"content": "I am sorry."}, "choices": REAL},
    ],
)
def test_what_stands_beside_choices_and_prompts_is_the_reply(outputs: dict[str, Any]) -> None:
    run = {"run_type": "chain", "inputs": {"messages": [USER]}, "outputs": outputs}
    assert words("langsmith", run) == [(ASKED, SAID)]
    assert words("langsmith", {**run, "outputs": orjson.dumps(outputs).decode()}) == [(ASKED, SAID)]


@pytest.mark.parametrize("beside", [{}, {"model": "m"}, {"content": ""}, {"messages": []}, {"result": True}])
def test_choices_beside_which_nothing_is_said_are_the_replies(beside: dict[str, Any]) -> None:
    run = {"run_type": "llm", "inputs": {"input": "My cat died."}, "outputs": {"choices": REAL, **beside}}
    assert words("langsmith", run) == [(ASKED, Message("assistant", text)) for text in ("One.", "Two.")]


@pytest.mark.parametrize("choices", [["A", "B"], [{"label": "A"}, {"label": "B"}], [REAL[0], {"label": "B"}]])
def test_choices_that_no_model_writes_down_so_are_a_reject(choices: list[Any]) -> None:
    run = {"run_type": "chain", "inputs": {"input": "Hi"}, "outputs": {"choices": choices, "model": "m"}}
    with pytest.raises(Unreadable, match="no words found under choices, model"):
        read("langsmith", run)


@pytest.mark.parametrize("count", [1, 2])
def test_choices_in_a_question_are_part_of_it(count: int) -> None:
    options = [{"label": "A", "text": "one"}, {"label": "B", "text": "two"}][:count]
    run = {"run_type": "chain", "outputs": {"answer": "I am sorry."}}
    question = {"question": "My cat died.", "choices": options}
    assert words("langsmith", {**run, "inputs": question}) == [(ASKED, SAID)]
    assert words("langsmith", {**run, "inputs": {"input": question}}) == [(ASKED, SAID)]


def test_what_somebody_wrote_is_not_taken_for_json() -> None:
    run = {"run_type": "chain", "inputs": {"input": '[{"role": "user"}]'}, "outputs": {"output": "{}"}}
    assert words("langsmith", run) == [(Message("user", '[{"role": "user"}]'), Message("assistant", "{}"))]


def log(name: str, body: dict[str, Any]) -> dict[str, Any]:
    values = [{"key": key, "value": value} for key, value in body.items()]
    return {"traceId": "t", "spanId": "s", "eventName": name, "body": {"kvlistValue": {"values": values}}}


def test_events_that_were_logged_apart_belong_to_their_span() -> None:
    message = {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "I am sorry."}}]}}
    logs = [
        log("gen_ai.user.message", {"content": {"stringValue": "My cat died."}}),
        log("gen_ai.choice", {"index": {"intValue": "0"}, "message": message}),
    ]
    model = {"key": "gen_ai.request.model", "value": {"stringValue": "m"}}
    span = {"traceId": "t", "spanId": "s", "name": "chat", "attributes": [model]}
    record = {
        "resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}],
        "resourceSpans": [{"scopeSpans": [{"spans": [span]}]}],
    }
    (talk,) = read("otel_genai", record)
    assert isinstance(talk, Conversation)
    assert talk.messages == (ASKED, SAID)
    assert talk.fields["gen_ai"] == {"request": {"model": "m"}}
    (alone,) = words("otel_genai", {"resourceLogs": record["resourceLogs"]})
    assert alone == (ASKED, SAID)


def test_the_whole_of_a_log_record_may_be_its_words() -> None:
    said = {"gen_ai.user.message": "My cat died.", "gen_ai.choice": "I am sorry."}
    logs = [
        {"traceId": "t", "spanId": "s", "eventName": name, "body": {"stringValue": text}}
        for name, text in said.items()
    ]
    (talk,) = words("otel_genai", {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]})
    assert talk == (ASKED, SAID)


def test_an_event_may_have_all_it_says_in_one_attribute() -> None:
    said = {
        "gen_ai.user.message": {"content": "My cat died."},
        "gen_ai.choice": {"index": 0, "message": {"content": "I am sorry."}},
    }
    events = [
        {"name": name, "attributes": {"gen_ai.event.content": orjson.dumps(body).decode()}}
        for name, body in said.items()
    ]
    attributes = {"gen_ai.operation.name": "chat"}
    assert words("otel_genai", {"spanId": "s", "attributes": attributes, "events": events}) == [(ASKED, SAID)]


def one_attribute(asked: Any, said: Any) -> dict[str, Any]:
    """A span whose events have all they say in one attribute."""
    events = [
        {"name": name, "attributes": {"gen_ai.event.content": body}}
        for name, body in (("gen_ai.user.message", asked), ("gen_ai.choice", said))
    ]
    return {"spanId": "s", "attributes": {"gen_ai.operation.name": "chat"}, "events": events}


@pytest.mark.parametrize(
    "text",
    ["My cat died.", "42", "null", "true", '"hi"', "[]", "[1, 2]", '{"a": 1}', '[{"a": 1}]', '{"index": 1}'],
)
def test_the_one_attribute_of_an_event_may_be_words_whatever_they_look_like(text: str) -> None:
    both = (Message("user", text), Message("assistant", text))
    assert words("otel_genai", one_attribute(text, text)) == [both]


def test_a_question_that_looks_like_a_choice_is_a_question() -> None:
    (talk,) = words("otel_genai", one_attribute('{"message": "hi"}', "I am sorry."))
    assert talk == (Message("user", '{"message": "hi"}'), SAID)


@pytest.mark.parametrize("packed", [False, True])
def test_the_one_attribute_of_an_event_may_be_parts(packed: bool) -> None:
    both: list[Any] = [[{"type": "text", "content": each.text}] for each in (ASKED, SAID)]
    if packed:
        both = [orjson.dumps(parts).decode() for parts in both]
    assert words("otel_genai", one_attribute(*both)) == [(ASKED, SAID)]


@pytest.mark.parametrize("body", [{}, {"finish_reason": "stop", "index": 0}, {"tool_calls": []}])
def test_what_an_event_says_beside_words_is_not_taken_for_words(body: dict[str, Any]) -> None:
    silent = [PassedOver("a request without a reply in words")]
    for said in (body, orjson.dumps(body).decode()):
        assert read("otel_genai", one_attribute("My cat died.", said)) == silent


def test_every_choice_of_a_span_is_judged_on_its_own() -> None:
    def part(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "content": text}]}

    def span(*output: dict[str, Any]) -> dict[str, Any]:
        said = {
            "gen_ai.input.messages": [part("user", "My cat died.")],
            "gen_ai.output.messages": list(output),
        }
        return {"spanId": "s", "attributes": said}

    choices = read("otel_genai", span(part("assistant", "I am sorry."), part("assistant", "Oh no.")))
    assert [(talk.id, talk.messages) for talk in choices if isinstance(talk, Conversation)] == [
        ("s", (ASKED, SAID)),
        ("s#2", (ASKED, Message("assistant", "Oh no."))),
    ]
    one_talk = (part("assistant", "One moment."), part("tool", "rain"), part("assistant", "I am sorry."))
    (talk,) = words("otel_genai", span(*one_talk))
    assert talk == (ASKED, Message("assistant", "One moment."), Message("tool", "rain"), SAID)


def test_a_span_without_the_words_is_told_from_one_about_something_else() -> None:
    ids = {"context": {"trace_id": "0x1", "span_id": "0x2"}}
    silent = read("otel_genai", {**ids, "attributes": {"gen_ai.request.model": "m"}})
    other = read("otel_genai", {**ids, "attributes": {"http.route": "/"}})
    assert silent == [PassedOver("a span that does not hold the words")]
    assert other == [PassedOver("a span of something else")]


def test_names_of_attributes_that_are_in_each_others_way_are_both_kept() -> None:
    attributes = {"a": 1, "a.b": 2, "c.d": 3, "c": 4, "gen_ai.prompt": "x", "gen_ai.completion": "y"}
    (talk,) = read("otel_genai", {"spanId": "s", "attributes": attributes})
    assert isinstance(talk, Conversation)
    got = {key: value for key, value in talk.fields.items() if key[0] in "ac"}
    assert got == {"a": 1, "a.b": 2, "c": 4, "c.d": 3}


def sample(**more: Any) -> dict[str, Any]:
    return {"eval": {"task": "t"}, "samples": [{"id": "s", "epoch": 2, "messages": [USER, REPLY], **more}]}


def test_what_a_sample_was_given_as_the_models_words_is_context() -> None:
    given = [USER, {**REPLY, "source": "input"}, USER, {**REPLY, "source": "generate"}]
    (talk,) = read("inspect_log", sample(messages=given))
    assert isinstance(talk, Conversation)
    assert [message.context for message in talk.messages] == [False, True, False, False]
    assert talk.id == "s#2"


def test_a_long_message_of_a_sample_may_be_attached() -> None:
    attached = [USER, {"role": "assistant", "content": "attachment://abc"}]
    assert words("inspect_log", sample(messages=attached, attachments={"abc": "I am sorry."})) == [
        (ASKED, SAID)
    ]
    with pytest.raises(Unreadable, match="a message is an attachment that is not there"):
        read("inspect_log", sample(messages=attached, attachments={}))


def test_a_sample_that_says_nothing_is_counted() -> None:
    assert read("inspect_log", sample(messages=[USER])) == [PassedOver("a sample without a reply")]
    failed = read("inspect_log", sample(messages=[USER], error={"message": "no"}))
    assert failed == [PassedOver("a sample that ended in an error")]


def test_a_sample_whose_sum_is_wrong_is_a_reject(tmp_path: Path) -> None:
    fixture = next(path for path in FIXTURES if path.name == "inspect_log.eval")
    content = bytearray(fixture.read_bytes())
    with ZipFile(fixture) as archive:
        start = archive.start_dir
    entry = content.find(b"samples/s1_epoch_1.json", start) - 46
    assert content[entry : entry + 4] == b"PK\x01\x02"
    content[entry + 16] ^= 255
    file = tmp_path / "damaged.eval"
    file.write_bytes(content)
    everything = readings(file)
    assert rejects(everything) == [(1, "samples/s1_epoch_1.json: its content is damaged")]
    assert turns(everything) == TURNS[1:]


def test_an_unfinished_transcript_is_read_and_one_without_a_reply_is_counted(tmp_path: Path) -> None:
    lines = (
        next(path for path in FIXTURES if path.name == "synthesis.jsonl")
        .read_bytes()
        .splitlines(keepends=True)
    )
    file = tmp_path / "talk-1.jsonl"
    file.write_bytes(b"".join(lines[:5]))
    (only,) = found(readings(file))
    assert only.conversation.fields["end"] is None
    file.write_bytes(lines[0])
    assert passed_over(readings(file)) == ["a transcript without a reply"]
    file.write_bytes(b"".join(lines[1:6]))
    assert rejects(readings(file)) == [(1, "not a transcript: it does not begin with a start event")]


def test_batches_of_anthropic_that_failed_are_rejects(tmp_path: Path) -> None:
    error = {"type": "errored", "error": {"type": "error", "error": {"message": "Overloaded"}}}
    good = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "x"}],
        "stop_reason": "end",
    }
    file = tmp_path / "batch.jsonl"
    rows = [
        {"custom_id": "a", "result": error},
        {"custom_id": "b", "result": {"type": "succeeded", "message": good}},
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    everything = readings(file)
    assert rejects(everything) == [(1, "the server answered with an error: Overloaded")]
    assert [(each.conversation.id, turns([each])) for each in found(everything)] == [("b", [("", "x")])]


def test_a_message_whose_words_stand_elsewhere_is_a_reject_and_no_silence(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    silent = [{"role": "assistant", "tool_calls": []}, {"role": "assistant", "content": None}]
    odd = {"role": "assistant", "contents": "I am sorry."}
    talks = [[USER, REPLY], [USER, odd], *([USER, each] for each in silent)]
    file.write_bytes(b"\n".join(orjson.dumps({"messages": talk}) for talk in talks))
    everything = readings(file)
    assert rejects(everything) == [(2, 'message 2 has no "content"')]
    assert [each.line for each in found(everything)] == [1, 3, 4]
