"""Celery queues of agents on RabbitMQ; producers declare them, memci never does.

RabbitMQ cannot list the queues that hold something, and logs an error when it is asked for one that
does not exist. So the queue watch looks at the queues that it knows to exist, at those named in
``memci.announce``, and slowly at other agents. A producer that creates an agent's queue therefore
publishes, after the first message, one more to ``memci.announce`` by the nameless exchange, with
the agent's id as its body. An exchange bound to it with the routing keys of agents' queues does as
well.
"""

import base64
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from threading import Lock
from typing import Any

from amqp import NotFound, PreconditionFailed
from celery import Celery

from memci.broker.intake_queues import Batch, end_bytes, note
from memci.broker.names import AGENT_PREFIX, ANNOUNCE_QUEUE, agent_queue_name
from memci.domain.agent_id import check_agent_id
from memci.errors import BrokerUnavailableError, InvalidInputError


def raw_message(message: Any, max_bytes: int) -> bytes:
    """Return a message of amqp or kombu in its envelope, or the note on one that is too large."""
    body = message.body.encode() if isinstance(message.body, str) else bytes(message.body)
    size = len(body)
    if size <= max_bytes:
        return _envelope(message, body)
    end = end_bytes(max_bytes)
    # Two messages may have the same body; their headers tell them apart.
    return note(size, body[:end], body[-end:] + _envelope(message, b""))


def _envelope(message: Any, body: bytes) -> bytes:
    """Wrap a message: the same one gives the same bytes on each delivery."""
    properties = message.properties
    # RabbitMQ's own headers differ from one delivery to the next.
    headers = {
        name: value
        for name, value in (properties.get("application_headers") or {}).items()
        if not name.startswith("x-")
    }
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": properties.get("content_encoding"),
            "content-type": properties.get("content_type"),
            "headers": headers,
            "properties": {
                "body_encoding": "base64",
                "correlation_id": properties.get("correlation_id"),
                "reply_to": properties.get("reply_to"),
            },
        },
        default=str,  # times, decimals and bytes; we read no header that holds one
        sort_keys=True,  # headers may come in another order on the next delivery
    ).encode()


class ConnectionPool:
    """AMQP connections, one for each concurrent user; safe for threads.

    The broker closes a connection that is silent for about two heartbeats and puts back its
    messages; so a frozen process loses what it has taken. A connection that lay idle for one
    heartbeat may be closed, and is replaced.
    """

    def __init__(self, app: Celery, heartbeat_s: int) -> None:
        """Connect as ``app`` does, with this heartbeat."""
        self._app = app
        self._heartbeat_s = heartbeat_s
        self._idle: deque[tuple[float, Any]] = deque()
        self._lock = Lock()

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Yield a kombu connection; it is closed after an exception."""
        connection = self._idle_connection() or self._connect()
        try:
            yield connection
        except BaseException:
            connection.collect()
            raise
        with self._lock:
            self._idle.append((time.monotonic(), connection))

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            closing, self._idle = self._idle, deque()
        for _, connection in closing:
            connection.collect()

    def _idle_connection(self) -> Any | None:
        trusted_from = time.monotonic() - self._heartbeat_s
        with self._lock:
            while self._idle and self._idle[0][0] < trusted_from:
                self._idle.popleft()[1].collect()
            return self._idle.pop()[1] if self._idle else None

    def _connect(self) -> Any:
        connection = self._app.connection_for_read(heartbeat=self._heartbeat_s)
        connection.connect()
        return connection


_MAX_KNOWN = 10_000
_MAX_UNKNOWN = 5000
_REFILL_S = 60.0
_FIRST_ROUND = 100


class KnownQueues:
    """Agents whose queues are known to exist, in rotation; safe for threads."""

    def __init__(self) -> None:
        """Begin empty."""
        self._agents: dict[str, None] = {}
        self._lock = Lock()

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._agents

    def add(self, agent_id: str) -> None:
        """Add an agent; if there are too many, remove the one whose turn was longest ago."""
        with self._lock:
            if agent_id not in self._agents and len(self._agents) >= _MAX_KNOWN:
                del self._agents[next(iter(self._agents))]
            self._agents.setdefault(agent_id)

    def discard(self, agent_id: str) -> None:
        """Remove one."""
        with self._lock:
            self._agents.pop(agent_id, None)

    def next(self, count: int) -> list[str]:
        """Return the next agents; they go to the end of the line."""
        with self._lock:
            agents = list(islice(self._agents, count))
            for each in agents:
                self._agents[each] = self._agents.pop(each)
        return agents


class UnknownQueues:
    """Agents whose queues may exist, in rotation; for one thread.

    Most have none, and each question is an error in the broker's log. So only one is asked for at
    a time, except in the first round, when nothing is known yet.
    """

    def __init__(self, agents: Callable[[], Iterable[str]]) -> None:
        """Begin each round with what ``agents`` returns."""
        self._agents = agents
        self._line: deque[str] = deque(maxlen=_MAX_UNKNOWN)
        self._rounds = 0
        self._refill_at = 0.0

    def prefer(self, agent_ids: Iterable[str]) -> None:
        """Put these at the front."""
        self._line.extendleft(agent_ids)

    def next(self) -> list[str]:
        """Return the next agents."""
        if not self._line and time.monotonic() >= self._refill_at:
            self._line.extend(self._agents())
            self._refill_at = time.monotonic() + _REFILL_S
            self._rounds += 1
        count = _FIRST_ROUND if self._rounds <= 1 else 1
        return [self._line.popleft() for _ in range(min(count, len(self._line)))]


# The broker sends a whole window at once, however large its messages are (``max_message_size``
# limits each). A part of it cannot be given back: quorum queues would change the order.
_WINDOW = 20
# While another consumer is the active one, nothing comes.
_TIMEOUT_S = 1.0
# A worker that was fenced off gives back its messages at once; a frozen one after some heartbeats.
_LEAVING_S = 3.0
_LOOK_EVERY_S = 0.02
_CONSUMED = (
    "a worker still holds messages of this agent's queue; try again in a minute, and stop workers "
    "that subscribe to it alone"
)
# How many one look of the queue watch asks for.
_KNOWN_AT_ONCE = 200
_ANNOUNCED_AT_ONCE = 1000
_ANNOUNCE = {"x-queue-type": "quorum", "x-max-length": 100_000}


def _held_batch(
    channel: Any, consumer: str, got: Sequence[tuple[int, bytes]], stack: ExitStack
) -> Batch:
    """Return the batch of (delivery tag, message) pairs; ``stack`` gives the connection back."""

    def acknowledge() -> None:
        with stack:
            # First cancel, or the acknowledgement would bring the next messages.
            channel.basic_cancel(consumer)
            channel.basic_ack(got[-1][0], multiple=True)
            channel.close()

    def put_back() -> None:  # the broker does it, and keeps their places
        with stack:
            channel.close()

    return Batch([raw for _, raw in got], acknowledge, put_back)


class AmqpAgentQueues:
    """``AgentQueues`` on RabbitMQ; safe for threads, except ``waiting``, for one queue watch."""

    def __init__(
        self, app: Celery, recent_agents: Callable[[], Iterable[str]], *, heartbeat_s: int
    ) -> None:
        """Ask also for queues of ``recent_agents``, some thousands at most.

        Three heartbeats must fit into a lease: by then the broker has put back the messages that a
        frozen holder of it had taken.
        """
        self._pool = ConnectionPool(app, heartbeat_s)
        self._known = KnownQueues()
        self._unknown = UnknownQueues(recent_agents)
        self._can_announce = False

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Ask for the queues that are known to exist; for all of them with ``queue_seen``."""
        return self._occupied([each for each in agent_ids if queue_seen or each in self._known])

    def take(self, agent_id: str, limit: int, max_bytes: int) -> Batch:
        """Take up to ``limit`` messages, 20 at most, as a consumer; ``max_bytes`` is for each.

        RabbitMQ refuses ``basic.get`` on queues with a single active consumer, and only on those
        do the messages that one consumer holds keep back the later ones.
        """
        with ExitStack() as stack:
            connection = stack.enter_context(self._pool.connection())
            channel = connection.channel()
            count = min(limit, _WINDOW, self._ask(channel, agent_id) or 0)
            if count:
                got: list[tuple[int, bytes]] = []

                def keep(message: Any) -> None:
                    # At once: of a message that is too large only a note stays in memory.
                    got.append((message.delivery_tag, raw_message(message, max_bytes)))

                channel.auto_decode = False
                channel.basic_qos(0, count, a_global=False)
                consumer = channel.basic_consume(agent_queue_name(agent_id), callback=keep)
                _drain(connection, got, count)
                if got:
                    return _held_batch(channel, consumer, got, stack.pop_all())
            channel.close()
            return Batch()

    def waiting(self) -> list[str]:
        """Return some agents whose queues hold messages."""
        announced = self._announced()
        asked = [*announced, *self._known.next(_KNOWN_AT_ONCE), *self._unknown.next()]
        found = self._occupied(dict.fromkeys(asked))
        # An announcement may overtake its message.
        self._unknown.prefer(each for each in announced if each not in self._known)
        return sorted(found)

    def empty(self, agent_id: str) -> int:
        """Purge the queue; 0 when there is none.

        Waits until no consumer is left: its unacknowledged messages come back when it ends.
        """
        name = agent_queue_name(agent_id)
        with self._pool.connection() as connection:
            channel = connection.channel()
            try:
                if not _has_no_consumer(channel, name):
                    raise BrokerUnavailableError(_CONSUMED)
                purged = int(channel.queue_purge(name))
            except NotFound:
                return 0  # and the channel is closed
            channel.close()
        return purged

    def depth(self, queue: str) -> int:
        """Count by a passive declaration; 0 when there is no such queue."""
        with self._pool.connection() as connection:
            channel = connection.channel()
            count = _count(channel, queue)
            channel.close()
        return count or 0

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _occupied(self, agent_ids: Iterable[str]) -> list[str]:
        found = []
        with self._pool.connection() as connection:
            channel = connection.channel()
            for agent_id in agent_ids:
                if not channel.is_open:
                    channel = connection.channel()
                if self._ask(channel, agent_id):
                    found.append(agent_id)
            channel.close()
        return found

    def _ask(self, channel: Any, agent_id: str) -> int | None:
        count = _count(channel, agent_queue_name(agent_id))
        if count is None:
            self._known.discard(agent_id)
        else:
            self._known.add(agent_id)
        return count

    def _announced(self) -> list[str]:
        with self._pool.connection() as connection:
            if not self._can_announce:
                _declare_announce(connection.channel())
                self._can_announce = True
            channel = connection.channel()
            agents = dict.fromkeys(_announcements(channel))
            channel.close()
        return list(agents)


def _count(channel: Any, queue: str) -> int | None:
    """Return how many messages wait; None, and the channel is closed, without such a queue."""
    try:
        return int(channel.queue_declare(queue, passive=True).message_count)
    except NotFound:
        return None


def _has_no_consumer(channel: Any, queue: str) -> bool:
    """Wait until a queue has no consumer; return False after a time-out."""
    deadline = time.monotonic() + _LEAVING_S
    while channel.queue_declare(queue, passive=True).consumer_count:
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _drain(connection: Any, got: Sequence[Any], count: int) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while len(got) < count and (left_s := deadline - time.monotonic()) > 0:
        try:
            connection.drain_events(timeout=left_s)
        except TimeoutError:
            return


def _declare_announce(channel: Any) -> None:
    try:
        channel.queue_declare(ANNOUNCE_QUEUE, durable=True, auto_delete=False, arguments=_ANNOUNCE)
        channel.close()
    except PreconditionFailed:
        # Declared before with other arguments, by whoever runs the broker.
        return


def _announcements(channel: Any) -> Iterator[str]:
    for _ in range(_ANNOUNCED_AT_ONCE):
        message = channel.basic_get(ANNOUNCE_QUEUE, no_ack=True)
        if message is None:
            return
        key = message.delivery_info["routing_key"]
        named = key.removeprefix(AGENT_PREFIX) if key.startswith(AGENT_PREFIX) else message.body
        try:
            yield check_agent_id(named.decode() if isinstance(named, bytes) else named)
        except (InvalidInputError, UnicodeDecodeError):
            continue
