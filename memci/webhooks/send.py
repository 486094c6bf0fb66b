"""Sends signed events to a webhook's address, as Standard Webhooks says.

The address comes from outside, so a request goes nowhere but there: the name is resolved and
checked, and the connection goes to the address that was checked. Redirects and proxies of the
environment are not followed, and of an answer only the beginning is read.
"""

import asyncio
import base64
import hmac
import secrets
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Self

import httpcore

_SECRET_PREFIX = "whsec_"  # noqa: S105 - its beginning only
_CONNECT_S = 5.0
_MOST_ANSWER_BYTES = 4096
_OK = range(200, 300)
_REDIRECTS = range(300, 400)
GONE = 410
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Platform services of Azure, at an address that is none of the special ones.
_REFUSED = IPv4Address("168.63.129.16")


class PrivateAddressError(Exception):
    """The name leads to a private address; MEMCI_WEBHOOKS_ALLOW_PRIVATE would allow it."""

    def __str__(self) -> str:
        return str(self.__doc__)


def is_public(address: str) -> bool:
    """Return True for an IP address of another host in the internet."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        # Translated addresses contain one of IPv4, which may be private.
        return ip in _GLOBAL_UNICAST and ip.is_global and ip.sixtofour is None
    return ip.is_global and not ip.is_multicast and ip != _REFUSED


class CheckedNetwork(httpcore.AnyIOBackend):
    """Connects to the addresses that it has checked."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    async def connect_tcp(  # the library's order of arguments
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers; raises ``PrivateAddressError``."""
        failure: Exception = httpcore.ConnectError()
        for address in await self._addresses(host, port):
            try:
                return await super().connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(each[4][0]) for each in found]
        if not self._allow_private and not all(map(is_public, addresses)):
            raise PrivateAddressError
        return addresses


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt; ``status`` is that of the answer, ``error`` why it failed."""

    status: int | None
    error: str | None
    elapsed_ms: int


class Sender:
    """Sends events to one address over one connection, one after another."""

    def __init__(
        self, url: str, secrets_: Sequence[str], *, timeout_s: float, allow_private: bool
    ) -> None:
        """Sign with all of these secrets."""
        self._url = url
        self._secrets = secrets_
        self._timeout_s = timeout_s
        self._pool = httpcore.AsyncConnectionPool(
            max_connections=1,
            keepalive_expiry=5.0,
            network_backend=CheckedNetwork(allow_private=allow_private),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.aclose()

    async def send(self, event_id: str, body: bytes) -> Outcome:
        """Send an event; never raises for what the other side does."""
        began, status = time.monotonic(), None
        try:
            async with asyncio.timeout(self._timeout_s):
                status = await self._post(event_id, body)
            error = None if status in _OK else _refusal(status)
        except TimeoutError:
            error = f"no answer within {self._timeout_s:g} s"
        except PrivateAddressError as refused:
            error = str(refused)
        except socket.gaierror:
            error = "the name has no address"
        except (httpcore.NetworkError, httpcore.TimeoutException, ssl.SSLError, OSError) as failure:
            error = f"no connection ({type(failure).__name__})"
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol) as failure:
            error = f"the answer is not HTTP ({type(failure).__name__})"
        return Outcome(status, error, round((time.monotonic() - began) * 1000))

    async def _post(self, event_id: str, body: bytes) -> int:
        timestamp = int(time.time())
        headers: dict[str | bytes, str | bytes] = {
            "content-type": "application/json",
            "user-agent": "memci",
            "webhook-id": event_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(
                sign(each, event_id, timestamp, body) for each in self._secrets
            ),
        }
        timeouts = {"connect": _CONNECT_S}
        async with self._pool.stream(
            "POST", self._url, headers=headers, content=body, extensions={"timeout": timeouts}
        ) as answer:
            size = 0
            async for chunk in answer.aiter_stream():
                size += len(chunk)
                if size > _MOST_ANSWER_BYTES:
                    break
            return int(answer.status)


def _refusal(status: int) -> str:
    if status in _REDIRECTS:
        return f"answered {status}: redirects are not followed"
    return f"answered {status}"


def new_secret() -> str:
    """Return a secret to sign with, to be shown once."""
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Return a signature of Standard Webhooks, version 1."""
    key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
