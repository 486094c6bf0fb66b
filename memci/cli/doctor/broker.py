"""Is the broker set so that it keeps what it is given, and do workers listen to every queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import redis
from celery import Celery

from memci.broker.diagnosis import RedisState, consumers, redis_state
from memci.broker.health import check_broker
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE
from memci.broker.redis_queues import StrayQueue, queue_shown, stray_queues
from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.cli.parts import PARTS
from memci.domain.agent import AGENT_ID_PATTERN
from memci.errors import BrokerUnavailableError

_MOST_STRAYS = 20
_LONGEST = 256  # bytes of a name that is printed whole
_PLAIN = bytes(each for each in range(0x20, 0x7F) if chr(each) not in "'\\")
_POOLS: Mapping[str, str] = {
    "lane": LANE_QUEUE,
    "compress": COMPRESS_QUEUE,
    "context": READ_QUEUE,
    "upkeep": UPKEEP_QUEUE,
}


def check_broker_and_workers(app: Celery, client: redis.Redis | None) -> Iterator[Finding]:
    """Look at the broker, then at who listens to it."""
    try:
        if client is None:
            check_broker(app)
            yield ok("broker", "an AMQP broker answers")
        else:
            yield from _redis(redis_state(client))
            yield from _strays(stray_queues(client, _MOST_STRAYS))
        yield from _workers(consumers(app))
    except BrokerUnavailableError as error:
        yield wrong("broker", str(error), "is it running, and does MEMCI_BROKER_URL fit?")


def _redis(state: RedisState) -> Iterator[Finding]:
    yield ok("broker", f"Redis {state.version} answers")
    if state.appendonly is None:
        yield note("broker", "it does not tell how it is set", "see queue settings in the README")
        return
    if state.appendonly:
        yield ok("persistence", "every message is in the append-only file")
    else:
        yield wrong(
            "persistence",
            "a restart of Redis loses messages that producers have sent",
            "set appendonly yes",
        )
    if state.maxmemory_policy == "noeviction":
        yield ok("memory", "no message is dropped to make room")
    else:
        text = f"maxmemory-policy is {state.maxmemory_policy}: messages may be dropped"
        yield wrong("memory", text, "set maxmemory-policy noeviction")
    yield _bell(state.keyspace_events or "")


def _strays(queues: Sequence[StrayQueue]) -> Iterator[Finding]:
    for each in queues:
        lie = "1 message lies" if each.messages == 1 else f"{each.messages} messages lie"
        how = f" with: redis-cli DEL {_quoted(each.key)}" if len(each.key) <= _LONGEST else ""
        yield wrong(
            "stray queue",
            f"'{queue_shown(each.key)}' is no agent's: {lie} there, and nobody takes them in",
            f"ids of agents match {AGENT_ID_PATTERN}: put the producer right, and remove the "
            f"queue{how}",
        )


def _quoted(key: bytes) -> str:
    """Return a key as a shell reads it, whatever is in it."""
    return "$'" + "".join(chr(each) if each in _PLAIN else f"\\x{each:02x}" for each in key) + "'"


def _bell(events: str) -> Finding:
    """The bell wants key-space events (K) of lists (l); A means all kinds."""
    if "K" in events and ("l" in events or "A" in events):
        return ok("bell", "agents' queues ring at once")
    return note(
        "bell",
        "agents' queues are found by the scan only, within a second",
        "set notify-keyspace-events Kl",
    )


def _workers(listening: Mapping[str, list[str]]) -> Iterator[Finding]:
    for pool, queue in _POOLS.items():
        workers = listening.get(queue, [])
        if workers:
            yield ok(f"{pool} pool", f"{len(workers)} on {queue}: {', '.join(sorted(workers))}")
        else:
            yield wrong(
                f"{pool} pool",
                f"no worker answers on {queue}",
                f"start one, with `memci up` or: {' '.join(PARTS[pool])}",
            )
