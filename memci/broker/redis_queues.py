"""Celery queues of agents on Redis: lists that exist only while they hold messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import redis
import structlog

from memci.broker.app import broker_errors
from memci.broker.intake_queues import Batch, end_bytes, note
from memci.broker.names import AGENT_PREFIX, agent_queue_name
from memci.domain.agent_id import check_agent_id
from memci.errors import InvalidInputError, shown_name

_log = structlog.get_logger(__name__)

# Celery pushes on the left, so the oldest message is at the tail. Redis measures each message:
# of one that alone is too large it returns only the ends.
_READ = """
local room, found = tonumber(ARGV[2]), {}
for back = 1, tonumber(ARGV[1]) do
    local message = redis.call('LINDEX', KEYS[1], -back)
    if not message then break end
    if #message > room then
        if back == 1 then
            found[1] = {#message, string.sub(message, 1, ARGV[3]), string.sub(message, -ARGV[3])}
        end
        break
    end
    room = room - #message
    found[back] = {#message, message, ''}
end
return found
"""
# Removes from the tail only the messages that were read: a queue that was flushed or filled anew
# meanwhile keeps the rest.
_REMOVE = """
for n = 1, #ARGV, 3 do
    local size, head, tail = tonumber(ARGV[n]), ARGV[n + 1], ARGV[n + 2]
    local message = redis.call('LINDEX', KEYS[1], -1)
    if not message or #message ~= size or string.sub(message, 1, #head) ~= head
        or string.sub(message, size - #tail + 1) ~= tail then return end
    redis.call('LTRIM', KEYS[1], 0, -2)
end
"""
_SCAN_COUNT = 1000
_MOST_WAITING = 5000
_MAX_WARNINGS = 1000


class RedisAgentQueues:
    """``AgentQueues`` on Redis; safe for threads."""

    def __init__(self, client: redis.Redis) -> None:
        """Use this client, which answers bytes."""
        self._client = client
        self._warned: set[str] = set()

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Ask for all of them in one round trip."""
        del queue_seen
        with self._client.pipeline(transaction=False) as pipe:
            for agent_id in agent_ids:
                pipe.exists(agent_queue_name(agent_id))
            found = pipe.execute()
        return [agent_id for agent_id, some in zip(agent_ids, found, strict=True) if some]

    def take(self, agent_id: str, limit: int, max_bytes: int) -> Batch:
        """Read from the tail, ``max_bytes`` in all at most."""
        key = agent_queue_name(agent_id)
        # Size, head and tail of each message; a whole message is all head.
        seen = cast(
            "list[tuple[int, bytes, bytes]]",
            self._client.eval(_READ, 1, key, limit, max_bytes, end_bytes(max_bytes)),
        )

        def remove() -> None:
            if seen:
                parts = (part for each in seen for part in each)
                self._client.eval(_REMOVE, 1, key, *parts)

        whole_or_note = (
            head if len(head) == size else note(size, head, tail) for size, head, tail in seen
        )
        return Batch(list(whole_or_note), confirm=remove)

    def waiting(self) -> list[str]:
        """Scan for queues; warn once of each that is no agent's."""
        found: set[str] = set()
        pattern = f"{AGENT_PREFIX}*"
        for key in self._client.scan_iter(match=pattern, count=_SCAN_COUNT, _type="LIST"):
            agent_id = agent_of_key(key)
            if agent_id is not None:
                found.add(agent_id)
            else:
                self._warn(key)
            if len(found) >= _MOST_WAITING:
                break
        return sorted(found)

    def empty(self, agent_id: str) -> int:
        """Count and remove the list in one transaction."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.llen(agent_queue_name(agent_id))
            pipe.unlink(agent_queue_name(agent_id))
            count, _ = pipe.execute()
        return int(count)

    def depth(self, queue: str) -> int:
        """Count the list."""
        return int(self._client.llen(queue))

    def _warn(self, key: bytes) -> None:
        shown = printable_queue_name(key)
        if shown not in self._warned and len(self._warned) < _MAX_WARNINGS:
            self._warned.add(shown)
            _log.warning("stray queue: its name is no agent's, nobody empties it", queue=shown)


@dataclass(frozen=True, slots=True)
class StrayQueue:
    """A queue with the name of an agent's queue, of an id that no agent can have."""

    key: bytes
    messages: int


def stray_queues(client: redis.Redis, max_count: int) -> list[StrayQueue]:
    """Return up to ``max_count`` queues without an agent, for `memci doctor`."""
    with broker_errors():
        keys = client.scan_iter(match=f"{AGENT_PREFIX}*", count=_SCAN_COUNT, _type="LIST")
        strays = islice((key for key in keys if agent_of_key(key) is None), max_count)
        # A scan may give a key twice.
        return [StrayQueue(key, int(client.llen(key))) for key in dict.fromkeys(strays)]


def printable_queue_name(key: bytes) -> str:
    """Return a queue's name, which anyone may choose, safe for a log."""
    return shown_name(key.decode(errors="replace"))


def agent_of_key(key: bytes) -> str | None:
    """Return the agent whose queue a key is; None when it is no agent's."""
    try:
        name = key.decode()
        if not name.startswith(AGENT_PREFIX):
            return None
        return check_agent_id(name.removeprefix(AGENT_PREFIX))
    except (UnicodeDecodeError, InvalidInputError):
        return None


_BINDINGS = (f"_kombu.binding.{AGENT_PREFIX}*", f"_kombu.binding_permanent.{AGENT_PREFIX}*")


def remove_binding_keys(client: redis.Redis) -> int:
    """Delete the binding keys of agents' queues, which delivery never uses; return how many."""
    removed = 0
    for pattern in _BINDINGS:
        keys = client.scan_iter(match=pattern, count=_SCAN_COUNT)
        while batch := list(islice(keys, _SCAN_COUNT)):
            removed += int(client.unlink(*batch))
    return removed
