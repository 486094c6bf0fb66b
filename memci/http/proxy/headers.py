"""Which headers go on, to the upstream and back, and whose keys are in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from memci.access import PREFIX

KEY = "x-memci-key"
OWN = "x-memci-"
# Of one connection alone (RFC 9110, 7.6.1).
_OF_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# Who asks, and from where, is nothing to the upstream; what httpx writes itself.
_NOT_UPWARDS = frozenset(
    {
        "accept-encoding",
        "authorization",
        "content-length",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "origin",
        "referer",
        "x-real-ip",
    }
)
_NOT_BACK = frozenset({"date", "location", "server", "set-cookie"})


@dataclass(frozen=True, slots=True)
class Keys:
    """Two ``Authorization`` headers: one that opens memci, and one for the upstream."""

    memci: str | None = field(repr=False)
    upstream: str | None = field(repr=False)


def keys_in(headers: Mapping[str, str], upstream_key: SecretStr | None) -> Keys:
    """Tell which key is whose.

    A server that has a key for its upstream takes memci's from ``Authorization``, where every
    client puts its key, or from ``X-Memci-Key``. Without one ``Authorization`` is the upstream's,
    and memci's is ``X-Memci-Key``. What is memci's never goes upwards.
    """
    own, given = headers.get(KEY), headers.get("authorization")
    if upstream_key is not None:
        memci = f"Bearer {own.strip()}" if own else given
        return Keys(memci, f"Bearer {upstream_key.get_secret_value()}")
    _, _, token = (given or "").partition(" ")
    is_own = token.strip().startswith(PREFIX) or bool(own and token.strip() == own.strip())
    return Keys(f"Bearer {own.strip()}" if own else None, None if is_own else given)


def upwards(headers: Iterable[tuple[str, str]], authorization: str | None) -> list[tuple[str, str]]:
    """Return what goes to the upstream: neither cookies nor memci's own, and no compression.

    What comes back is read as it passes.
    """
    going = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in _NOT_UPWARDS and not name.startswith((OWN, "x-forwarded-"))
    ]
    going.append(("accept-encoding", "identity"))
    return [*going, ("authorization", authorization)] if authorization else going


def back(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what goes back to the client."""
    return [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in _NOT_BACK and not name.startswith(OWN)
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
