"""Authenticate requests by API key and limit their rate.

The rate is per API process; a proxy before them can enforce an exact limit.
"""

import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request

from memci.api_keys import Scope, authorize
from memci.config.settings import LOOPBACK
from memci.domain.agent_id import check_agent_id
from memci.domain.documents import collection_owner
from memci.errors import ForbiddenError, RateLimitedError
from memci.http.key_cache import KeyCache
from memci.runtime import Runtime


class RateLimit:
    """Allows ``per_minute`` requests of a key; 0: no limit. Safe for threads."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # name → tokens left, when

    def take(self, name: str) -> None:
        """Take one token of a key, or raise ``RateLimitedError`` with the wait for the next."""
        if not self._per_minute:
            return
        now = self._clock()
        with self._lock:
            left, since = self._buckets.get(name, (float(self._per_minute), now))
            left = min(left + (now - since) * self._per_minute / 60, self._per_minute)
            self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            raise RateLimitedError(
                f"the key {name!r} may send {self._per_minute} requests a minute; slow down",
                retry_after_s=(1 - left) * 60 / self._per_minute,
            )


class Gate:
    """Authorizes requests; safe for threads."""

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings
        self.keys = KeyCache(runtime.database, settings.api_keys)
        self._rates = RateLimit(settings.key_limits.requests_per_minute or 0)
        self.max_request_bytes = settings.http_max_request_bytes

    def admit(
        self, request: Request, needed: Scope, authorization: str | None = None
    ) -> str | None:
        """Check key, rate, agent id and rights; return the agent id, if the path has one.

        The key is in ``authorization``, or else in the header of that name.

        Raises ``UnauthorizedError``, ``RateLimitedError``, ``InvalidInputError`` or
        ``ForbiddenError``. Stores the key and its pattern of agents in ``request.state``.
        """
        if not self.keys.demanded:
            _check_local(request)
        if authorization is None:
            authorization = request.headers.get("authorization")
        key = self.keys.authenticate(authorization)
        if key is not None:
            self._rates.take(key.name)
        agent_id = request.path_params.get("agent")
        if agent_id is not None:
            check_agent_id(agent_id)
        collection = request.path_params.get("collection")
        owner = agent_id if collection is None else collection_owner(collection)
        authorize(key, needed, owner)
        request.state.key = key
        request.state.agents = key.agents if key else "*"
        return agent_id


def _check_local(request: Request) -> None:
    """Refuse requests from a page of another site through a browser on this machine.

    Without keys the server listens on loopback only; a foreign ``Host`` (DNS rebinding) or an
    ``Origin`` of another host or port shows that the sender is not a program of this machine.
    """
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if host and _host(host) not in LOOPBACK:
        raise ForbiddenError(
            "without API keys only this machine is served, and the host header names another; make "
            "a key with `memci keys new` to serve others"
        )
    if origin and origin.partition("//")[2].lower() != host.lower():
        raise ForbiddenError(
            "without API keys no page of another site is served, and the origin header names "
            "another; make a key with `memci keys new` to serve others"
        )


def check_same_origin(request: Request) -> None:
    """Refuse requests from a page of another site through a browser, as MCP demands."""
    origin = request.headers.get("origin")
    host, origin_host = _host(request.headers.get("host", "")), _host(origin or "")
    if origin and origin_host != host and not {host, origin_host} <= LOOPBACK:
        raise ForbiddenError("the origin header names another site than the one that is asked")


def _host(value: str) -> str | None:
    try:
        return urlsplit(value if "//" in value else f"//{value}").hostname
    except ValueError:
        return None
