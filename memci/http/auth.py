"""Authenticate requests by API key and limit their rate.

The rate is per API process; a proxy before them can enforce an exact limit.
"""

import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.requests import Request

from memci.api_keys import Scope, authorize
from memci.commands.audit import name_caller
from memci.config.groups import ApiKey
from memci.config.settings import LOOPBACK
from memci.domain.agent_id import check_agent_id
from memci.domain.documents import collection_owner
from memci.errors import ForbiddenError, RateLimitedError, UnauthorizedError
from memci.http.key_cache import KeyCache
from memci.runtime import Runtime
from memci.storage.key_usage import Charge


@dataclass(frozen=True, slots=True)
class Rate:
    """What is left of a rate."""

    limit: int
    remaining: int
    reset_s: float  # until all is there again

    @property
    def headers(self) -> dict[str, str]:
        """The headers that clients read."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.reset_s)),
        }


class RateLimit:
    """Limits what each name does in a minute; safe for threads.

    Of more than ``most`` names, the ones that did nothing for the longest time are forgotten.
    """

    def __init__(self, *, most: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens left, when

    def take(self, name: str, per_minute: int) -> Rate:
        """Take one of a name's tokens, or raise ``RateLimitedError`` with the wait for the next."""
        now = self._clock()
        with self._lock:
            left, since = self._buckets.pop(name, (float(per_minute), now))
            left = min(left + (now - since) * per_minute / 60, per_minute)
            after = left - 1 if left >= 1 else left
            self._buckets[name] = (after, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        if left < 1:
            raise RateLimitedError(
                f"at most {per_minute} requests a minute are accepted; slow down",
                retry_after_s=(1 - left) * 60 / per_minute,
                limit=per_minute,
            )
        return Rate(per_minute, int(after), (per_minute - after) * 60 / per_minute)


# Requests without a valid key from one address, in a minute. A valid key is not refused: whoever
# shares an address with others does not suffer from them.
FAILED_PER_MINUTE = 60


class Gate:
    """Authorizes requests; safe for threads."""

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings
        self.keys = KeyCache(runtime.database, settings.api_keys)
        self._limits = settings.key_limits
        self._rates = RateLimit()
        self._failed = RateLimit()
        self.max_request_bytes = settings.http_max_request_bytes

    def admit(
        self, request: Request, needed: Scope, authorization: str | None = None
    ) -> str | None:
        """Check key, rate, agent id and rights; return the agent id, if the path has one.

        The key is in ``authorization``, or else in the header of that name.

        Raises ``UnauthorizedError``, ``RateLimitedError``, ``InvalidInputError`` or
        ``ForbiddenError``. Stores in ``request.state`` the key, its pattern of agents, the charge
        for its quotas, and headers of the answer.
        """
        if not self.keys.demanded:
            _check_local(request)
        if authorization is None:
            authorization = request.headers.get("authorization")
        try:
            key = self.keys.authenticate(authorization)
        except UnauthorizedError:
            if authorization != "":  # the console without a session: nobody tries a key
                self._failed.take(_address(request), FAILED_PER_MINUTE)
            raise
        request.state.key = key
        request.state.request_id = _request_id(request)
        request.state.headers = {"X-Request-Id": request.state.request_id}
        name_caller(key.name if key else None, request.state.request_id)
        request.state.agents = key.agents if key else "*"
        request.state.paying = self._admit_key(request, key) if key else None
        agent_id = request.path_params.get("agent")
        if agent_id is not None:
            check_agent_id(agent_id)
        collection = request.path_params.get("collection")
        owner = agent_id if collection is None else collection_owner(collection)
        authorize(key, needed, owner)
        return agent_id

    def _admit_key(self, request: Request, key: ApiKey) -> Charge | None:
        """Check the rate of a key; return the charge if it has a quota."""
        limits = key.limits.over(self._limits)
        if limits.requests_per_minute:
            rate = self._rates.take(key.name, limits.requests_per_minute)
            request.state.headers |= rate.headers
        has_quota = limits.messages_per_day or limits.stored_bytes or limits.agents
        return Charge(key.name, key.agents, limits) if has_quota else None


_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def _request_id(request: Request) -> str:
    """Return the id that the caller gave, if it is one, or a new one."""
    given = request.headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex


def _address(request: Request) -> str:
    """Return the address of the client; of IPv6 its network, which one client has as a whole."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return str(ip_network((int(address) >> 64 << 64, 64))) if address.version == 6 else host  # noqa: PLR2004


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
