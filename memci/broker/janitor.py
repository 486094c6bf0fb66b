"""Removes what producers leave in Redis that name an agent's queue by a mere string."""

from __future__ import annotations

import redis

from memci.broker.names import AGENT_PREFIX

_PATTERNS = (f"_kombu.binding.{AGENT_PREFIX}*", f"_kombu.binding_permanent.{AGENT_PREFIX}*")
_COUNT = 1000


def remove_binding_keys(client: redis.Redis) -> int:
    """Delete the binding keys of agents' queues; they are never used for delivery.

    Returns how many there were.
    """
    removed = 0
    for pattern in _PATTERNS:
        keys: list[bytes] = []
        for key in client.scan_iter(match=pattern, count=_COUNT):
            keys.append(key)
            if len(keys) >= _COUNT:
                removed += int(client.unlink(*keys))
                keys.clear()
        if keys:
            removed += int(client.unlink(*keys))
    return removed
