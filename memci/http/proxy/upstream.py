"""The upstream API of the proxy, and the headers that are passed on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from pydantic import SecretStr

from memci.api_keys import PREFIX
from memci.config.settings import Settings
from memci.errors import UnavailableError

_CONNECT_S = 10.0
_POOL_S = 10.0
_SILENCE_S = 600.0  # before the answer of the upstream, and between two pieces of it
# Each chat that is answered holds one.
_CONNECTIONS = 1_000
_KEPT = 50
# Most bytes of an error that are read and passed on.
ERROR_BYTES = 1024 * 1024


class Upstream:
    """Sends requests to the upstream, in one event loop."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url.rstrip("/")
        self._key: SecretStr | None = settings.proxy_upstream_key
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(_SILENCE_S, connect=_CONNECT_S, pool=_POOL_S),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_KEPT),
            # A cookie for one caller is not sent for another.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def send(
        self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> httpx.Response:
        """Send a request and return its answer; only the head is read yet.

        Raises ``UnavailableError`` if there is no answer.
        """
        request = self._client.build_request(
            method,
            self._url + path,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            content=body,
        )
        # The client's own headers go on; httpx adds none of its own.
        for name in ("user-agent", "accept", "connection"):
            if name not in {each for each, _ in headers} and name in request.headers:
                del request.headers[name]
        try:
            return await self._client.send(request, stream=True)
        except httpx.TransportError as error:
            raise UnavailableError(
                f"the model's API does not answer ({type(error).__name__}); try again, or look at "
                "MEMCI_PROXY_UPSTREAM_URL of the server"
            ) from None

    def masked(self, body: bytes) -> bytes:
        """Return the body of an error without the server's key."""
        if self._key is None:
            return body
        return body.replace(self._key.get_secret_value().encode(), b"***")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


KEY_HEADER = "x-memci-key"
_OWN = "x-memci-"
# Of one connection alone (RFC 9110, 7.6.1).
_OF_CONNECTION = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
# They identify the caller, or httpx writes them itself.
_NOT_FOR_UPSTREAM = frozenset({
    "accept-encoding", "authorization", "content-length", "cookie", "expect", "forwarded", "host",
    "origin", "referer", "x-real-ip",
})  # fmt: skip
_NOT_FOR_CLIENT = frozenset({"date", "location", "server", "set-cookie"})


@dataclass(frozen=True, slots=True)
class Keys:
    """Two ``Authorization`` headers: for memci and for the upstream."""

    memci: str | None = field(repr=False)
    upstream: str | None = field(repr=False)


def keys_in(headers: Mapping[str, str], upstream_key: SecretStr | None) -> Keys:
    """Return the keys for memci and for the upstream.

    A server with a key for its upstream reads memci's from ``X-Memci-Key`` or ``Authorization``,
    where every client puts its key. Without one, ``Authorization`` is for the upstream and
    ``X-Memci-Key`` for memci. A key of memci never goes to the upstream.
    """
    own, given = headers.get(KEY_HEADER), headers.get("authorization")
    if upstream_key is not None:
        memci = f"Bearer {own.strip()}" if own else given
        return Keys(memci, f"Bearer {upstream_key.get_secret_value()}")
    _, _, token = (given or "").partition(" ")
    is_own = token.strip().startswith(PREFIX) or bool(own and token.strip() == own.strip())
    return Keys(f"Bearer {own.strip()}" if own else None, None if is_own else given)


def headers_for_upstream(
    headers: Iterable[tuple[str, str]], authorization: str | None
) -> list[tuple[str, str]]:
    """Return the headers for the upstream: no cookies, none of memci's own.

    The answer must not be compressed: it is read on the way.
    """
    going = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in _NOT_FOR_UPSTREAM and not name.startswith((_OWN, "x-forwarded-"))
    ]
    going.append(("accept-encoding", "identity"))
    return [*going, ("authorization", authorization)] if authorization else going


def headers_for_client(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of the answer for the client."""
    return [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in _NOT_FOR_CLIENT and not name.startswith(_OWN)
    ]


def _end_to_end(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    known = [(name.lower(), value) for name, value in headers]
    named = {
        each.strip().lower()
        for name, value in known
        if name == "connection"
        for each in value.split(",")
    }
    for name, value in known:
        if name not in _OF_CONNECTION | named:
            yield name, value
