"""Producers and readers of the soak: threads that send until they are stopped."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread
from typing import Any
from uuid import UUID

import httpx
import psycopg
import redis

from memci.broker.app import BROKER_ERRORS, make_producer
from memci.broker.names import ANNOUNCE_QUEUE, CREATE_TASK
from memci.broker.redis_queues import RedisAgentQueues
from memci.domain.token_counts import LIST_OVERHEAD, Utterance
from memci.errors import ConfigurationError
from memci.message import Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.rabbitmq.documented import agent_queue
from tests.soak.ledger import NEVER, NOW, OVER_BUDGET, Ledger, Stream
from tests.soak.stack import Stack

QUIET, NOISY = "quiet", "noisy"
_TIMEOUT_S = 60.0
_LONGEST_PAUSE_S = 3.0
_DOUBLED, _DELAYED = 0.1, 0.05  # shares of the requests
_LARGEST_BATCH, _BULK_AGENT = 500, 10_000  # messages
_CHATS, _CHAT_AGENT = 8, 400  # agents at a time, messages of each
_HTTP_SHARE = 0.6  # of the messages to these; Celery producers send the others
_NOISY, _QUIET = (50, 5.0), (1, 5.0)  # messages at once, and seconds between
_CONTEXTS = 0.7  # of the reads
_WINDOW = 4  # tasks of a Celery producer that are not stored yet
_SLOW_S = 120.0
_LOOK_EVERY_S = 0.5


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
    threads: list[Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin to send."""
        loops = (self._bulk, self._chat, self._celery, self._noisy, self._quiet, self._read,
                 self._read)  # fmt: skip
        self.threads = [
            Thread(target=self._guarded, args=(loop, number), name=loop.__name__, daemon=True)
            for number, loop in enumerate(loops)
        ]
        for thread in self.threads:
            thread.start()

    def finish(self, look: Callable[[], None], limit_s: float) -> None:
        """Stop, and wait until everything that was sent is acknowledged; ``look`` meanwhile."""
        self.stopping.set()
        ends = time.monotonic() + limit_s
        while waiting := [each.name for each in self.threads if each.is_alive()]:
            if time.monotonic() > ends:
                self.ledger.breaks(f"no acknowledgement within {limit_s:g} s: {waiting}")
                return
            look()
            time.sleep(_LOOK_EVERY_S)

    def _guarded(self, loop: Callable[[random.Random], None], number: int) -> None:
        try:
            loop(random.Random(f"{self.seed}/{number}"))
        except Exception as error:  # a thread that ends early would make the soak weaker
            self.ledger.breaks(f"the soak's own {loop.__name__} failed: {error!r}")
            raise

    def _bulk(self, rng: random.Random) -> None:
        """Messages that are stored and indexed, of one agent after another."""
        with self._producer(rng) as http:
            streams = self._in_turn(rng, "bulk", "http", NEVER, at_once=1, each=_BULK_AGENT)
            while not self.stopping.is_set():
                http.send(next(streams), size := rng.randint(1, _LARGEST_BATCH))
                self.stopping.wait(size / self.rates.bulk)

    def _chat(self, rng: random.Random) -> None:
        """Messages that become memories, of several agents at a time."""
        with self._producer(rng) as http:
            streams = self._in_turn(rng, "chat", "http", NOW, at_once=_CHATS, each=_CHAT_AGENT)
            while not self.stopping.is_set():
                http.send(next(streams), size := rng.randint(1, 15))
                self.stopping.wait(size / (self.rates.chat * _HTTP_SHARE))

    def _one_agent(self, rng: random.Random, agent: str, size: int, every_s: float) -> None:
        """Messages of one agent, which become memories."""
        stream = self.ledger.stream(agent, "http", NOW)
        with self._producer(rng) as http:
            while not self.stopping.wait(every_s):
                http.send(stream, size)

    def _noisy(self, rng: random.Random) -> None:
        self._one_agent(rng, NOISY, *_NOISY)

    def _quiet(self, rng: random.Random) -> None:
        self._one_agent(rng, QUIET, *_QUIET)

    def _in_turn(
        self, rng: random.Random, prefix: str, name: str, remember: str, *, at_once: int, each: int
    ) -> Iterator[Stream]:
        """Yield streams by chance, some at a time; a new agent for each that is complete."""
        streams: list[Stream] = []
        for number in count():
            streams.append(self.ledger.stream(f"{prefix}-{number}", name, remember))
            while len(streams) == at_once:
                yield rng.choice(streams)
                streams = [stream for stream in streams if stream.sent < each]

    @contextmanager
    def _producer(self, rng: random.Random) -> Iterator[HttpProducer]:
        with httpx.Client(base_url=self.stack.url, timeout=_TIMEOUT_S) as client:
            producer = HttpProducer(client, self.ledger, rng)
            yield producer
            producer.send_delayed(all_of_them=True)

    def _read(self, rng: random.Random) -> None:
        """Contexts and searches; a context must keep its budget, counted anew."""
        count_tokens = OfflineTokenCounter().count
        with httpx.Client(base_url=self.stack.url, timeout=_TIMEOUT_S) as client:
            while not self.stopping.wait(rng.uniform(0.1, 1.0)):
                agents = [each.agent for each in list(self.ledger.streams) if each.acknowledged]
                if not agents:
                    continue
                question = f"What about {rng.choice(('the visa form', 'Lisbon', 'Sensor 7'))}?"
                agent, budget = rng.choice(agents), rng.choice((64, 300, 1000, 4000))
                use = "context" if rng.random() < _CONTEXTS else "search"
                body = {"query": question} | ({"budget_tokens": budget} if use == "context" else {})
                answer = ask(self.ledger, client, "read", f"/v1/agents/{agent}/{use}", body)
                if answer is None or use == "search":
                    continue
                self.ledger.add("contexts")
                tokens = LIST_OVERHEAD + sum(
                    Utterance(Role(each["role"]), each.get("content")).tokens(count_tokens)
                    for each in answer["messages"]
                )
                if max(tokens, answer["tokens"]) > budget:
                    self.ledger.add(OVER_BUDGET)
                    self.ledger.breaks(f"over budget: {tokens} tokens of {budget}")

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
        streams = self.load._in_turn(
            self.rng, "chat", "celery", NOW, at_once=_CHATS, each=_CHAT_AGENT
        )
        looked_at = 0.0
        while not self.load.stopping.is_set() or self.waiting:
            if time.monotonic() > looked_at + 1:
                self._look()
                looked_at = time.monotonic()
            stream = next(streams)
            busy = sum(each.stream is stream for each in self.waiting.values()) >= _WINDOW
            size = self.rng.randint(1, 8)
            if not busy and not self.load.stopping.is_set():
                self._send_next(stream, size)
            time.sleep(size / (self.load.rates.chat * (1 - _HTTP_SHARE)))

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
        agent = task.stream.agent
        while True:
            try:
                self.app.send_task(
                    CREATE_TASK,
                    kwargs=task.arguments,
                    queue=agent_queue(agent),
                    task_id=str(task_id),
                )
                if not self.load.stack.has_redis:
                    self._announce(agent)
            except BROKER_ERRORS as error:
                self.ledger.unanswered("celery", error)
                time.sleep(self.rng.uniform(0.1, _LONGEST_PAUSE_S))
            else:
                self.ledger.answers["celery", "sent"] += 1
                return

    def _announce(self, agent: str) -> None:
        """Tell memci of a queue, which it cannot list on RabbitMQ."""
        with self.app.producer_or_acquire() as producer:
            producer.publish(agent, exchange="", routing_key=ANNOUNCE_QUEUE,
                             content_type="text/plain", content_encoding="utf-8")  # fmt: skip

    def _look(self) -> None:
        """Take tasks that are stored off the list; send those that the broker lost anew."""
        empty = self._empty_queues()
        values = {"ids": list(self.waiting)}
        try:
            rows = self.load.stack.rows("SELECT id FROM job WHERE id = ANY(%(ids)s)", values)
        except (psycopg.Error, ConfigurationError):
            return
        for (task_id,) in rows:
            task = self.waiting.pop(task_id)
            task.stream.acknowledged += len(task.numbers)
        for task_id, task in list(self.waiting.items()):
            if task.stream.agent in empty or time.time() - task.sent_at > _SLOW_S:
                self._lost(task_id, task, gone=task.stream.agent in empty)

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
