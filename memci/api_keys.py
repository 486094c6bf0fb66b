"""API keys: making one, knowing one again, and what it may do.

A key is ``memci_`` and 256 random bits; only its SHA-256 is kept. Keys this long need no slow
hash: nobody guesses them.
"""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Literal

from memci.config.settings import ApiKey
from memci.domain.documents import is_collection
from memci.errors import ForbiddenError, UnauthorizedError

PREFIX = "memci_"


class Scope(IntEnum):
    """What a key may do; a higher scope may do all that a lower one may."""

    READ = 1
    WRITE = 2
    ADMIN = 3


def new_key(
    name: str, *, agents: str = "*", scope: Literal["read", "write", "admin"] = "read"
) -> tuple[str, ApiKey]:
    """Return a fresh key, to be shown once, and the entry of MEMCI_API_KEYS with its hash."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, ApiKey(name=name, hash=_hash(key), agents=agents, scope=scope)


def authenticate(keys: Sequence[ApiKey], authorization: str | None) -> ApiKey | None:
    """Return the key that an ``Authorization`` header holds; None when no keys are set at all.

    Compares with every key, in constant time. Raises ``UnauthorizedError``.
    """
    if not keys:
        return None
    kind, _, key = (authorization or "").partition(" ")
    given = _hash(key.strip())
    known = [each for each in keys if hmac.compare_digest(each.hash, given)]
    if kind.lower() != "bearer" or not known:
        raise UnauthorizedError
    return known[0]


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


def covers(patterns: str, asked: str) -> bool:
    """Return True if a key with such patterns is for all owners that the patterns asked for mean.

    Conservative where ``?`` is in the key's patterns: then it must name those asked for.
    """
    own = patterns.split(",")
    plain = ",".join(each for each in own if "?" not in each)
    return all(each in own or is_for(plain, each) for each in asked.split(","))


def _hash(key: str) -> str:
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
