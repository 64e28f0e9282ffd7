"""The faulty server fails in just the ways it promises, and ends at once whatever is still open."""

import asyncio
import gzip
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import pytest
from faulty_server import (
    Behaviour,
    End,
    FaultyServer,
    Request,
    ToolCall,
    disconnect,
    drip,
    echo_key,
    half_body,
    hang,
    http_date,
    huge,
    later,
    ok,
    redirect,
    refusing,
    status,
    wrong_json,
    wrong_shape,
)

ASKED = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-secret"
CALL = ToolCall("look_up", {"city": "Bern"})


def ask(
    server: FaultyServer, path: str = "/v1/chat/completions", *, timeout: float = 5, body: Any = ASKED
) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx2.post(server.origin + path, json=body, headers=headers, timeout=timeout, trust_env=False)


def answer(behaviour: Behaviour, path: str = "/v1/chat/completions") -> httpx2.Response:
    with FaultyServer([behaviour]) as server:
        return ask(server, path)


def raw_answer(behaviour: Behaviour) -> bytes:
    """Every byte up to the end of the connection."""
    body = json.dumps(ASKED).encode()
    with FaultyServer([behaviour]) as server, socket.create_connection(_address(server), 5) as connection:
        connection.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        received = b""
        while part := connection.recv(1 << 16):
            received += part
        return received


def _address(server: FaultyServer) -> tuple[str, int]:
    return "127.0.0.1", int(server.origin.rpartition(":")[2])


def test_an_answer_in_the_dialect_of_openai() -> None:
    found = answer(ok("Hello.", usage=(11, 2), system_fingerprint="fp_1"))
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/json"
    assert found.headers["x-request-id"] == "req_1"
    assert found.json() == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello."},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13},
        "system_fingerprint": "fp_1",
    }


def test_an_answer_in_the_dialect_of_anthropic() -> None:
    found = answer(ok("Hello.", usage=(11, 2), request_id="req_abc"), "/v1/messages")
    assert found.headers["request-id"] == "req_abc"
    assert found.json() == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 2},
    }


def test_tool_calls_in_both_dialects() -> None:
    openai = answer(ok(None, tool_calls=[CALL])).json()["choices"][0]
    assert openai["finish_reason"] == "tool_calls"
    assert openai["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "look_up", "arguments": '{"city": "Bern"}'},
            }
        ],
    }
    anthropic = answer(ok("Wait.", tool_calls=[CALL]), "/v1/messages").json()
    assert anthropic["stop_reason"] == "tool_use"
    assert anthropic["content"] == [
        {"type": "text", "text": "Wait."},
        {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"city": "Bern"}},
    ]


def test_what_an_answer_may_lack_or_say_otherwise() -> None:
    found = answer(ok(usage=None, finish_reason="length", request_id="", model="m-1-2026"))
    assert "x-request-id" not in found.headers
    assert "usage" not in found.json()
    assert found.json()["choices"][0]["finish_reason"] == "length"
    assert found.json()["model"] == "m-1-2026"


def test_behaviours_are_played_in_order_and_the_last_repeats() -> None:
    with FaultyServer([status(500), ok("one"), ok("two")]) as server:
        assert [ask(server).status_code for _ in range(4)] == [500, 200, 200, 200]
        assert ask(server).json()["choices"][0]["message"]["content"] == "two"


def test_requests_are_recorded() -> None:
    before = time.monotonic()
    with FaultyServer([ok()]) as server:
        ask(server)
        ask(server, "/v1/messages", body=[1])
        httpx2.get(f"{server.base_url}/models", trust_env=False)
        first, second, third = server.requests
    assert (first.number, first.method, first.path) == (1, "POST", "/v1/chat/completions")
    assert first.body == ASKED
    assert first.headers["authorization"] == first.key == f"Bearer {KEY}"
    assert (second.number, second.path, second.body) == (2, "/v1/messages", [1])
    assert (third.method, third.path, third.body) == ("GET", "/v1/models", b"")
    assert before < first.at < second.at < third.at < time.monotonic()


def test_an_answer_to_a_path_or_body_that_no_provider_knows_is_refused() -> None:
    with FaultyServer([ok()]) as server:
        assert ask(server, "/v1/chat/completion").status_code == 404
        assert ask(server, body={"messages": []}).status_code == 400


def test_the_answer_as_a_function_of_the_request() -> None:
    with FaultyServer([ok(lambda body: body["messages"][-1]["content"].upper())]) as server:
        assert ask(server).json()["choices"][0]["message"]["content"] == "HI"

    def fail_for_the_second(request: Request) -> Behaviour:
        return status(503) if request.number == 2 else ok()

    with FaultyServer(fail_for_the_second) as server:
        assert [ask(server).status_code for _ in range(3)] == [200, 503, 200]


def test_an_error_of_the_script_is_not_lost() -> None:
    def broken(body: Any) -> str:
        raise LookupError("the test is wrong")

    with pytest.raises(LookupError, match="the test is wrong"), FaultyServer([ok(broken)]) as server:
        ask(server)


def test_error_statuses_with_the_body_of_the_provider_or_ones_own() -> None:
    found = answer(status(429, headers={"Retry-After": "2"}))
    assert (found.status_code, found.headers["retry-after"]) == (429, "2")
    assert found.json()["error"]["type"] == "rate_limit_exceeded"
    overloaded = answer(status(529), "/v1/messages")
    assert overloaded.json() == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
    }
    page = answer(status(502, "<html>Bad gateway</html>"))
    assert (page.text, page.headers["content-type"]) == (
        "<html>Bad gateway</html>",
        "text/plain; charset=utf-8",
    )
    assert answer(status(400, {"detail": 1})).json() == {"detail": 1}


def test_a_retry_after_as_a_date() -> None:
    ahead = parsedate_to_datetime(http_date(30)).timestamp() - time.time()
    assert 28.9 < ahead <= 30


def test_a_hanging_request_is_neither_answered_nor_waited_for_at_the_end() -> None:
    with FaultyServer([hang()]) as server:
        with pytest.raises(httpx2.ReadTimeout):
            ask(server, timeout=0.1)
        left_open = [http.client.HTTPConnection(*_address(server)) for _ in range(3)]
        for connection in left_open:
            connection.request("POST", "/v1/messages", json.dumps(ASKED))
        while len(server.requests) < 4:
            time.sleep(0.01)
        started = time.monotonic()
    assert time.monotonic() - started < 2
    for connection in left_open:
        connection.close()


def test_the_end_waits_for_no_idle_and_no_deaf_client() -> None:
    with FaultyServer([ok(), huge(20_000_000)]) as server:
        idle = http.client.HTTPConnection(*_address(server), timeout=5)
        idle.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        idle.getresponse().read()
        deaf = http.client.HTTPConnection(*_address(server), timeout=5)
        deaf.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        while len(server.requests) < 2:
            time.sleep(0.01)
        started = time.monotonic()
    assert time.monotonic() - started < 2
    idle.close()
    deaf.close()


def test_nothing_at_all_is_sent_before_a_disconnect() -> None:
    assert raw_answer(disconnect()) == b""
    with pytest.raises(ConnectionResetError):
        raw_answer(disconnect(End.RESET))
    with pytest.raises(httpx2.RemoteProtocolError, match="without sending a response"):
        answer(disconnect())
    with pytest.raises(httpx2.ReadError):
        answer(disconnect(End.RESET))


def test_half_a_body() -> None:
    head, _, body = raw_answer(half_body(ok("Hello."))).partition(b"\r\n\r\n")
    (announced,) = [
        int(line.split()[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")
    ]
    assert len(body) == announced // 2 > 100
    with pytest.raises(httpx2.RemoteProtocolError, match="peer closed connection"):
        answer(half_body())


def test_bodies_that_are_not_an_answer() -> None:
    broken = answer(wrong_json())
    assert (broken.status_code, broken.headers["content-type"]) == (200, "application/json")
    with pytest.raises(ValueError):
        broken.json()
    assert answer(wrong_shape({"choices": []})).json() == {"choices": []}
    assert answer(wrong_shape("just text")).json() == "just text"


@pytest.mark.parametrize("head", [False, True])
def test_a_dripping_answer_outlives_the_timeout_of_a_read(head: bool) -> None:
    started = time.monotonic()
    with FaultyServer([drip(0.004, ok("Hello."), head=head)]) as server:
        found = ask(server, timeout=0.6)
    assert found.json()["choices"][0]["message"]["content"] == "Hello."
    assert time.monotonic() - started > 0.6


def test_a_late_answer() -> None:
    with FaultyServer([later(0.3)]) as server:
        with pytest.raises(httpx2.ReadTimeout):
            ask(server, timeout=0.1)
        assert ask(server, timeout=5).status_code == 200


def test_a_redirect_to_another_server_carries_the_request_there() -> None:
    with FaultyServer([ok()]) as elsewhere:
        target = f"{elsewhere.base_url}/chat/completions"
        with FaultyServer([redirect(target)]) as server:
            found = ask(server)
            assert (found.status_code, found.headers["location"]) == (307, target)
            assert elsewhere.requests == []
            httpx2.post(
                f"{server.base_url}/chat/completions", json=ASKED, follow_redirects=True, trust_env=False
            )
            assert [request.body for request in elsewhere.requests] == [ASKED]


@pytest.mark.parametrize("encoding", ["plain", "chunked", "gzip"])
def test_a_huge_body(encoding: Any) -> None:
    with FaultyServer([huge(3_000_000, encoding)]) as server:
        connection = http.client.HTTPConnection(*_address(server), timeout=5)
        connection.request("POST", "/v1/chat/completions", json.dumps(ASKED))
        response = connection.getresponse()
        raw = response.read()
        connection.close()
    announced = response.headers["Content-Length"]
    if encoding == "gzip":
        assert int(announced) < 100_000
        raw = gzip.decompress(raw)
    elif encoding == "chunked":
        assert announced is None
    else:
        assert int(announced) == len(raw)
    assert json.loads(raw)["choices"][0]["message"]["content"] == "x" * 3_000_000


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_an_error_that_tells_the_key(path: str) -> None:
    found = answer(echo_key(), path)
    assert found.status_code == 401
    assert f"Bearer {KEY}" in found.json()["error"]["message"]
    assert KEY in found.headers["request-id" if path == "/v1/messages" else "x-request-id"]


def test_a_refused_connection() -> None:
    with refusing() as base_url, pytest.raises(httpx2.ConnectError):
        httpx2.post(f"{base_url}/chat/completions", json=ASKED, trust_env=False)


def _only_together(parties: int) -> Callable[[Request], Behaviour]:
    """Nobody is answered before so many have asked."""
    barrier = threading.Barrier(parties, timeout=20)

    def play(request: Request) -> Behaviour:
        barrier.wait()
        return ok()

    return play


def test_threads_are_answered_side_by_side() -> None:
    with FaultyServer(_only_together(8)) as server, ThreadPoolExecutor(8) as pool:
        assert {found.status_code for found in pool.map(lambda _: ask(server, timeout=20), range(8))} == {200}
        assert server.most_at_once == 8


def test_tasks_are_answered_side_by_side() -> None:
    async def many() -> None:
        with FaultyServer(_only_together(20)) as server:
            async with httpx2.AsyncClient(base_url=server.base_url, trust_env=False, timeout=20) as client:
                found = await asyncio.gather(*(client.post("messages", json=ASKED) for _ in range(100)))
            assert [each.status_code for each in found] == [200] * 100
            assert [request.number for request in server.requests] == list(range(1, 101))
            assert 20 <= server.most_at_once <= 100

    asyncio.run(many())


def test_a_connection_is_kept_for_the_next_request() -> None:
    with FaultyServer([ok(), status(500), ok()]) as server, httpx2.Client(trust_env=False) as client:
        url = f"{server.base_url}/chat/completions"
        streams = [client.post(url, json=ASKED).extensions["network_stream"] for _ in range(3)]
        peers = {stream.get_extra_info("client_addr") for stream in streams}
    assert len(peers) == 1
