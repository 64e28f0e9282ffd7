"""Each provider puts a question in its server's dialect, and reads an answer or says what is wrong."""

import ast
import inspect
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from harness import plugins
from harness.model import Answer, Message, ModelOptions, Question, Tokens, Tool, ToolCall, split_name
from harness.provider import Provider, provider, what_is_wrong
from harness.secrets import SHOWN, Redactor

PROVIDERS = plugins.own("providers")
OPENAI, ANTHROPIC = provider("openai"), provider("anthropic")

TALK = (Message("system", "Be kind."), Message("user", "Hi."))
LOOK_UP = Tool("look_up", "Finds a city.", {"type": "object", "properties": {"city": {"type": "string"}}})
CALLED = (
    Message("user", "Where?"),
    Message(
        "assistant", "", (ToolCall("c1", "look_up", {"city": "Bern"}), ToolCall("c2", "look_up", "{bad"))
    ),
    Message("tool", "found", call_id="c1"),
    Message("tool", "not JSON", call_id="c2"),
    Message("user", "And?"),
)
ALL = ModelOptions(temperature=0.0, max_tokens=5, stop=("END",), extra_body={"top_p": 0.5})


# The shape of a file


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_file_says_what_it_is_in_one_line_and_stays_short(name: str) -> None:
    module = plugins.module("providers", name)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text("utf-8")
    assert (ast.get_docstring(ast.parse(source)) or "").splitlines()[0].endswith(".")
    assert len(source.splitlines()) <= 150


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_says_where_it_is_served_and_where_its_key_is(name: str) -> None:
    kind = plugins.only_class("providers", name, Provider)
    served = urlsplit(kind.base_url)
    assert (served.scheme, served.query) == ("https", "")
    assert not kind.base_url.endswith("/")
    assert kind.path.startswith("/")
    assert kind.key_variable.endswith("_API_KEY")
    assert kind.url_variable.endswith("_BASE_URL")
    assert kind.__doc__
    assert not inspect.isabstract(kind)
    for method in ("headers", "body", "read"):
        given_shape = inspect.signature(getattr(kind, method))
        assert list(given_shape.parameters) == list(inspect.signature(getattr(Provider, method)).parameters)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_key_is_sent_where_there_is_one_and_is_known_to_be_one(name: str) -> None:
    found = provider(name)
    assert sum("k-123456789" in value for value in found.headers("k-123456789").values()) == 1
    assert set(found.headers("k-123456789")) - set(found.headers(None))
    assert not any("None" in value for value in found.headers(None).values())
    assert Redactor.of({found.key_variable: "k-123456789"}).text("k-123456789") == SHOWN


def test_the_promised_providers_are_there_and_ask_where_they_should() -> None:
    assert set(PROVIDERS) >= {"openai", "anthropic"}
    assert OPENAI.url("http://h:1/v1") == "http://h:1/v1/chat/completions"
    assert ANTHROPIC.url("http://h:1") == ANTHROPIC.url("http://h:1/v1") == "http://h:1/v1/messages"
    assert OPENAI.headers("k") == {"Authorization": "Bearer k"}
    assert ANTHROPIC.headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}


# What a model is called, and its parameters


def test_everything_behind_the_first_colon_is_the_name() -> None:
    assert split_name("openai:llama3:8b") == ("openai", "llama3:8b")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("opnai:x", 'did you mean "openai:…"'),
        ("gpt-4o", "providers: anthropic, openai"),
        ("openai:", "providers: anthropic, openai|did you mean"),
        (":x", "providers: anthropic, openai"),
        ("", "is not PROVIDER:NAME"),
        ("OpenAI:x", "is not PROVIDER:NAME"),
    ],
)
def test_what_is_no_model_is_refused_with_a_hint(model: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        split_name(model)
    with pytest.raises(ValidationError, match="is not PROVIDER:NAME"):
        ModelOptions(model=model)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"max_tokens": 0},
        {"stop": [""]},
        {"request_timeout": 0},
        {"request_timeout": float("inf")},
        {"seed": 1},
        {"request_timeout": 3601},
        {"extra_body": ["top_p"]},
    ],
)
def test_parameters_that_no_server_takes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelOptions.model_validate(wrong)


def test_a_fingerprint_keeps_what_shapes_an_answer_and_not_how_long_we_wait() -> None:
    waited = ModelOptions(temperature=0.5, request_timeout=3)
    assert waited.parameters() == {"temperature": 0.5}
    assert set(ALL.parameters()) == {"temperature", "max_tokens", "stop", "extra_body"}


# Bodies


def test_openai_gets_what_was_asked_for_and_nothing_else() -> None:
    assert OPENAI.body(Question(TALK, ModelOptions()), "m") == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}],
    }


def test_openai_gets_every_parameter_and_extra_keys() -> None:
    body = OPENAI.body(Question(TALK, ALL, (LOOK_UP,), seed=0), "m")
    assert {key: body[key] for key in body if key not in ("model", "messages", "tools")} == {
        "temperature": 0.0,
        "max_tokens": 5,
        "seed": 0,
        "stop": ["END"],
        "top_p": 0.5,
    }
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look_up",
                "description": "Finds a city.",
                "parameters": LOOK_UP.parameters,
            },
        }
    ]


@pytest.mark.parametrize("seed", [0, 7])
def test_openai_gets_the_seed_even_where_it_is_zero(seed: int) -> None:
    assert OPENAI.body(Question(TALK, ModelOptions(), seed=seed), "m")["seed"] == seed


def test_openai_gets_calls_and_their_results() -> None:
    _, asked, first, second, _ = OPENAI.body(Question(CALLED, ModelOptions()), "m")["messages"]
    assert asked == {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city":"Bern"}'}},
            {"id": "c2", "type": "function", "function": {"name": "look_up", "arguments": "{bad"}},
        ],
    }
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "found"}
    assert second == {"role": "tool", "tool_call_id": "c2", "content": "not JSON"}


def test_anthropic_gets_the_system_prompt_apart_a_length_and_no_seed() -> None:
    assert ANTHROPIC.body(Question(TALK, ModelOptions(), seed=3), "m") == {
        "model": "m",
        "max_tokens": 4096,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}],
    }


def test_anthropic_gets_every_parameter_and_extra_keys() -> None:
    body = ANTHROPIC.body(Question(TALK[1:], ALL, (LOOK_UP,)), "m")
    assert {key: body[key] for key in body if key not in ("model", "messages")} == {
        "max_tokens": 5,
        "temperature": 0.0,
        "stop_sequences": ["END"],
        "top_p": 0.5,
        "tools": [
            {"name": "look_up", "description": "Finds a city.", "input_schema": LOOK_UP.parameters},
        ],
    }


def test_anthropic_gets_the_results_of_calls_in_one_message_with_what_the_person_says() -> None:
    messages = ANTHROPIC.body(Question(CALLED, ModelOptions()), "m")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"city": "Bern"}},
        {"type": "tool_use", "id": "c2", "name": "look_up", "input": {"arguments": "{bad"}},
    ]
    assert messages[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "not JSON"},
        {"type": "text", "text": "And?"},
    ]


def test_a_question_is_not_changed_by_being_put() -> None:
    question = Question(CALLED, ALL, (LOOK_UP,), seed=1)
    for found in (OPENAI, ANTHROPIC):
        assert found.body(question, "m") == found.body(question, "m")


# Readings


def completion(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def test_openai_is_read() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    read = OPENAI.read(completion({"role": "assistant", "content": "Hello."}, usage=usage))
    assert read == Answer("Hello.", finish="stop", tokens=Tokens(11, 2))


def test_calls_of_openai_are_read_also_where_their_arguments_are_no_json() -> None:
    arguments = ('{"city": "Bern"}', "", "{bad", {"city": "Wien"}, "[1]")
    calls = [
        {"id": f"c{number}", "function": {"name": "look_up", "arguments": each}}
        for number, each in enumerate(arguments)
    ]
    read = OPENAI.read(completion({"content": None, "tool_calls": calls}))
    assert read.text == ""
    assert [call.arguments for call in read.calls] == [{"city": "Bern"}, {}, "{bad", {"city": "Wien"}, [1]]
    assert read.calls[2] == ToolCall("c2", "look_up", "{bad")


def test_a_refusal_of_openai_is_what_the_model_said() -> None:
    assert OPENAI.read(completion({"content": None, "refusal": "I can't."})).text == "I can't."
    assert OPENAI.read(completion({"content": "", "refusal": "I can't."})).text == ""


def test_anthropic_is_read_and_blocks_of_other_kinds_are_left_out() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "One, "},
        {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"city": "Bern"}},
        {"type": "text", "text": "two."},
    ]
    usage = {
        "input_tokens": 10, "output_tokens": 2,
        "cache_creation_input_tokens": 3, "cache_read_input_tokens": None,
    }  # fmt: skip
    read = ANTHROPIC.read({"content": blocks, "stop_reason": "tool_use", "usage": usage})
    call = ToolCall("c1", "look_up", {"city": "Bern"})
    assert read == Answer("One, two.", (call,), finish="tool_use", tokens=Tokens(13, 2))


OPENAI_KEYS = {"model", "messages", "seed", "tools", "stop", "temperature", "max_tokens", "stream", "n"}
ANTHROPIC_KEYS = {
    "model", "messages", "system", "tools", "max_tokens", "stop_sequences", "temperature", "stream",
}  # fmt: skip


def test_a_provider_names_every_key_that_is_its_own() -> None:
    assert OPENAI.own_keys() == OPENAI_KEYS
    assert ANTHROPIC.own_keys() == ANTHROPIC_KEYS | {"n"}


def usage_of(given: Any, answered: Any = 1) -> dict[str, Any]:
    """In the words of both dialects."""
    return {
        "prompt_tokens": given, "input_tokens": given,
        "completion_tokens": answered, "output_tokens": answered,
    }  # fmt: skip


def test_as_many_tokens_as_json_can_tell_are_read() -> None:
    usage = usage_of(2**53, 0)
    assert OPENAI.read(completion({"content": "x"}, usage=usage)).tokens == Tokens(2**53, 0)
    payload = {"content": [{"type": "text", "text": "x"}], "usage": usage}
    assert ANTHROPIC.read(payload).tokens == Tokens(2**53, 0)


@pytest.mark.parametrize(
    "usage",
    [
        None, {}, [], "many", 3,
        usage_of(-1), usage_of(None), usage_of(True), usage_of("7"), usage_of(1e24), usage_of(10**24),
        usage_of(2**53 + 1), usage_of(1, False), usage_of(1, -1), usage_of(1, None),
        {"prompt_tokens": 7, "input_tokens": 7},
    ],
)  # fmt: skip
def test_tokens_that_cannot_be_read_are_unknown_and_the_answer_is_kept(usage: Any) -> None:
    assert OPENAI.read(completion({"content": "x"}, usage=usage)) == Answer("x", finish="stop")
    assert ANTHROPIC.read({"content": [{"type": "text", "text": "x"}], "usage": usage}) == Answer("x")


def test_tokens_from_a_cache_are_never_fewer_than_none() -> None:
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": -9}
    assert ANTHROPIC.read({"content": [{"type": "text", "text": "x"}], "usage": usage}).tokens is None


def test_tokens_that_only_a_cache_makes_too_many_are_unknown() -> None:
    usage = {"input_tokens": 2**53, "output_tokens": 1, "cache_read_input_tokens": 1}
    assert ANTHROPIC.read({"content": [{"type": "text", "text": "x"}], "usage": usage}) == Answer("x")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({}, 'the answer\'s "choices": Field required'),
        ({"choices": []}, 'the answer\'s "choices": '),
        ({"choices": [{"message": {"content": 3}}]}, 'the answer\'s "choices/0/message/content": '),
        (["x"], "the answer's"),
        (None, "the answer's"),
    ],
)
def test_what_an_answer_of_openai_lacks_is_said(payload: Any, said: str) -> None:
    assert said in reading_of(OPENAI, payload)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"type": "message"}, 'the answer\'s "content": Field required'),
        ({"content": "text"}, 'the answer\'s "content": '),
        ({"content": [{"text": "no type"}]}, 'the answer\'s "content/0/type": Field required'),
    ],
)
def test_what_an_answer_of_anthropic_lacks_is_said(payload: Any, said: str) -> None:
    assert said in reading_of(ANTHROPIC, payload)


@pytest.mark.parametrize(
    ("found", "payload"),
    [
        (OPENAI, completion({"content": None}) | {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}),
        (ANTHROPIC, {"content": [], "usage": {"input_tokens": 9, "output_tokens": 4}}),
        (ANTHROPIC, {"content": [{"type": "x"}], "usage": {"input_tokens": 9, "output_tokens": 4}}),
    ],
)
def test_a_model_that_says_nothing_has_used_tokens(found: Provider, payload: Any) -> None:
    answer = found.read(payload)
    assert (answer.text, answer.calls, answer.tokens) == ("", (), Tokens(9, 4))


def reading_of(found: Provider, payload: Any) -> str:
    try:
        found.read(payload)
    except ValidationError as error:
        return what_is_wrong(error)
    except ValueError as error:
        return str(error)
    raise AssertionError("it was read")


WORDS = (
    "choices", "message", "content", "refusal", "tool_calls", "function", "name", "arguments", "id",
    "usage", "prompt_tokens", "completion_tokens", "finish_reason", "type", "text", "tool_use", "input",
    "input_tokens", "output_tokens", "cache_read_input_tokens", "stop_reason",
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(WORDS)
    | st.sampled_from(['{"a": 1}', "{", "[[", "1e999", "-1", '"\\ud800"'])
)
KEYS = st.sampled_from(WORDS) | st.text(max_size=4)
HOSTILE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)
CALL = st.fixed_dictionaries({"function": st.fixed_dictionaries({"name": HOSTILE, "arguments": HOSTILE})})
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(
            st.fixed_dictionaries(
                {
                    "message": st.fixed_dictionaries(
                        {}, optional={"content": HOSTILE, "tool_calls": st.lists(CALL, max_size=2) | HOSTILE}
                    )
                },
                optional={"finish_reason": HOSTILE},
            ),
            max_size=2,
        ),
        "content": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["text", "tool_use"]) | HOSTILE},
                optional={"text": HOSTILE, "input": HOSTILE, "id": HOSTILE, "name": HOSTILE},
            ),
            max_size=2,
        ),
        "usage": HOSTILE | st.dictionaries(st.sampled_from(WORDS), st.integers() | st.floats(), max_size=4),
    },
)


@pytest.mark.parametrize("name", PROVIDERS)
@given(payload=HOSTILE | NEARLY)
@settings(max_examples=300, deadline=None)
def test_whatever_a_server_sends_is_an_answer_or_a_value_error(name: str, payload: Any) -> None:
    try:
        answer = provider(name).read(payload)
    except ValueError:
        return
    assert isinstance(answer, Answer)
    assert isinstance(answer.text, str)
    assert all(isinstance(call.name, str) and isinstance(call.id, str) for call in answer.calls)
    assert answer.tokens is None or min(answer.tokens.input, answer.tokens.output) >= 0
    # What was said goes back to the server with the next question.
    said = Message("assistant", answer.text, answer.calls)
    provider(name).body(Question((said,), ModelOptions()), "m")
