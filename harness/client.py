"""One HTTP request to a model's server, and what came of it. Retries are someone else's business."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import orjson
import re2
from pydantic import ValidationError

from harness.attempt import Attempt
from harness.endpoint import Endpoint
from harness.model import Answer, Question, ToolCall
from harness.provider import what_is_wrong
from harness.retry import asked_to_wait, is_retried
from harness.secrets import Redactor
from harness.transcript import Json
from harness.version import VERSION

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 2**25
_EXCERPT = 300
_TOO_DEEP = "the answer is nested too deeply"
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")
_NO_ACCESS = frozenset({401, 402})
_REFUSING = _NO_ACCESS | {403, 404}
_NO_MONEY = re2.compile(r"(?i)insufficient_quota|billing_hard_limit|credit balance is too low")
_NO_SUCH_MODEL = re2.compile(
    r"(?i)model_not_found|invalid model|unknown model|"
    r"model\b.{0,80}\b(?:not found|not exist|not supported)"
)


@dataclass(frozen=True)
class Failure:
    """Why there is no answer; `refused` where no question would get one."""

    kind: str
    message: str
    retry: bool = False
    refused: bool = False
    after: float | None = None
    """Seconds the server asks us to wait."""


@dataclass(frozen=True)
class Try:
    """One request: an answer or a failure, and what to write down of it."""

    attempt: Attempt
    payload: Json = None
    answer: Answer | None = None
    failure: Failure | None = None


class Client:
    """One for the process, so that connections are shared; made when it is first needed, inside the loop."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._http: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        """Let go of all connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def ask(self, endpoint: Endpoint, question: Question, body: dict[str, Json]) -> Try:
        """Never raises for what the server or the network did."""
        import httpx2

        began = time.perf_counter()
        status: int | None = None
        headers: Mapping[str, str] = {}
        payload: Json = None
        failure: Failure | None = None
        try:
            async with asyncio.timeout(question.options.request_timeout):
                response = await self._post(endpoint, body)
                status, headers = response.status_code, response.headers
                content = await _content(response)
            payload, failure = self._judged(endpoint, status, headers, content)
        except TimeoutError:
            what = f"{endpoint.base_url}: no answer after {question.options.request_timeout:g} s"
            failure = Failure("connection", what, retry=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, _TooLargeError) as error:
            what = self._redactor.text(f"{endpoint.base_url}: {type(error).__name__}: {error}".strip(": "))
            hopeless = isinstance(error, _TooLargeError | httpx2.InvalidURL)
            kind = "unreachable" if isinstance(error, httpx2.ConnectError) else "connection"
            failure = Failure(kind, what, retry=not hopeless)
        attempt = Attempt(
            endpoint.model,
            attempt=1,
            status=status,
            request_id=_request_id(headers, self._redactor),
            latency_ms=round((time.perf_counter() - began) * 1000, 1),
        )
        if failure is None:
            return read(endpoint, attempt, payload, self._redactor)
        return Try(replace(attempt, error=failure.message), failure=failure)

    async def _post(self, endpoint: Endpoint, body: dict[str, Json]) -> "httpx2.Response":
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(
                timeout=None,  # the whole request has a time limit, which a slow drip does not renew
                follow_redirects=False,
                headers={"User-Agent": f"synthesis-harness/{VERSION}"},
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # no trial leaves one for another
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            )
        sent = {"Content-Type": "application/json", **endpoint.provider.headers(endpoint.key)}
        request = self._http.build_request(
            "POST", endpoint.provider.url(endpoint.base_url), content=orjson.dumps(body), headers=sent
        )
        return await self._http.send(request, stream=True)

    def _judged(
        self, endpoint: Endpoint, status: int, headers: Mapping[str, str], content: bytes
    ) -> tuple[Json, Failure | None]:
        payload = _parsed(content)
        if status != 200:
            said = self._excerpt(_said(payload, content))
            message = f"{status}: {said}" if said else f"{status}"
            no_access = status in _NO_ACCESS or bool(_NO_MONEY.search(said))
            refused = no_access or status in _REFUSING or bool(_NO_SUCH_MODEL.search(said))
            if refused:
                about_key = no_access or status == 403
                hint = endpoint.hint if about_key else "check the model's name and the server"
                message = f"{endpoint.model} on {endpoint.base_url} refused: {message}; {hint}"
            elif 300 <= status < 400:
                message = f"{status}: the server points elsewhere, which is not followed; mend the base URL"
            wait = asked_to_wait(headers, datetime.now(UTC))
            retry = is_retried(status) and not refused
            kind = "key" if no_access else "model" if refused else "http"
            return None, Failure(kind, message, retry, refused, wait)
        if payload is None:
            return None, Failure("answer", f"the answer is not JSON: {self._excerpt(_said(None, content))!r}")
        try:
            return self._redactor.value(payload), None
        except TypeError:
            return None, Failure("answer", _TOO_DEEP)

    def _excerpt(self, said: str) -> str:
        """Keys go before it is cut: half a key is not recognised."""
        flat = " ".join(self._redactor.text(said).split())
        return flat if len(flat) <= _EXCERPT else f"{flat[:_EXCERPT]}…"


def read(endpoint: Endpoint, attempt: Attempt, payload: Json, redactor: Redactor) -> Try:
    """The answer in a response, fresh or recorded."""
    try:
        answer = _without_keys(endpoint.provider.read(payload), redactor)
    except ValidationError as error:
        return _unreadable(attempt, what_is_wrong(error))
    except ValueError as error:
        return _unreadable(attempt, str(error))
    except TypeError:
        return _unreadable(attempt, _TOO_DEEP)
    tokens = answer.tokens
    attempt = replace(
        attempt,
        input_tokens=tokens.input if tokens else None,
        output_tokens=tokens.output if tokens else None,
        finish=answer.finish,
    )
    return Try(attempt, payload, answer)


def _without_keys(answer: Answer, redactor: Redactor) -> Answer:
    """Not only the payload: reading it joins texts and unpacks arguments, where a key can come to light."""
    calls = tuple(
        ToolCall(redactor.text(call.id), redactor.text(call.name), redactor.value(call.arguments))
        for call in answer.calls
    )
    return replace(answer, text=redactor.text(answer.text), calls=calls)


def _unreadable(attempt: Attempt, why: str) -> Try:
    return Try(replace(attempt, error=why), failure=Failure("answer", why))


class _TooLargeError(Exception):
    """More than anyone would call an answer."""


async def _content(response: "httpx2.Response") -> bytes:
    content = bytearray()
    try:
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise _TooLargeError(f"the answer has more than {MOST_BYTES} bytes")
    finally:
        await response.aclose()
    return bytes(content)


def _parsed(content: bytes) -> Json:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _said(payload: Json, content: bytes) -> str:
    """What an error's body says, in whichever of the usual places."""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    if isinstance(error, dict):
        told = [error.get(name) for name in ("message", "detail", "code")]
        return " · ".join(dict.fromkeys(str(word) for word in told if word))
    return error if isinstance(error, str) else content.decode("utf-8", "replace")


def _request_id(headers: Mapping[str, str], redactor: Redactor) -> str | None:
    found = next((headers[name] for name in _REQUEST_IDS if name in headers), None)
    return None if found is None else redactor.text(found)[:200]
