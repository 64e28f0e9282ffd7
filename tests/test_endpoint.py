"""Which server is asked, and that a key goes nowhere but where the person at the keyboard lets it go."""

from typing import Any

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.endpoint import Endpoint, ModelAccess
from harness.errors import Place, SynthesisError
from harness.model import ModelOptions, ScriptedModel
from harness.provider import provider

KEY = "sk-openai-0123456789"
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "sk-ant-0123456789"}
PLACE = Place("s.json") / "scenarios" / 0 / "subject"
MINE = "http://10.0.0.1:8080/v1"


def found(
    own: dict[str, Any] | None = None, *, environment: dict[str, str] | None = None, **access: Any
) -> Endpoint:
    """For a scenario's `own` parameters, everything else as typed or from the environment."""
    known = KEYS if environment is None else environment
    options = ModelOptions.model_validate({"model": "openai:m", **(own or {})})
    return ModelAccess(environment=known, **access).endpoint(options, PLACE)


def refusal(own: dict[str, Any] | None = None, **more: Any) -> str:
    with pytest.raises(SynthesisError) as raised:
        found(own, **more)
    return str(raised.value)


# Which model, which server


def test_a_file_names_the_model_else_the_command_line() -> None:
    assert found().model == "openai:m"
    assert found(model="openai:typed").model == "openai:m"
    assert found({"model": None}, model="openai:typed").model == "openai:typed"
    assert found(model="anthropic:typed", override=True).model == "anthropic:typed"
    assert found({"model": None}, model="openai:a:b").name == "a:b"


def test_a_script_is_no_model_that_can_be_asked_unless_another_takes_its_place() -> None:
    script = {"model": ScriptedModel(replies=("x",))}
    assert found(script, model="openai:typed", override=True).model == "openai:typed"
    assert "no model is named" in refusal({"model": None})


def test_the_file_then_the_command_line_then_the_environment_then_the_provider_names_the_server() -> None:
    environment = {**KEYS, "OPENAI_BASE_URL": "http://env:1/v1"}
    theirs = {"base_url": "http://file:1/v1"}
    assert found(theirs, base_url=MINE, environment=environment).base_url == "http://file:1/v1"
    assert found(base_url=MINE, environment=environment).base_url == MINE
    assert found(environment=environment).base_url == "http://env:1/v1"
    assert found(environment={**KEYS, "OPENAI_BASE_URL": ""}).base_url == "https://api.openai.com/v1"
    assert found().base_url == "https://api.openai.com/v1"
    forced = found(theirs, model="openai:typed", base_url=MINE, override=True)
    assert (forced.base_url, forced.key) == (MINE, KEY)


def test_a_server_that_was_typed_is_for_models_of_the_same_provider() -> None:
    own = {"model": "anthropic:m"}
    assert found(own, model="openai:typed", base_url=MINE).base_url == "https://api.anthropic.com"
    assert found(own, model="anthropic:typed", base_url=MINE).base_url == MINE
    assert found(own, base_url=MINE).base_url == "https://api.anthropic.com"


def test_slashes_at_the_end_make_no_difference() -> None:
    assert found(base_url=MINE + "//").base_url == MINE


@pytest.mark.parametrize(
    "url",
    [
        "", "localhost:8080", "/v1", "ftp://h/v1", "file:///etc/passwd", "http://", "http:///v1", "https://:80",
        "http://h:0/v1", "http://h:99999", "http://h:x", "http://[::1", "http://h /v1", " http://h", "http://h\n",
        "http://h\t.evil.com", "http://h\\.evil.com", "http://h\x00", "http://h/\u202e", "javascript:1",
    ],
)  # fmt: skip
def test_what_is_no_server_is_refused_with_the_place_that_names_it(url: str) -> None:
    said = refusal({"base_url": url})
    assert said.startswith("s.json:/scenarios/0/subject/base_url: ")
    assert "is not the URL of a server" in said


@pytest.mark.parametrize(
    "url",
    [
        "http://user:word@h/v1", "http://user@h", "http://@h", "http://:@h", "http://h/v1?key=word",
        "http://h?", "http://h/#", "http://h/v1#word", "ftp://user:word@h", "https://api.openai.com@evil.com",
    ],
)  # fmt: skip
def test_a_server_comes_without_a_name_a_password_or_a_query_and_none_is_shown(url: str) -> None:
    said = refusal(base_url=url)
    assert "has a name, a password or a query in it" in said
    assert "word@" not in said
    assert "=word" not in said


def test_what_is_wrong_with_a_typed_server_or_a_missing_key_is_the_same_for_every_scenario() -> None:
    """So that it is said once: problems that read the same are one."""
    for said in (refusal(base_url="nowhere"), refusal(environment={})):
        assert said.startswith("openai:m: ")
        assert "s.json" not in said


# Where a key goes


def test_a_key_goes_to_the_provider_itself_whoever_names_it() -> None:
    assert found().key == KEY
    assert found({"base_url": "https://api.openai.com/v1"}).key == KEY
    assert found({"base_url": "https://api.openai.com:443/v2/"}).key == KEY
    assert found({"base_url": "HTTPS://API.OpenAI.com/v1"}).key == KEY
    assert found({"model": "anthropic:m"}).key == KEYS["ANTHROPIC_API_KEY"]


def test_a_key_goes_to_a_server_that_was_typed_or_is_in_the_environment() -> None:
    assert found(base_url=MINE).key == KEY
    assert found(environment={**KEYS, "OPENAI_BASE_URL": MINE}).key == KEY
    assert found({"base_url": MINE + "/deeper"}, base_url=MINE).key == KEY
    assert found({"base_url": MINE}, environment={**KEYS, "OPENAI_BASE_URL": MINE}).key == KEY
    both = {**KEYS, "OPENAI_BASE_URL": "http://env:1/v1"}
    assert found({"base_url": "http://env:1"}, base_url=MINE, environment=both).key == KEY


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "http://api.openai.com:443/v1",
        "https://api.openai.com.evil.com/v1",
        "https://evil.com/api.openai.com",
        "https://openai.com/v1",
        "https://eu.api.openai.com/v1",
        "https://api-openai.com/v1",
        "https://api.openai.com./v1",
        "https://ａpi.openai.com/v1",
        "https://xn--pi-7ia.openai.com",
        "https://127.0.0.1/v1",
        "https://[::1]/v1",
        "https://api.anthropic.com",
        "http://10.0.0.1:8081/v1",
        "https://10.0.0.1:8080/v1",
        "http://10.0.0.1/v1",
    ],
)
def test_no_key_goes_to_any_other_server_that_a_file_names(url: str) -> None:
    for typed in ({}, {"base_url": MINE}, {"environment": {**KEYS, "OPENAI_BASE_URL": MINE}}):
        endpoint = found({"base_url": url}, **typed)
        assert endpoint.key is None
        assert "no key goes to a server that a file names" in endpoint.hint
        assert not any(KEY in value for value in endpoint.provider.headers(endpoint.key).values())


def test_a_file_cannot_have_the_key_of_another_provider_sent_to_a_typed_server() -> None:
    own = {"model": "anthropic:m", "base_url": MINE}
    assert found(own, model="openai:typed", base_url=MINE).key is None
    assert found(own, environment={**KEYS, "OPENAI_BASE_URL": MINE}).key is None
    assert found(own, model="anthropic:typed", base_url=MINE).key == KEYS["ANTHROPIC_API_KEY"]


URLS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["https", "http", "HTTPS", "https:", " https", "https\t"]),
    st.sampled_from(
        ["", "user@", "user:word@", "api.openai.com@", "evil.com\\@", "@", "api.openai.com:443@"]
    ),
    st.sampled_from(
        [
            "api.openai.com",
            "API.OPENAI.COM",
            "api.openai.com.",
            "evil.com",
            "api.openai.com.evil.com",
            "api.openai.com\\.evil.com",
            "api.openai.com\n.evil.com",
            "api.openai.com%2eevil.com",
            "evil.com#api.openai.com",
            "evil.com?api.openai.com",
            "ａpi.openai.com",
            "api.openai.com／evil.com",
            "[::1]",
            "api。openai。com",
            "api.openai.com%00.evil.com",
            "api.openai.com;evil.com",
        ]
    ),
    st.sampled_from(
        ["", "/v1", ":443/v1", ":80", ":8443", ":00443", "/../v1", "//evil.com", "/v1?a=b", "\\@evil.com"]
    ),
)


@given(URLS | st.text(max_size=30).map("https://api.openai.com{}".format))
@example("https://api.openai.com")
@example("https://api.openai.com:\u0664\u0664\u0663")
@settings(max_examples=500)
def test_wherever_a_key_goes_the_request_goes_to_the_provider(url: str) -> None:
    """As the library reads the URL that makes the request: two readings of one URL are a hole."""
    try:
        endpoint = found({"base_url": url})
    except SynthesisError:
        return
    if endpoint.key is None:
        return
    sent = httpx2.URL(endpoint.provider.url(endpoint.base_url))
    assert (sent.scheme, sent.host, sent.port or 443) == ("https", "api.openai.com", 443)
    assert not sent.userinfo


# What is missing


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_is_named_with_the_variable_to_set(name: str, value: str | None) -> None:
    variable = provider(name).key_variable
    environment = {} if value is None else {variable: value}
    said = refusal({"model": f"{name}:m"}, environment=environment)
    assert f"{variable} is not set" in said
    assert f"fix: set {variable} in the environment, or name your own server with --base-url" in said


def test_a_server_of_ones_own_needs_no_key() -> None:
    endpoint = found(base_url=MINE, environment={})
    assert (endpoint.key, endpoint.hint) == (None, "set OPENAI_API_KEY")


def test_a_key_is_taken_without_the_line_break_it_was_copied_with() -> None:
    assert found(environment={"OPENAI_API_KEY": f" {KEY}\n"}).key == KEY


@pytest.mark.parametrize("key", ["sk-line\nbreak", "sk-schlüssel", "sk-\x00nul", "sk-\udcff"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str) -> None:
    said = refusal(environment={"OPENAI_API_KEY": key})
    assert "OPENAI_API_KEY holds characters that no key has" in said
    assert "sk-" not in said


def test_offline_nothing_is_missing_until_it_is_asked_for() -> None:
    endpoint = found(environment={}, offline=True)
    assert endpoint.lacks.startswith("OPENAI_API_KEY is not set: set OPENAI_API_KEY")
    assert found(offline=True).lacks == ""


def test_no_text_that_an_endpoint_or_the_access_makes_holds_the_key() -> None:
    access = ModelAccess(environment=KEYS)
    assert KEY not in repr(access) + str(access)
    assert KEY not in repr(found()) + str(found()) + found().hint + str(found().identity())


def test_an_identity_names_the_server_where_it_is_not_the_provider_s_own() -> None:
    assert found().identity() == {"model": "openai:m"}
    assert found(base_url=MINE).identity() == {"model": "openai:m", "base_url": MINE}
