"""API keys: making one, knowing one again, and what it may do.

A key is ``memci_`` and 256 random bits; only its SHA-256 is kept. Keys this long need no slow
hash: nobody guesses them.
"""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum
from fnmatch import fnmatchcase

from memci.config.groups import ApiKey, KeyScope
from memci.domain.documents import is_collection
from memci.errors import ForbiddenError, UnauthorizedError

PREFIX = "memci_"


class Scope(IntEnum):
    """What a key may do; a higher scope may do all that a lower one may."""

    READ = 1
    WRITE = 2
    ADMIN = 3


def new_secret() -> tuple[str, str]:
    """Return a fresh key, to be shown once, and its hash."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, _hash(key)


def new_key(name: str, *, agents: str = "*", scope: KeyScope = "read") -> tuple[str, ApiKey]:
    """Return a fresh key, to be shown once, and the entry of MEMCI_API_KEYS with its hash."""
    key, its_hash = new_secret()
    return key, ApiKey(name=name, hash=its_hash, agents=agents, scope=scope)


class KeyRing:
    """The keys of a server at one moment."""

    def __init__(self, keys: Iterable[ApiKey], *, demanded: bool) -> None:
        """Take all keys; ``demanded``: nobody is served without one."""
        # Looking up a hash tells whoever measures its time nothing on the key itself.
        self._by_hash = {each.hash: each for each in keys}
        self.demanded = demanded

    def authenticate(self, authorization: str | None, now: datetime) -> ApiKey:
        """Return the key that an ``Authorization`` header holds.

        Raises ``UnauthorizedError``, also for a key that has expired.
        """
        kind, _, given = (authorization or "").partition(" ")
        key = self._by_hash.get(_hash(given.strip()))
        if kind.lower() != "bearer" or key is None or not self.holds(key, now):
            raise UnauthorizedError
        return key

    def holds(self, key: ApiKey, now: datetime) -> bool:
        """Return True if there is this key, unchanged, and it has not expired."""
        is_known = self._by_hash.get(key.hash) == key
        return is_known and (key.expires_at is None or now < key.expires_at)


def allows(key: ApiKey | None, needed: Scope) -> bool:
    """Return True if a key's scope is enough; None: there are no keys at all."""
    return key is None or Scope[key.scope.upper()] >= needed


def authorize(key: ApiKey | None, needed: Scope, agent_id: str | None) -> None:
    """Raise ``ForbiddenError`` when a key has too small a scope or is for other agents.

    It says nothing on whether the agent exists.
    """
    if key is None:
        return
    if not allows(key, needed):
        raise ForbiddenError(
            f"this needs an API key of scope {needed.name.lower()}; "
            f"the key {key.name!r} has {key.scope}"
        )
    if agent_id is not None and not is_for(key.agents, agent_id):
        whose = "collection" if is_collection(agent_id) else "agent"
        raise ForbiddenError(f"the key {key.name!r} is not for this {whose}")


def is_for(patterns: str, owner: str) -> bool:
    """Return True if a key with such patterns is for an agent, or for a ``collection/NAME``.

    A collection is meant by ``*`` or by a pattern that begins with ``collection/``, and not by one
    of agents whose names begin alike.
    """
    return any(
        fnmatchcase(owner, each)
        for each in patterns.split(",")
        if each == "*" or is_collection(each) == is_collection(owner)
    )


def is_within(patterns: str, others: str) -> bool:
    """Return True if a key with ``patterns`` is for no agent that one with ``others`` is not for.

    False also where that is hard to see: ``a*`` is within ``a*``, but not within ``a,a?*``.
    """
    # A ? of theirs is one character, which no * is.
    wider = [each.replace("?", "[!*]") for each in others.split(",")]
    return all(any(is_for(other, each) for other in wider) for each in patterns.split(","))


def _hash(key: str) -> str:
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
