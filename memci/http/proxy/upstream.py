"""The API that chats are passed on to: one, fixed by the settings."""

from __future__ import annotations

from collections.abc import Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from pydantic import SecretStr

from memci.config import Settings
from memci.errors import UnavailableError

_CONNECT_S = 10.0
_POOL_S = 10.0
# Each chat that is answered holds one.
_CONNECTIONS = 1_000
_KEPT = 50
# What an upstream says of an error is read at once, up to so many bytes.
ERROR_BYTES = 1024 * 1024


class Upstream:
    """Sends requests upwards; made for one event loop."""

    def __init__(self, url: str, settings: Settings) -> None:
        """Connect when first used."""
        self._url = url.rstrip("/")
        self._key: SecretStr | None = settings.proxy_upstream_key
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(settings.proxy_timeout_s, connect=_CONNECT_S, pool=_POOL_S),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_KEPT),
            # What the upstream gives to one caller is not sent for another.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def send(
        self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> httpx.Response:
        """Send a request and return its answer, of which only the head has been read.

        Raises ``UnavailableError`` when there is none.
        """
        request = self._client.build_request(
            method,
            self._url + path,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            content=body,
        )
        # The client's own name and wishes are in the headers; httpx adds none of its own.
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
        """Return what an upstream says of an error, without the server's key."""
        return (
            body
            if self._key is None
            else body.replace(self._key.get_secret_value().encode(), b"***")
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
