"""A real HTTP server on 127.0.0.1 that answers, or fails to, as a test tells it.

    with FaultyServer([status(429, headers={"Retry-After": "1"}), ok("hello")]) as server:
        client(server.base_url)
        assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2

Behaviours are played in order, one a request, and the last repeats. A function of the request may be given
instead of a list. `ok`, `status` and the like speak OpenAI's dialect on `/v1/chat/completions` and
Anthropic's on `/v1/messages`.
"""

import gzip
import json
import math
import socket
import socketserver
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import Enum
from http.client import responses
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar, Literal, Self

OPENAI_PATH = "/v1/chat/completions"
ANTHROPIC_PATH = "/v1/messages"
CHUNK = 1 << 16


class End(Enum):
    """How a connection ends: with a FIN, or with an RST that discards what was not yet read."""

    CLOSE = "close"
    RESET = "reset"


@dataclass(frozen=True)
class Request:
    """What came in: header names in lower case, the body parsed, or its bytes where it is not JSON."""

    number: int
    """From 1, in the order of arrival."""
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    at: float
    """Of `time.monotonic`."""

    @property
    def anthropic(self) -> bool:
        return self.path == ANTHROPIC_PATH

    @property
    def key(self) -> str | None:
        """What the client proves itself with, as it stands in the header."""
        return self.headers.get("authorization", self.headers.get("x-api-key"))


Step = bytes | float | End
"""Bytes to send, seconds to wait, or the end of the connection; it is kept open where none is given."""

Behaviour = Callable[[Request], Iterator[Step]]
Script = Sequence[Behaviour] | Callable[[Request], Behaviour]
Usage = tuple[int, int] | Mapping[str, Any] | None


@dataclass(frozen=True)
class ToolCall:
    """Arguments that are a string are sent as they stand, which only OpenAI's dialect can carry."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = "call_1"


def ok(
    text: str | Callable[[Any], str] | None = "hello",
    *,
    tool_calls: Sequence[ToolCall] = (),
    usage: Usage = (7, 3),
    finish_reason: str | None = None,
    request_id: str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Behaviour:
    """A proper answer.

    `text` may be a function of the parsed body. `usage` is (input, output) tokens, the provider's own
    object, or None for none. `finish_reason` is the provider's own word. `request_id` is "req_<number>"
    unless given; "" sends none. `more` goes into the top of the body (`model="…"`). An unknown path is a 404,
    a body without a model a 400.
    """

    def play(request: Request) -> Iterator[Step]:
        if request.path not in (OPENAI_PATH, ANTHROPIC_PATH):
            yield from status(404)(request)
            return
        if not isinstance(request.body, dict) or "model" not in request.body:
            yield from status(400)(request)
            return
        words = text(request.body) if callable(text) else text
        shape = _anthropic_answer if request.anthropic else _openai_answer
        body = shape(request, words, tool_calls, finish_reason, usage) | more
        yield _response(request, 200, body, headers, request_id)

    return play


def status(
    code: int,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    *,
    request_id: str | None = None,
) -> Behaviour:
    """An error; its body is the provider's own unless given, as text, bytes or a JSON value."""

    def play(request: Request) -> Iterator[Step]:
        own = _error(request, code, _phrase(code)) if body is None else body
        yield _response(request, code, own, headers, request_id)

    return play


def echo_key(code: int = 401) -> Behaviour:
    """An error whose body and whose request id tell the caller its own key."""

    def play(request: Request) -> Iterator[Step]:
        body = _error(request, code, f"Incorrect API key provided: {request.key}")
        yield _response(request, code, body, None, f"req_{request.key}")

    return play


def redirect(url: str, code: int = 307) -> Behaviour:
    """To `url`, as it stands."""
    return status(code, "", {"Location": url})


def wrong_json(text: str = '{"choices": [') -> Behaviour:
    """A 200 that says it is JSON, complete, with a body that is not."""
    return status(200, text, {"Content-Type": "application/json"})


def wrong_shape(value: Any) -> Behaviour:
    """A 200 with any JSON value."""
    return status(200, json.dumps(value), {"Content-Type": "application/json"})


def hang() -> Behaviour:
    """Read the request, then say nothing until the server ends."""
    return _steps(math.inf)


def disconnect(end: End = End.CLOSE) -> Behaviour:
    """Read the request, then leave without a byte."""
    return _steps(end)


def half_body(then: Behaviour | None = None, end: End = End.CLOSE) -> Behaviour:
    """Leave in the middle of a body whose full length was announced."""

    def play(request: Request) -> Iterator[Step]:
        head, body = _whole(then or ok(), request)
        yield head + body[: len(body) // 2]
        yield end

    return play


def drip(every: float, then: Behaviour | None = None, *, head: bool = False) -> Behaviour:
    """One byte of the body every so many seconds; with `head`, of the status line and headers too."""

    def play(request: Request) -> Iterator[Step]:
        first, rest = _whole(then or ok(), request)
        if head:
            first, rest = b"", first + rest
        yield first
        for byte in rest:
            yield every
            yield bytes([byte])

    return play


def later(seconds: float, then: Behaviour | None = None) -> Behaviour:
    """The same, after a wait."""

    def play(request: Request) -> Iterator[Step]:
        yield seconds
        yield from (then or ok())(request)

    return play


def huge(size: int = 50_000_000, encoding: Literal["plain", "chunked", "gzip"] = "plain") -> Behaviour:
    """A proper answer whose text has `size` characters.

    "chunked" announces no length; "gzip" announces a small one, for what unpacks to all of it.
    """

    def play(request: Request) -> Iterator[Step]:
        _, body = _whole(ok("x" * size), request)
        if encoding == "gzip":
            packed = gzip.compress(body, compresslevel=1)
            yield _response(
                request, 200, packed, {"Content-Type": "application/json", "Content-Encoding": "gzip"}
            )
            return
        if encoding == "plain":
            yield _head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        else:
            yield _head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        for start in range(0, len(body), CHUNK):
            part = body[start : start + CHUNK]
            yield part if encoding == "plain" else b"%x\r\n%b\r\n" % (len(part), part)
        if encoding == "chunked":
            yield b"0\r\n\r\n"

    return play


def http_date(seconds_from_now: float) -> str:
    """For a Retry-After; a date has whole seconds, so it may be up to one second early."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


@contextmanager
def refusing() -> Iterator[str]:
    """A base URL where connections are refused; the port is held, so nobody else comes to listen there."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


class FaultyServer:
    """Serves inside `with`; what the script itself raises is raised again when the block ends."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._open = 0
        self._most_open = 0
        self._connections = 0
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.end()
        self._thread.join()
        if self._server.raised:
            raise self._server.raised[0]

    @property
    def origin(self) -> str:
        """Without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    @property
    def requests(self) -> list[Request]:
        """Those read so far, in the order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def most_at_once(self) -> int:
        """The most requests that were being answered at the same time."""
        return self._most_open

    @property
    def connections(self) -> int:
        """How many were made so far; one may carry many requests."""
        return self._connections

    def connected(self) -> None:
        """One more connection; only the thread that accepts them calls this."""
        self._connections += 1

    @contextmanager
    def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: Any
    ) -> Iterator[Iterator[Step]]:
        """Record a request; gives what to do about it."""
        with self._lock:
            number = len(self._requests) + 1
            request = Request(number, method, path, headers, body, time.monotonic())
            self._requests.append(request)
            self._open += 1
            self._most_open = max(self._most_open, self._open)
        try:
            if callable(self._script):
                yield self._script(request)(request)
            else:
                yield self._script[min(number, len(self._script)) - 1](request)
        finally:
            with self._lock:
                self._open -= 1


class _Server(socketserver.ThreadingTCPServer):
    # HTTPServer would ask the name service for this machine's name, which can take seconds.
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, owner: FaultyServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner
        self.raised: list[BaseException] = []
        self.ending = threading.Event()
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.owner.connected()
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.raised.append(error)

    def end(self) -> None:
        """Connections are shut before the threads are joined: each may be waiting for its client."""
        self.shutdown()
        self.ending.set()
        with self._connections_lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.owner.exchange(self.command, self.path, headers, _parsed(raw)) as steps:
            for step in steps:
                if isinstance(step, bytes):
                    self.connection.sendall(step)
                elif isinstance(step, End):
                    self._end(step)
                    return
                elif self.server.ending.wait(min(step, threading.TIMEOUT_MAX)):
                    self.close_connection = True
                    return

    do_GET = do_POST  # noqa: N815

    def _end(self, end: End) -> None:
        self.close_connection = True
        if end is End.RESET:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The socket closes with the last file made from it; left to the server, a FIN would go first.
            self.rfile.close()
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing on stderr."""


class _Errors:
    OPENAI: ClassVar = {
        400: "invalid_request_error",
        401: "invalid_request_error",
        429: "rate_limit_exceeded",
    }
    ANTHROPIC: ClassVar = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }


def _steps(*steps: Step) -> Behaviour:
    return lambda _: iter(steps)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _whole(then: Behaviour, request: Request) -> tuple[bytes, bytes]:
    """The head, with its empty line, and the body that a behaviour sends."""
    sent = b"".join(step for step in then(request) if isinstance(step, bytes))
    head, empty_line, body = sent.partition(b"\r\n\r\n")
    return head + empty_line, body


def _phrase(code: int) -> str:
    return responses.get(code, "Overloaded")


def _head(code: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {code} {_phrase(code)}", *(f"{name}: {value}" for name, value in headers.items())]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")


def _response(
    request: Request,
    code: int,
    body: Any,
    headers: Mapping[str, str] | None = None,
    request_id: str | None = None,
) -> bytes:
    text = isinstance(body, str | bytes)
    raw = body if isinstance(body, bytes) else (body if text else json.dumps(body)).encode()
    kind = "text/plain; charset=utf-8" if text else "application/json"
    own = {"Content-Type": kind, "Content-Length": str(len(raw))}
    name = "request-id" if request.anthropic else "x-request-id"
    given = f"req_{request.number}" if request_id is None else request_id
    return _head(code, own | ({name: given} if given else {}) | dict(headers or {})) + raw


def _error(request: Request, code: int, message: str) -> dict[str, Any]:
    if request.anthropic:
        error = {"type": _Errors.ANTHROPIC.get(code, "api_error"), "message": message}
        return {"type": "error", "error": error}
    kind = _Errors.OPENAI.get(code, "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _openai_answer(
    request: Request, text: str | None, calls: Sequence[ToolCall], finish_reason: str | None, usage: Usage
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments
                    if isinstance(call.arguments, str)
                    else json.dumps(dict(call.arguments)),
                },
            }
            for call in calls
        ]
    reason = finish_reason or ("tool_calls" if calls else "stop")
    answer: dict[str, Any] = {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
    }
    if isinstance(usage, tuple):
        read, written = usage
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return answer if usage is None else answer | {"usage": dict(usage)}


def _anthropic_answer(
    request: Request, text: str | None, calls: Sequence[ToolCall], finish_reason: str | None, usage: Usage
) -> dict[str, Any]:
    content: list[dict[str, Any]] = [] if text is None else [{"type": "text", "text": text}]
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls
    ]
    answer: dict[str, Any] = {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": content,
        "stop_reason": finish_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
    }
    if isinstance(usage, tuple):
        usage = {"input_tokens": usage[0], "output_tokens": usage[1]}
    return answer if usage is None else answer | {"usage": dict(usage)}
