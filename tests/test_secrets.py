"""A key reaches nothing that is written: those in the environment, and whatever looks like one."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.record import Recorder
from harness.secrets import SHOWN, Redactor

KNOWN = "Zq8-planted/with+odd=chars"
REDACTOR = Redactor.of({"MY_API_KEY": KNOWN})

LOOKS_LIKE_KEYS = [
    "sk-proj-Ab3dEf6hIj9kLm2nOp5q",
    "sk-ant-api03-Ab3dEf6hIj9kLm2nOp5q_-x",
    "sk-0123456789abcdef",
    "ghp_0123456789abcdefghij",
    "github_pat_0123456789abcdefghij",
    "glpat-0123456789abcdefghij",
    "hf_0123456789abcdefghij",
    "gsk_0123456789abcdefghij",
    "xai-0123456789abcdefghij",
    "sk_live_0123456789abcdefghij",
    "rk_test_0123456789abcdefghij",
    "npm_0123456789abcdefghijABCDEFGHIJ012345",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/0=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\nMIIEow+/0=\\n-----END PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{'MIIEow+/' * 8}\n{'MIIEow+/' * 8}",
    f"-----BEGIN PRIVATE KEY-----\\r\\n{'MIIEow+/' * 8}\\r\\n{'MIIEow+/' * 8}",
    f"-----BEGIN PRIVATE KEY-----\n> {'MIIEow+/' * 8}\n> {'MIIEow+/' * 8}",
    "-----BEGIN PRIVATE KEY-----\n> MIIEow+/0=\n> -----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: A,0\n\nM+/\n-----END PRIVATE KEY-----",
    f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{'MIIEow+/' * 8}",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\nlQO=\n=Ab1c\n-----END PGP PRIVATE KEY BLOCK-----",
    "xoxb-1234567890-abc",
    "AIza0123456789abcdefghijklmnopqrstuv",
    "AKIA0123456789ABCDEF",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKK",
]
HARMLESS = [
    "a task-force-of-many-people-met",
    "the desk-bound-and-weary-worker",
    "skin-to-skin contact",
    "sk-short",
    "the bearer of responsibilities",
    "Bearer responsibilities weigh",
    "bearer of bad news",
    "AKIA is a name",
    "hf_ and gsk_",
    "sk_live_short, npm_config_registry",
    "my PRIVATE KEY begins with -----BEGIN",
    "-----BEGIN PUBLIC KEY-----\nMIIEow\n-----END PUBLIC KEY-----",
    "eyJ.eyJ.x",
    "alpha, beta und Gänsefüßchen “so”",
]


@pytest.mark.parametrize("key", LOOKS_LIKE_KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "key: {}.", "({})", "{}, and", "req_{}", "a\n{}\nb", "\x1b{}", "é{}é", "={}"]
)
def test_what_looks_like_a_key_is_not_shown(key: str, around: str) -> None:
    text = around.format(key)
    assert Redactor().text(text) == around.format(SHOWN)
    assert Redactor().value(text) == around.format(SHOWN)
    line = orjson.dumps({"text": text}) + b"\n"
    assert orjson.loads(Redactor().line(line)) == {"text": around.format(SHOWN)}
    assert Redactor().line(line).endswith(b"\n")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_key_stays_as_it_is(text: str) -> None:
    line = orjson.dumps([text])
    assert Redactor().text(text) == text
    assert Redactor().line(line) is line


def test_two_keys_side_by_side_are_both_gone() -> None:
    one, two = LOOKS_LIKE_KEYS[0], LOOKS_LIKE_KEYS[5]
    assert Redactor().text(f"{one} {two},{one}\n{two}") == f"{SHOWN} {SHOWN},{SHOWN}\n{SHOWN}"


@pytest.mark.parametrize("token", ["abcdef0123456789", "AbCdEf/123+456~7==", "a1.b2.c3-d4_e5"])
def test_a_bearer_token_is_gone_whatever_its_shape(token: str) -> None:
    assert Redactor().text(f"Authorization: Bearer {token}; next") == f"Authorization: Bearer {SHOWN}; next"
    assert Redactor().text(f"bearer\n{token}") == f"bearer\n{SHOWN}"


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "APIKEY", "MY_KEY", "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN", "TOKEN", "DB_PASSWORD", "client_secret",
    ],
)  # fmt: skip
def test_the_values_of_variables_named_like_keys_are_known(name: str) -> None:
    assert Redactor.of({name: KNOWN}).text(f"it is {KNOWN}!") == f"it is {SHOWN}!"
    assert Redactor.of({name: f" {KNOWN}\n"}).text(KNOWN) == SHOWN


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", KNOWN), ("PWD", KNOWN), ("KEYBOARD", KNOWN), ("TOKENIZERS_PARALLELISM", KNOWN),
        ("OPENAI_API_KEY", "none"), ("OPENAI_API_KEY", ""), ("OPENAI_API_KEY", "EMPTY"),
        ("POSTGRES_PASSWORD", "password"), ("DB_PASSWORD", "assistant"),
    ],
)  # fmt: skip
def test_other_variables_placeholders_and_plain_words_are_left_alone(name: str, value: str) -> None:
    assert Redactor.of({name: value}).known == ()


def test_bytes_in_the_environment_that_are_no_text_do_no_harm() -> None:
    line = orjson.dumps({"text": "hello"})
    assert Redactor.of({"MY_TOKEN": "\udcff" * 20}).line(line) == line


def test_the_longer_of_two_keys_goes_first_so_that_no_part_is_left() -> None:
    redactor = Redactor.of({"A_TOKEN": "abcdefg-1", "B_TOKEN": "abcdefg-1-and-more"})
    assert redactor.text("abcdefg-1-and-more") == SHOWN


def test_no_text_of_the_redactor_holds_a_key() -> None:
    assert KNOWN not in repr(REDACTOR) + str(REDACTOR)


@pytest.mark.parametrize(
    "secret", ['quo"te\\back12', "line\nbreak-12", "ümlaut-12345", "\u2028sep-12345", "tab\t-12345"]
)
def test_a_key_is_found_however_json_writes_it(secret: str) -> None:
    redactor = Redactor.of({"X_SECRET": secret})
    for value in ({"text": f"a {secret} b"}, [[secret]], {"deep": [{secret: secret}]}):
        written = redactor.line(orjson.dumps(value))
        assert secret not in json.dumps(orjson.loads(written), ensure_ascii=False)
        assert orjson.loads(written) == redactor.value(value)
        assert SHOWN in written.decode()


def test_a_key_of_digits_leaves_numbers_numbers() -> None:
    redactor = Redactor.of({"X_TOKEN": "12345678"})
    value = {"text": "12345678", "tokens": 123456789, "share": 0.12345678}
    assert redactor.value(value) == {"text": SHOWN, "tokens": 123456789, "share": 0.12345678}


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=10)
    | st.sampled_from([KNOWN, f"x{KNOWN}y", *LOOKS_LIKE_KEYS, "Bearer a1b2c3d4e5f6g7", "1", ":", '"']),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5) | st.just(KNOWN), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(JSON, st.sampled_from([KNOWN, "1", ":", '":"', "null", "e", "[]", "0.5", "tru"]))
def test_a_line_stays_json_of_the_same_shape_whatever_the_key_is(value: Any, key: str) -> None:
    redactor = Redactor((KNOWN, key))
    read = orjson.loads(redactor.line(orjson.dumps(value)))
    assert read == redactor.value(value)
    assert shape(read) == shape(value)
    assert KNOWN not in json.dumps(read, ensure_ascii=False)


def shape(value: Any) -> Any:
    """Without texts; keys of objects may come to be the same."""
    if isinstance(value, dict):
        return "object"
    return (
        [shape(item) for item in value]
        if isinstance(value, list)
        else "text"
        if isinstance(value, str)
        else value
    )


def test_what_is_ours_stays_so_that_a_transcript_can_be_read(tmp_path: Path) -> None:
    """Even under the oddest of keys."""
    redactor = Redactor(("completed", "assistant", "conversation", "user", "talk"))
    recorder = Recorder(tmp_path / "t.jsonl", redactor)
    recorder.start({"scenario": "talk", "seed": 1, "fingerprint": "talk", "subject": {}, "system": "talk"})
    recorder.assistant("a user and an assistant talk")
    recorder.end("completed", terminated=True, result={"completed": "user"})
    start, said, end = recorder.close().events
    assert (start["scenario"], start["fingerprint"], start["system"]) == ("talk", "talk", SHOWN)
    assert (said["type"], said["medium"]) == ("assistant", "conversation")
    assert said["text"] == f"a {SHOWN} and an {SHOWN} {SHOWN}"
    assert (end["reason"], end["result"]) == ("completed", {SHOWN: SHOWN})


def test_a_transcript_has_no_key_in_any_of_its_events(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    recorder = Recorder(path, REDACTOR)
    recorder.start({"scenario": "s", "seed": 1, "fingerprint": "f", "subject": {"k": KNOWN}, "system": KNOWN})
    recorder.user(KNOWN)
    recorder.assistant(f"\n{KNOWN}", code=KNOWN)
    recorder.gate_call("g", {KNOWN: [KNOWN]})
    recorder.observation("g", ok=True, result=KNOWN)
    recorder.child_end(recorder.child_start("code", KNOWN), KNOWN, terminated=False, result=KNOWN)
    recorder.replay([orjson.dumps({"type": "assistant", "text": KNOWN}) + b"\n"])
    recorder.error("kind", KNOWN)
    recorder.end("error", terminated=False, result=KNOWN)
    recorder.close()
    written = path.read_text("utf-8")
    assert KNOWN not in written
    assert written.count(SHOWN) == 14
    assert all(json.loads(line)["type"] for line in written.splitlines())


def test_a_line_without_keys_is_the_same_object(tmp_path: Path) -> None:
    line = orjson.dumps({"text": "nothing here"})
    assert REDACTOR.line(line) is line
