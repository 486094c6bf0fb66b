"""Producers and readers of the soak: threads that send until they are stopped."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any
from uuid import UUID

import httpx
import psycopg
import redis

from memci.broker.app import BROKER_ERRORS, make_producer
from memci.broker.names import CREATE_TASK, agent_queue_name, queue
from memci.broker.redis_queues import RedisAgentQueues
from memci.domain.token_counts import LIST_OVERHEAD, Utterance
from memci.errors import ConfigurationError
from memci.message import Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.soak.ledger import NEVER, NOW, OVER_BUDGET, Ledger, Stream
from tests.soak.stack import Stack

QUIET, NOISY = "quiet", "noisy"
_TIMEOUT_S = 60.0
_LONGEST_PAUSE_S = 3.0
_DOUBLED, _DELAYED = 0.1, 0.05  # shares of the requests
_BULK_BATCH, _BULK_AGENT = 250, 10_000  # messages
_CHATS, _CHAT_AGENT = 8, 400  # agents at a time, messages of each
_BACKLOG = 400  # messages of the noisy agent that wait
_QUIET_EVERY_S = 5.0
_WINDOW = 4  # tasks of a Celery producer that are not stored yet
_SLOW_S = 120.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Messages per second that are sent: stored and indexed only, and made into memories."""

    bulk: float
    chat: float


@dataclass
class Load:
    """The threads of one run."""

    stack: Stack
    ledger: Ledger
    rates: Rates
    seed: int
    # Since when the broker's data may have been lost, for each such fault.
    data_faults: list[float]
    stopping: Event = field(default_factory=Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send during the block; at its end, wait until everything sent is acknowledged."""
        loops = (self._bulk, self._chat, self._celery, self._noisy, self._quiet, self._read,
                 self._read)  # fmt: skip
        threads = [
            Thread(target=self._guarded, args=(loop, number), name=loop.__name__)
            for number, loop in enumerate(loops)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stopping.set()
            for thread in threads:
                thread.join()

    def _guarded(self, loop: Callable[[random.Random], None], number: int) -> None:
        try:
            loop(random.Random(f"{self.seed}/{number}"))
        except Exception as error:  # a thread that ends early would make the soak weaker
            self.ledger.breaks(f"the soak's own {loop.__name__} failed: {error!r}")
            raise

    def _bulk(self, rng: random.Random) -> None:
        """Messages that are stored and indexed; another agent after some thousands."""
        with self._producer(rng) as http:
            number = 0
            while not self.stopping.is_set():
                stream = self.ledger.stream(f"bulk-{number}", "http", NEVER)
                number += 1
                while stream.sent < _BULK_AGENT and not self.stopping.is_set():
                    http.send(stream, size := rng.randint(1, 2 * _BULK_BATCH - 1))
                    self.stopping.wait(size / self.rates.bulk)

    def _chat(self, rng: random.Random) -> None:
        """Messages that become memories, of several agents at a time."""
        with self._producer(rng) as http:
            streams: list[Stream] = []
            number = 0
            while not self.stopping.is_set():
                streams = [each for each in streams if each.sent < _CHAT_AGENT]
                while len(streams) < _CHATS:
                    streams.append(self.ledger.stream(f"chat-{number}", "http", NOW))
                    number += 1
                http.send(rng.choice(streams), size := rng.randint(1, 15))
                self.stopping.wait(size / (self.rates.chat * 0.6))

    def _noisy(self, rng: random.Random) -> None:
        """One agent that always has a backlog."""
        stream = self.ledger.stream(NOISY, "http", NOW)
        query = "SELECT count(*) FROM message WHERE agent_id = 'noisy' AND memory_state = 'pending'"
        with self._producer(rng) as http:
            while not self.stopping.is_set():
                waiting = self._ask(query)
                if waiting is not None and waiting[0][0] < _BACKLOG:
                    http.send(stream, 50)
                self.stopping.wait(1.0)

    def _quiet(self, rng: random.Random) -> None:
        """One agent whose messages must not wait for those of the noisy one."""
        stream = self.ledger.stream(QUIET, "http", NOW)
        with self._producer(rng) as http:
            while not self.stopping.wait(_QUIET_EVERY_S):
                http.send(stream, 1)

    @contextmanager
    def _producer(self, rng: random.Random) -> Iterator[HttpProducer]:
        with httpx.Client(base_url=self.stack.url, timeout=_TIMEOUT_S) as client:
            producer = HttpProducer(client, self.ledger, rng)
            yield producer
            producer.send_delayed(all_of_them=True)

    def _ask(self, query: str, values: dict[str, Any] | None = None) -> list[Any] | None:
        """Return rows; None while the database does not answer."""
        try:
            return self.stack.rows(query, values)
        except (psycopg.Error, ConfigurationError):
            return None

    def _read(self, rng: random.Random) -> None:
        """Contexts and searches; a context must keep its budget, counted anew."""
        count = OfflineTokenCounter().count
        with httpx.Client(base_url=self.stack.url, timeout=_TIMEOUT_S) as client:
            while not self.stopping.wait(rng.uniform(0.1, 1.0)):
                streams = list(self.ledger.streams)
                if not streams:
                    continue
                stream = rng.choice(streams)
                question = f"What about {rng.choice(('the visa form', 'Lisbon', 'Sensor 7'))}?"
                budget = rng.choice((64, 300, 1000, 4000))
                body = {"query": question, "budget_tokens": budget}
                use = "context" if rng.random() < 0.7 else "search"
                if not stream.acknowledged:
                    continue  # such an agent may not exist
                answer = ask(self.ledger, client, "read", f"/v1/agents/{stream.agent}/{use}", body)
                if answer is not None and use == "context":
                    tokens = LIST_OVERHEAD + sum(
                        Utterance(Role(each["role"]), each.get("content")).tokens(count)
                        for each in answer["messages"]
                    )
                    self.ledger.add("contexts")
                    if max(tokens, answer["tokens"]) > budget:
                        self.ledger.breaks(f"over budget: {tokens} tokens of {budget}")
                        self.ledger.add(OVER_BUDGET)

    def _celery(self, rng: random.Random) -> None:
        CeleryProducer(self, rng).run()


@dataclass
class HttpProducer:
    """Sends batches, each until it is acknowledged; some of them twice, some again later."""

    client: httpx.Client
    ledger: Ledger
    rng: random.Random
    delayed: deque[tuple[float, str, dict[str, Any]]] = field(default_factory=deque)

    def send(self, stream: Stream, size: int) -> None:
        """Send the next messages of a stream."""
        path = f"/v1/agents/{stream.agent}/messages"
        body = {"messages": stream.batch(size), "remember": stream.remember}
        self._until_acknowledged(path, body, size)
        stream.acknowledged = stream.sent
        draw = self.rng.random()
        if draw < _DOUBLED:
            self._again(path, body)
        elif draw < _DOUBLED + _DELAYED:
            self.delayed.append((time.monotonic() + self.rng.uniform(5, 60), path, body))
        self.send_delayed()

    def send_delayed(self, *, all_of_them: bool = False) -> None:
        """Send again what is due."""
        while self.delayed and (all_of_them or self.delayed[0][0] < time.monotonic()):
            self._again(*self.delayed.popleft()[1:])

    def _again(self, path: str, body: dict[str, Any]) -> None:
        answer = self._until_acknowledged(path, body, len(body["messages"]))
        self.ledger.add("requests sent twice")
        if answer["accepted"]:
            self.ledger.breaks(f"doubled: {answer['accepted']} known messages accepted again")

    def _until_acknowledged(self, path: str, body: dict[str, Any], size: int) -> Any:
        while (answer := ask(self.ledger, self.client, "accept", path, body)) is None:
            time.sleep(self.rng.uniform(0.1, _LONGEST_PAUSE_S))
        if answer["accepted"] + answer["duplicates"] != size:
            self.ledger.breaks(f"{size} messages were answered by {answer}")
        return answer


def ask(ledger: Ledger, client: httpx.Client, kind: str, path: str, body: Any) -> Any:
    """Send a request; return the JSON of its answer, None if it must be sent again."""
    sent_at = time.time()
    try:
        answer = client.post(path, json=body)
    except httpx.TransportError as error:
        ledger.unanswered(kind, error)
        return None
    retry_after = "retry-after" in answer.headers
    ledger.answered(kind, answer.status_code, retry_after=retry_after, what=answer.text)
    if answer.is_success:
        ledger.succeeded(kind, sent_at)
        return answer.json()
    return None


@dataclass
class _Task:
    stream: Stream
    numbers: range
    arguments: dict[str, Any]
    sent_at: float = 0.0  # of the first copy


class CeleryProducer:
    """Sends tasks to the queues of agents, keeps them until they are stored, sends lost ones anew.

    The agents are those of the chat producer: both write to the same lanes.
    """

    def __init__(self, load: Load, rng: random.Random) -> None:
        """Take what it works on."""
        self.load, self.ledger, self.rng = load, load.ledger, rng
        self.waiting: dict[UUID, _Task] = {}
        self.app = make_producer(load.stack.broker_url)

    def run(self) -> None:
        """Send until stopped, then until everything is stored."""
        streams: list[Stream] = []
        number, looked_at = 0, 0.0
        while not self.load.stopping.is_set() or self.waiting:
            if time.monotonic() > looked_at + 1:
                self._look()
                looked_at = time.monotonic()
            streams = [each for each in streams if each.sent < _CHAT_AGENT]
            while len(streams) < _CHATS:
                streams.append(self.ledger.stream(f"chat-{number}", "celery", NOW))
                number += 1
            stream = self.rng.choice(streams)
            busy = sum(each.stream is stream for each in self.waiting.values()) >= _WINDOW
            size = self.rng.randint(1, 8)
            if not busy and not self.load.stopping.is_set():
                self._send_next(stream, size)
            time.sleep(size / (self.load.rates.chat * 0.4))

    def _send_next(self, stream: Stream, size: int) -> None:
        first = stream.sent
        arguments = {"v": 1, "agent_id": stream.agent, "messages": stream.batch(size)}
        task = _Task(stream, range(first, first + size), arguments)
        task_id = UUID(int=self.rng.getrandbits(128), version=4)
        self._send(task_id, task)
        self.waiting[task_id] = task
        if self.rng.random() < _DOUBLED:
            self._send(task_id, task)
            self.ledger.add("tasks sent twice")

    def _send(self, task_id: UUID, task: _Task) -> None:
        """Send a task until the broker takes it."""
        task.sent_at = task.sent_at or time.time()
        name = queue(agent_queue_name(task.stream.agent))
        while True:
            try:
                self.app.send_task(
                    CREATE_TASK, kwargs=task.arguments, queue=name, task_id=str(task_id)
                )
            except BROKER_ERRORS as error:
                self.ledger.unanswered("celery", error)
                time.sleep(self.rng.uniform(0.1, _LONGEST_PAUSE_S))
            else:
                self.ledger.answers["celery", "sent"] += 1
                return

    def _look(self) -> None:
        """Take tasks that are stored off the list; send those that the broker lost anew."""
        empty = self._empty_queues()
        rows = self.load._ask(
            "SELECT id FROM job WHERE id = ANY(%(ids)s)", {"ids": list(self.waiting)}
        )
        if rows is None:
            return
        for (task_id,) in rows:
            self._stored(self.waiting.pop(task_id))
        for task_id, task in list(self.waiting.items()):
            if task.stream.agent in empty or time.time() - task.sent_at > _SLOW_S:
                self._lost(task_id, task, gone=task.stream.agent in empty)

    def _stored(self, task: _Task) -> None:
        task.stream.acknowledged += len(task.numbers)

    def _lost(self, task_id: UUID, task: _Task, *, gone: bool) -> None:
        if gone and not any(at > task.sent_at - 1 for at in self.load.data_faults):
            self.ledger.breaks(f"lost: task {task_id} of {task.stream.agent}, by a healthy broker")
        self.ledger.add("tasks lost by the broker and sent again")
        task.stream.lost_by_broker.update(task.numbers)
        task.sent_at = 0.0
        self._send(task_id, task)

    def _empty_queues(self) -> set[str]:
        """Return the agents of waiting tasks whose queue is empty: asked before the database is.

        What leaves a queue is stored by then. Only the embedded Redis is asked.
        """
        agents = sorted({each.stream.agent for each in self.waiting.values()})
        if not agents or not self.load.stack.has_redis:
            return set()
        try:
            with closing(redis.Redis.from_url(self.load.stack.broker_url)) as client:
                return set(agents) - set(RedisAgentQueues(client).occupied(agents))
        except redis.RedisError:
            return set()
