"""The requests of the client, apart from how they are sent.

A flow is a generator: it yields a ``ClientRequest`` to send or a ``Pause`` to make, receives the
outcome, and returns the answer. So each operation is written once, for threads and for asyncio.
"""

import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from memci.errors import (
    InvalidInputError,
    MemciError,
    QuotaError,
    RateLimitedError,
    UnavailableError,
)
from memci.schemas.problems import Problem, error_of

T = TypeVar("T")
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(slots=True)
class ClientRequest:
    """One request. Values of ``params`` and ``json`` that are None are left out.

    Raises ``InvalidInputError`` for what cannot be written as JSON.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    body: bytes | Path | None = None  # a file is sent piece by piece
    extra_timeout_s: float = 0.0
    repeatable: bool = True  # sending it again does no harm
    save_to: Path | None = None  # a successful answer is there as a whole or not at all

    def __post_init__(self) -> None:
        self.params = {
            name: each if isinstance(each, list) else str(each)  # a list: one for each of its items
            for name, each in self.params.items()
            if each is not None
        }
        if self.json is None:
            return
        self.headers["Content-Type"] = "application/json"
        try:
            self.body = to_json(
                {name: each for name, each in self.json.items() if each is not None}
            )
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise InvalidInputError(f"this cannot be written as JSON: {error}") from None


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for that long."""

    seconds: float


# A request has a response or the transport's error as its outcome, a pause has none.
Outcome: TypeAlias = httpx.Response | httpx.TransportError | None
Flow: TypeAlias = Generator[ClientRequest | Pause, Outcome, T]


@dataclass(frozen=True, slots=True)
class Retries:
    """The number of attempts of a request, and the pauses between them."""

    attempts: int = 3
    first_pause_s: float = 0.2
    longest_pause_s: float = 10.0

    def pause(self, attempt: int, retry_after_s: float | None) -> Pause:
        """Return the pause after a failed attempt (from 1); at least what the server asked for."""
        backoff_s = self.first_pause_s * 2 ** (attempt - 1)
        return Pause(min(max(backoff_s, retry_after_s or 0.0), self.longest_pause_s))


def fetch(request: ClientRequest, answer: type[AnswerT], retries: Retries) -> Flow[AnswerT]:
    """Send a request and parse the answer; raises as ``send`` does."""
    response = yield from send(request, retries)
    return _parse(response, answer)


def send(request: ClientRequest, retries: Retries) -> Flow[httpx.Response]:
    """Send a request until it is answered.

    Raises the error that the server's problem describes, or ``UnavailableError`` when no server
    answers.
    """
    attempt = 1
    while True:
        outcome = yield request
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            return outcome
        retry_after_s = None
        if isinstance(outcome, httpx.Response):
            header = outcome.headers.get("retry-after")
            retry_after_s = float(header) if header and header.isdecimal() else None
            failure = error_of(_parse(outcome, Problem), retry_after_s=retry_after_s)
        else:
            failure = UnavailableError(
                f"no answer from the server ({type(outcome).__name__}); is it running?"
            )
        # The server may have done the rest, although it did not say so.
        never_arrived = isinstance(
            outcome, (httpx.Response, httpx.ConnectError, httpx.ConnectTimeout)
        )
        again = isinstance(failure, (RateLimitedError, UnavailableError)) and (
            request.repeatable or never_arrived
        )
        # Who has to wait for a day is told so at once.
        again &= not isinstance(failure, QuotaError)
        if not again or attempt >= retries.attempts:
            raise failure
        yield retries.pause(attempt, retry_after_s)
        attempt += 1


def _parse(response: httpx.Response, answer: type[AnswerT]) -> AnswerT:
    try:
        return answer.model_validate_json(response.content)
    except ValidationError:
        raise MemciError(
            f"{response.request.url.host} answered {response.status_code} with something that "
            "no memci API of this version answers; is the address right?"
        ) from None


def check_url(url: str) -> str:
    """Return an address that requests can be sent to, or raise ``InvalidInputError``."""
    try:
        parsed = httpx.URL(url)
        fits = parsed.scheme in {"http", "https"} and bool(parsed.host)
    except (httpx.InvalidURL, TypeError):  # None is a variable that is not set
        fits = False
    if not fits:
        local = "; Memci.local() runs a server itself" if url is None else ""
        raise InvalidInputError(
            f"expected an address such as http://127.0.0.1:8000{local}", field="url"
        )
    return url


def headers_for(api_key: str | None) -> dict[str, str]:
    """Return the headers with the API key, or raise ``InvalidInputError``.

    A key that was read from a file ends with a line break: white space around it is dropped.
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


def path_of_name(name: str) -> str:
    """Return a name with slashes as a part of a path.

    Slashes stay, dots do not: "..", as a part of a path, would be resolved on the way.
    """
    return quote(name, safe="/").replace(".", "%2E")


def form_of(name: str, content: bytes) -> tuple[bytes, str]:
    """Return a form with one file and its name, and the content type to send it with."""
    form = httpx.Request("POST", "", data={"name": name}, files={"file": ("file", content)})
    return form.read(), form.headers["Content-Type"]


class LatestSeqs:
    """The highest seq of each agent that this client has written; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seqs: dict[str, int] = {}

    def note(self, agent_id: str, seq: int) -> None:
        """Keep a seq, if it is the highest."""
        with self._lock:
            self._seqs[agent_id] = max(seq, self._seqs.get(agent_id, 0))

    def get(self, agent_id: str) -> int | None:
        """Return the highest seq; None when nothing was written here."""
        return self._seqs.get(agent_id)
