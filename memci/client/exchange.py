"""The requests of the client, apart from how they are sent.

A verb is a generator: it yields an ``Exchange`` to send or a ``Pause`` to make, is given what
came of it, and returns the answer. So each verb is written once, and runs on threads and on
asyncio alike.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

import httpx
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from memci.errors import InvalidInputError, MemciError, RateLimitedError, UnavailableError
from memci.schemas.problems import Problem, error_of

T = TypeVar("T")
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request; ``repeatable`` says whether sending it again does no harm.

    ``body`` may be a file, which is sent piece by piece. A successful answer goes to the file
    ``save_to``, if one is named: it is there whole or not at all.
    """

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes | Path | None
    extra_timeout_s: float
    repeatable: bool
    save_to: Path | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for that long."""

    seconds: float


# Of an exchange a response or the transport's error, of a pause nothing.
Outcome: TypeAlias = httpx.Response | httpx.TransportError | None
Flow: TypeAlias = Generator[Exchange | Pause, Outcome, T]


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently a request that was turned away is sent again."""

    attempts: int = 3
    first_pause_s: float = 0.2
    longest_pause_s: float = 10.0

    def pause(self, attempt: int, wanted_s: float | None) -> Pause:
        """Return the wait after a failed attempt (from 1); at least what the server asked for."""
        own = self.first_pause_s * 2 ** (attempt - 1)
        return Pause(min(max(own, wanted_s or 0.0), self.longest_pause_s))


def exchange(
    method: str,
    path: str,
    *,
    body: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    extra_timeout_s: float = 0.0,
    repeatable: bool = True,
) -> Exchange:
    """Describe a request; values that are None are left out.

    Raises ``InvalidInputError`` for what cannot be written as JSON.
    """
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    content = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        content = _json({name: value for name, value in body.items() if value is not None})
    return Exchange(
        method=method,
        path=path,
        params={name: str(value) for name, value in (params or {}).items() if value is not None},
        headers=headers,
        body=content,
        extra_timeout_s=extra_timeout_s,
        repeatable=repeatable,
    )


def ask(request: Exchange, answer: type[AnswerT], retries: Retries) -> Flow[AnswerT]:
    """Send a request until it is answered, and read the answer; raises as ``answered`` does."""
    response = yield from answered(request, retries)
    return _read(response, answer)


def answered(request: Exchange, retries: Retries) -> Flow[httpx.Response]:
    """Send a request until it is answered.

    Raises the error that the server's problem tells of, or ``UnavailableError`` when there is
    no server.
    """
    attempt = 1
    while True:
        outcome = yield request
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            return outcome
        failure, wanted_s = _failure(outcome)
        again = isinstance(failure, (RateLimitedError, UnavailableError)) and (
            request.repeatable or not _may_have_arrived(outcome)
        )
        if not again or attempt >= retries.attempts:
            raise failure
        yield retries.pause(attempt, wanted_s)
        attempt += 1


def _failure(outcome: Outcome) -> tuple[MemciError, float | None]:
    """Return the error that an outcome stands for, and the wait that the server asked for."""
    if isinstance(outcome, httpx.Response):
        wanted_s = _seconds(outcome.headers.get("retry-after"))
        return error_of(_read(outcome, Problem), retry_after_s=wanted_s), wanted_s
    name = type(outcome).__name__
    return UnavailableError(f"no answer from the server ({name}); is it running?"), None


def _may_have_arrived(outcome: Outcome) -> bool:
    """Whether the server may have done what it was asked, although it did not say so."""
    never = isinstance(outcome, (httpx.Response, httpx.ConnectError, httpx.ConnectTimeout))
    return not never


def _read(response: httpx.Response, answer: type[AnswerT]) -> AnswerT:
    try:
        return answer.model_validate_json(response.content)
    except ValidationError:
        raise MemciError(
            f"{response.request.url.host} answered {response.status_code} with something that "
            "no memci API of this version answers; is the address right?"
        ) from None


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() else None


def _json(value: object) -> bytes:
    try:
        return to_json(value)
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise InvalidInputError(f"this cannot be written as JSON: {error}") from None


def check_url(url: str) -> str:
    """Return an address that requests can be sent to, or raise ``InvalidInputError``."""
    try:
        parsed = httpx.URL(url)
        fits = parsed.scheme in {"http", "https"} and bool(parsed.host)
    except httpx.InvalidURL:
        fits = False
    if not fits:
        raise InvalidInputError("expected an address such as http://127.0.0.1:8000", field="url")
    return url


def headers_for(api_key: str | None) -> dict[str, str]:
    """Return the headers that name the asker, or raise ``InvalidInputError``.

    Keys are read from files, with the line break that ends them: blanks around a key are dropped.
    """
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        # Never the key itself: it is a secret.
        raise InvalidInputError(
            "expected a key as `memci keys new` prints it; this one holds a line break, "
            "or a character that no HTTP header takes",
            field="api_key",
        )
    return {"Authorization": f"Bearer {key}"} if key else {}


_PART = "--{boundary}\r\nContent-Disposition: form-data; {about}\r\n{more}\r\n"


def form_of(name: str, content: bytes) -> tuple[bytes, str]:
    """Return a form with one file and its name, and the content type to send it with."""
    boundary = token_hex(16)
    named = _PART.format(boundary=boundary, about='name="name"', more="")
    filed = _PART.format(
        boundary=boundary,
        about='name="file"; filename="file"',
        more="Content-Type: application/octet-stream\r\n",
    )
    parts = (named.encode(), name.encode(), b"\r\n", filed.encode(), content)
    body = b"".join(parts) + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


class LatestSeqs:
    """The highest seq that each agent was given here; safe for threads."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._seqs: dict[str, int] = {}

    def note(self, agent_id: str, seq: int) -> None:
        """Keep a seq, if it is the highest."""
        with self._lock:
            self._seqs[agent_id] = max(seq, self._seqs.get(agent_id, 0))

    def of(self, agent_id: str) -> int | None:
        """Return the highest seq; None when nothing was written here."""
        return self._seqs.get(agent_id)
