"""Agents' queues on Redis: lists that exist only while they hold something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import redis

from memci.broker.names import AGENT_PREFIX, agent_queue_name
from memci.domain.agent import check_agent_id
from memci.errors import InvalidInputError

# Celery pushes on the left, so the oldest is at the tail. Removed is only what is still exactly
# what was read, one by one from the tail: a queue that was flushed or filled anew keeps the rest.
_REMOVE = """
local removed = 0
for _, seen in ipairs(ARGV) do
    if redis.call('LINDEX', KEYS[1], -1) ~= seen then return removed end
    redis.call('RPOP', KEYS[1])
    removed = removed + 1
end
return removed
"""
_SCAN_COUNT = 1000
_MOST_WAITING = 5000
_PORTION = 20
_ENOUGH_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RedisBatch:
    """Messages read from the tail of a list."""

    client: redis.Redis
    key: str
    raw: Sequence[bytes]

    def confirm(self) -> None:
        """Pop them, as far as they are still there."""
        if self.raw:
            self.client.eval(_REMOVE, 1, self.key, *self.raw)

    def abandon(self) -> None:
        """Do nothing: reading has removed nothing."""


class RedisAgentQueues:
    """``AgentQueues`` on Redis; safe for threads."""

    def __init__(self, client: redis.Redis) -> None:
        """Use this client, which answers bytes."""
        self._client = client

    def occupied(self, agent_ids: Sequence[str], *, rung: bool = False) -> list[str]:
        """Ask for all of them in one round trip; here it is never dear."""
        del rung
        with self._client.pipeline(transaction=False) as pipe:
            for agent_id in agent_ids:
                pipe.exists(agent_queue_name(agent_id))
            found = pipe.execute()
        return [agent_id for agent_id, some in zip(agent_ids, found, strict=True) if some]

    def take(self, agent_id: str, limit: int) -> RedisBatch:
        """Read from the tail, in small portions until there is enough to write at once."""
        key = agent_queue_name(agent_id)
        raw: list[bytes] = []
        while len(raw) < limit and sum(map(len, raw)) < _ENOUGH_BYTES:
            last = -len(raw) - 1
            first = last - min(_PORTION, limit - len(raw)) + 1
            portion = cast("list[bytes]", self._client.lrange(key, first, last))
            raw.extend(reversed(portion))
            if len(portion) < _PORTION:
                break
        return RedisBatch(self._client, key, raw)

    def waiting(self) -> list[str]:
        """Scan for queues; names that are no agent's are passed over."""
        found: set[str] = set()
        pattern = f"{AGENT_PREFIX}*"
        for key in self._client.scan_iter(match=pattern, count=_SCAN_COUNT, _type="LIST"):
            agent_id = agent_of_key(key)
            if agent_id is not None:
                found.add(agent_id)
            if len(found) >= _MOST_WAITING:
                break
        return sorted(found)

    def depth(self, queue: str) -> int:
        """Count the list."""
        return int(self._client.llen(queue))


def agent_of_key(key: bytes) -> str | None:
    """Return whose queue a key is; None when it is nobody's."""
    try:
        name = key.decode()
        if not name.startswith(AGENT_PREFIX):
            return None
        return check_agent_id(name.removeprefix(AGENT_PREFIX))
    except (UnicodeDecodeError, InvalidInputError):
        return None
