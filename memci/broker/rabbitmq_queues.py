"""Celery queues of agents on RabbitMQ; producers declare them, memci never does.

RabbitMQ does not say which queues hold something, and asking for one that is not there is an
error that it logs. So the bell looks at the queues that it knows to exist, at those named in
``memci.announce``, and slowly at lanes of which it knows nothing. Who creates an agent's queue
therefore publishes, after the first message, one more to ``memci.announce`` by the nameless
exchange, with the agent's id as its body. An exchange bound to it with the routing keys of
agents' queues does as well.
"""

from __future__ import annotations

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

from memci.broker.agent_queues import Batch, end_bytes, note
from memci.broker.names import AGENT_PREFIX, ANNOUNCE_QUEUE, agent_queue_name
from memci.domain.agent import check_agent_id
from memci.errors import BrokerUnavailableError, InvalidInputError

# What RabbitMQ adds differs from one delivery to the next; a letter without an id is known by
# its bytes.
_BROKER_HEADERS = "x-"


def raw_letter(message: Any, most_bytes: int) -> bytes:
    """Return an ``amqp.Message`` in its envelope, or the note on one that is too large."""
    body = message.body.encode() if isinstance(message.body, str) else bytes(message.body)
    size = len(body)
    if size <= most_bytes:
        return _envelope(message, body)
    end = end_bytes(most_bytes)
    # The body of two messages may be the same; their headers say which is which.
    return note(size, body[:end], body[-end:] + _envelope(message, b""))


def _envelope(message: Any, body: bytes) -> bytes:
    """Wrap a message: the same one gives the same bytes however often it comes."""
    properties = message.properties
    headers = properties.get("application_headers") or {}
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": properties.get("content_encoding"),
            "content-type": properties.get("content_type"),
            "headers": {
                name: value
                for name, value in headers.items()
                if not name.startswith(_BROKER_HEADERS)
            },
            "properties": {
                "body_encoding": "base64",
                "correlation_id": properties.get("correlation_id"),
                "reply_to": properties.get("reply_to"),
            },
        },
        # AMQP knows times, decimals and bytes; none of them is in a header that we read.
        default=str,
        # A message that comes again may bring its headers in another order.
        sort_keys=True,
    ).encode()


class AmqpLines:
    """A pool that grows as far as it is used at once; safe for threads.

    The broker closes a connection that is silent for about two heartbeats and puts back what it
    was holding. That frees what a frozen process has taken; a connection that lay idle for one
    heartbeat is therefore not trusted, but replaced.
    """

    def __init__(self, app: Celery, heartbeat_s: int) -> None:
        """Connect as ``app`` does, with this heartbeat."""
        self._app = app
        self._heartbeat_s = heartbeat_s
        self._idle: deque[tuple[float, Any]] = deque()
        self._lock = Lock()

    @contextmanager
    def lend(self) -> Iterator[Any]:
        """Lend a kombu connection; one that leaves by an exception is not used again."""
        connection = self._fresh() or self._dial()
        try:
            yield connection
        except BaseException:
            connection.collect()
            raise
        with self._lock:
            self._idle.append((time.monotonic(), connection))

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            closing, self._idle = self._idle, deque()
        for _, connection in closing:
            connection.collect()

    def _fresh(self) -> Any | None:
        trusted_from = time.monotonic() - self._heartbeat_s
        with self._lock:
            while self._idle and self._idle[0][0] < trusted_from:
                self._idle.popleft()[1].collect()
            return self._idle.pop()[1] if self._idle else None

    def _dial(self) -> Any:
        connection = self._app.connection_for_read(heartbeat=self._heartbeat_s)
        connection.connect()
        return connection


_MOST_KNOWN = 10_000
_MOST_WAITING = 5000
_REFILL_S = 60.0
_FIRST_ROUND = 100


class Known:
    """Agents whose queue was seen to exist; safe for threads."""

    def __init__(self) -> None:
        """Know none."""
        self._agents: dict[str, None] = {}
        self._lock = Lock()

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._agents

    def add(self, agent_id: str) -> None:
        """Remember one; the one that had its turn longest ago is forgotten for it."""
        with self._lock:
            if agent_id not in self._agents and len(self._agents) >= _MOST_KNOWN:
                del self._agents[next(iter(self._agents))]
            self._agents.setdefault(agent_id)

    def discard(self, agent_id: str) -> None:
        """Forget one."""
        with self._lock:
            self._agents.pop(agent_id, None)

    def next(self, most: int) -> list[str]:
        """Return those whose turn it is; they go to the end of the line."""
        with self._lock:
            agents = list(islice(self._agents, most))
            for each in agents:
                self._agents[each] = self._agents.pop(each)
        return agents


class Strangers:
    """Agents of whom it is not known whether they have a queue; for one thread.

    Most never have: each question is an error in the broker's log. So they take turns, one at a
    time; only the first round, when nothing is known yet, is quick.
    """

    def __init__(self, agents: Callable[[], Iterable[str]]) -> None:
        """Begin each round with what ``agents`` returns."""
        self._agents = agents
        self._line: deque[str] = deque(maxlen=_MOST_WAITING)
        self._rounds = 0
        self._refill_at = 0.0

    def prefer(self, agent_ids: Iterable[str]) -> None:
        """Let these be next."""
        self._line.extendleft(agent_ids)

    def next(self) -> list[str]:
        """Return those whose turn it is."""
        if not self._line and time.monotonic() >= self._refill_at:
            self._line.extend(self._agents())
            self._refill_at = time.monotonic() + _REFILL_S
            self._rounds += 1
        turn = _FIRST_ROUND if self._rounds <= 1 else 1
        return [self._line.popleft() for _ in range(min(turn, len(self._line)))]


# All of a window is sent at once, however large its messages are. Part of it cannot be given back:
# quorum queues put what comes back behind what came back before, and so out of its order. What
# one message may have is RabbitMQ's ``max_message_size``.
_WINDOW = 20
# While another consumer is the active one, nothing comes.
_PATIENCE_S = 1.0
# Who was fenced off gives back what it has taken at once; who is frozen, after some heartbeats.
_LEAVING_S = 3.0
_LOOK_EVERY_S = 0.02
_CONSUMED = (
    "a worker still holds messages of this agent's queue; try again in a minute, and stop workers "
    "that subscribe to it alone"
)
# What one look of the bell asks for.
_KNOWN_AT_ONCE = 200
_ANNOUNCED_AT_ONCE = 1000
_ANNOUNCE = {"x-queue-type": "quorum", "x-max-length": 100_000}


class AmqpBatch:
    """Messages that the broker holds back for us until they are acknowledged."""

    def __init__(
        self, channel: Any, consumer: str, got: Sequence[tuple[int, bytes]], lent: ExitStack
    ) -> None:
        """Keep delivery tags and messages, the channel, and the loan of its connection."""
        self.raw: Sequence[bytes] = [raw for _, raw in got]
        self._channel = channel
        self._consumer = consumer
        self._last = got[-1][0]
        self._lent = lent

    def confirm(self) -> None:
        """Acknowledge them all."""
        with self._lent:
            # Cancelled first, or the acknowledgement would bring the next ones.
            self._channel.basic_cancel(self._consumer)
            self._channel.basic_ack(self._last, multiple=True)
            self._channel.close()

    def abandon(self) -> None:
        """Close the channel: the broker puts them back in their places."""
        with self._lent:
            self._channel.close()


class EmptyBatch:
    """There was nothing to take."""

    raw: Sequence[bytes] = ()

    def confirm(self) -> None:
        """Do nothing."""

    def abandon(self) -> None:
        """Do nothing."""


class AmqpAgentQueues:
    """``AgentQueues`` on RabbitMQ; safe for threads, except ``waiting``, which is one bell's."""

    def __init__(
        self, app: Celery, recent_agents: Callable[[], Iterable[str]], *, heartbeat_s: int
    ) -> None:
        """Ask also for queues of ``recent_agents``, some thousands at most.

        Three heartbeats have to pass within a lease: by then the broker has put back what a
        frozen holder of it had taken.
        """
        self._lines = AmqpLines(app, heartbeat_s)
        self._known = Known()
        self._strangers = Strangers(recent_agents)
        self._can_announce = False

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Ask for the queues that are known to exist; for all of them with ``queue_seen``."""
        return self._occupied([each for each in agent_ids if queue_seen or each in self._known])

    def take(self, agent_id: str, limit: int, most_bytes: int) -> Batch:
        """Take up to ``limit`` messages, 20 at most, as a consumer; ``most_bytes`` is for each.

        ``basic.get`` needs none, but RabbitMQ refuses it where one consumer at a time is active,
        and only there do messages that one holds keep back the later ones.
        """
        with ExitStack() as lent:
            connection = lent.enter_context(self._lines.lend())
            channel = connection.channel()
            wanted = min(limit, _WINDOW, self._ask(channel, agent_id) or 0)
            if wanted:
                got: list[tuple[int, bytes]] = []

                def keep(message: Any) -> None:
                    # At once: of one that is too large only a note stays in memory.
                    got.append((message.delivery_tag, raw_letter(message, most_bytes)))

                channel.auto_decode = False
                channel.basic_qos(0, wanted, a_global=False)
                consumer = channel.basic_consume(agent_queue_name(agent_id), callback=keep)
                _drain(connection, got, wanted)
                if got:
                    return AmqpBatch(channel, consumer, got, lent.pop_all())
            channel.close()
            return EmptyBatch()

    def waiting(self) -> list[str]:
        """Return whose queues hold something, as far as one look reaches."""
        announced = self._announced()
        asked = [*announced, *self._known.next(_KNOWN_AT_ONCE), *self._strangers.next()]
        found = self._occupied(dict.fromkeys(asked))
        # An announcement may overtake its message.
        self._strangers.prefer(each for each in announced if each not in self._known)
        return sorted(found)

    def empty(self, agent_id: str) -> int:
        """Purge the queue; 0 when there is none.

        What a consumer has taken and not acknowledged comes back when it ends, so it is waited for.
        """
        name = agent_queue_name(agent_id)
        with self._lines.lend() as connection:
            channel = connection.channel()
            try:
                if not _is_left_alone(channel, name):
                    raise BrokerUnavailableError(_CONSUMED)
                purged = int(channel.queue_purge(name))
            except NotFound:
                return 0  # and the channel is closed
            channel.close()
        return purged

    def depth(self, queue: str) -> int:
        """Count by a passive declaration; 0 when there is no such queue."""
        with self._lines.lend() as connection:
            channel = connection.channel()
            count = _count(channel, queue)
            channel.close()
        return count or 0

    def close(self) -> None:
        """Close the connections that nobody uses."""
        self._lines.close()

    def _occupied(self, agent_ids: Iterable[str]) -> list[str]:
        found = []
        with self._lines.lend() as connection:
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
        with self._lines.lend() as connection:
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


def _is_left_alone(channel: Any, queue: str) -> bool:
    """Wait until nobody consumes a queue; False if somebody does for too long."""
    deadline = time.monotonic() + _LEAVING_S
    while channel.queue_declare(queue, passive=True).consumer_count:
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _drain(connection: Any, got: Sequence[Any], wanted: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while len(got) < wanted and (left_s := deadline - time.monotonic()) > 0:
        try:
            connection.drain_events(timeout=left_s)
        except TimeoutError:
            return


def _declare_announce(channel: Any) -> None:
    try:
        channel.queue_declare(ANNOUNCE_QUEUE, durable=True, auto_delete=False, arguments=_ANNOUNCE)
        channel.close()
    except PreconditionFailed:
        # Declared before, in another way: that is for who runs the broker to decide.
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
