"""Commands on a broker and its clients, with a model of the expected results.

``World`` runs commands on a real broker. ``Model`` predicts in plain Python what they return.
Both return one observation per command.
"""

from __future__ import annotations

import base64
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID, uuid4

import redis

from memci.broker.app import make_producer
from memci.broker.message_decoding import decode, job_id_of
from memci.broker.names import CREATE_TASK, LANE_QUEUE, agent_queue_name
from memci.broker.read_calls import Replies
from memci.broker.redis_queues import RedisAgentQueues, remove_binding_keys
from memci.broker.wakeup import QueueWatch, Wakeups
from memci.errors import InvalidInputError

AGENTS = ("a", "b", "a.b")
# Two workers may believe that they hold the lease of an agent; the fence decides.
WORKERS = (0, 1)
NONSENSE = b'{"body": 7'
_LIMIT = 100_000


@dataclass
class Batch:
    """Messages that a worker took, its fence, and whether its transaction was committed."""

    fence: int
    messages: list[Any]
    taken: Any = None
    committed: bool = False


@dataclass
class Database:
    """A model of the database: fences, and mailboxes without duplicates."""

    fence: dict[str, int] = field(default_factory=lambda: dict.fromkeys(AGENTS, 0))
    mailbox: dict[str, list[UUID]] = field(default_factory=lambda: {each: [] for each in AGENTS})

    def claim(self, agent: str) -> int:
        self.fence[agent] += 1
        return self.fence[agent]

    def insert(self, agent: str, fence: int, messages: list[UUID]) -> bool:
        if fence != self.fence[agent]:
            return False
        mailbox = self.mailbox[agent]
        mailbox.extend(dict.fromkeys(each for each in messages if each not in mailbox))
        return True


def letter_number(number: int) -> UUID:
    return UUID(int=number + 1)


def envelope(number: int, agent: str) -> bytes:
    """A message as Celery writes it; as in kombu, its bytes are never the same."""
    body = json.dumps([[], {"agent_id": agent}, {}]).encode()
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {"task": CREATE_TASK, "id": str(letter_number(number))},
            "properties": {"body_encoding": "base64", "delivery_tag": uuid4().hex},
        }
    ).encode()


class World:
    """All code of memci that uses the broker, on a broker of this address."""

    def __init__(self, url: str) -> None:
        self.client = redis.Redis.from_url(url)
        self.client.flushall()
        self.celery = make_producer(url)
        self.queues = RedisAgentQueues(self.client)
        self.wakeups = Wakeups(self.celery)
        self.bell = QueueWatch(self.queues, self.wakeups, None, period_s=0)
        self.replies = Replies(self.client)
        self.begin()

    def begin(self) -> None:
        self.client.flushall()
        self.database = Database()
        self.batches: dict[tuple[str, int], Batch] = {}

    def close(self) -> None:
        self.client.close()
        self.celery.close()

    def produce(self, agent: str, number: int) -> object:
        return self.client.lpush(agent_queue_name(agent), envelope(number, agent))

    def produce_by_name(self, agent: str, number: int) -> object:
        self.celery.send_task(
            CREATE_TASK,
            kwargs={"agent_id": agent},
            queue=agent_queue_name(agent),
            task_id=str(letter_number(number)),
            ignore_result=True,
        )
        return self.queues.depth(agent_queue_name(agent))

    def produce_nonsense(self, agent: str) -> object:
        return self.client.lpush(agent_queue_name(agent), NONSENSE)

    def take(self, agent: str, worker: int, limit: int) -> object:
        taken = self.queues.take(agent, limit, _LIMIT)
        messages = [_id(raw) for raw in taken.raw]
        self.batches[agent, worker] = Batch(self.database.claim(agent), messages, taken)
        return messages

    def commit(self, agent: str, worker: int) -> object:
        batch = self.batches[agent, worker]
        batch.committed = self.database.insert(agent, batch.fence, batch.messages)
        if not batch.committed:
            self.batches.pop((agent, worker)).taken.abandon()
        return batch.committed

    def confirm(self, agent: str, worker: int) -> object:
        self.batches.pop((agent, worker)).taken.confirm()
        return self.queues.depth(agent_queue_name(agent))

    def abandon(self, agent: str, worker: int) -> object:
        self.batches.pop((agent, worker)).taken.abandon()
        return self.queues.depth(agent_queue_name(agent))

    def crash(self, agent: str, worker: int) -> object:
        self.batches.pop((agent, worker))
        return self.queues.depth(agent_queue_name(agent))

    def flush(self) -> object:
        self.client.flushall()
        return self.queues.waiting()

    def look(self) -> object:
        return self.queues.waiting(), self.queues.occupied(AGENTS), self.queues.occupied([])

    def ring(self) -> object:
        self.bell._scan()
        return self.queues.depth(LANE_QUEUE)

    def publish(self, agent: str) -> object:
        return self.wakeups.wake_lane(agent), self.queues.depth(LANE_QUEUE)

    def fetch_token(self) -> object:
        """Fetch a token as a lane worker does, but without Celery."""
        raw = cast("bytes | None", self.client.rpop(LANE_QUEUE))
        return raw and decode(raw, limit_bytes=_LIMIT).arguments["agent_id"]

    def sweep_keys(self) -> object:
        """Remove keys that producers by name left; their number depends on the state of kombu."""
        remove_binding_keys(self.client)
        return self.client.keys("_kombu.*")

    def answer(self, number: int) -> object:
        key = f"memci.reply.{number:032x}"
        self.replies.send(key, {"answer": {"number": number}})
        return 0 < self.client.ttl(key) <= 60

    def kept_keys(self) -> list[str]:
        """Keys that nothing would ever remove."""
        return sorted(key.decode() for key in self.client.scan_iter() if self.client.ttl(key) < 0)

    def finish(self) -> dict[str, list[UUID]]:
        """Let working workers take in all messages."""
        for agent in AGENTS:
            while self.take(agent, 0, 3):
                self.commit(agent, 0)
                self.confirm(agent, 0)
        while self.fetch_token() is not None:
            pass
        self.sweep_keys()
        return self.database.mailbox


@dataclass(frozen=True)
class Pushed:
    """One message in a list: each is different, except nonsense messages."""

    id: UUID
    push: int


class Model:
    """The same in plain Python: a list per agent, oldest first."""

    def __init__(self) -> None:
        self.lists: dict[str, deque[Pushed]] = {each: deque() for each in AGENTS}
        self.database = Database()
        self.batches: dict[tuple[str, int], Batch] = {}
        self.lane: deque[str] = deque()
        self.pushes = 0

    def produce(self, agent: str, number: int) -> object:
        return self._push(agent, letter_number(number))

    def produce_by_name(self, agent: str, number: int) -> object:
        return self._push(agent, letter_number(number))

    def produce_nonsense(self, agent: str) -> object:
        self.lists[agent].append(Pushed(job_id_of(None, NONSENSE), 0))
        return len(self.lists[agent])

    def take(self, agent: str, worker: int, limit: int) -> object:
        pushed = list(self.lists[agent])[:limit]
        fence = self.database.claim(agent)
        self.batches[agent, worker] = Batch(fence, [each.id for each in pushed], pushed)
        return [each.id for each in pushed]

    def commit(self, agent: str, worker: int) -> object:
        batch = self.batches[agent, worker]
        batch.committed = self.database.insert(agent, batch.fence, batch.messages)
        if not batch.committed:
            self.batches.pop((agent, worker))
        return batch.committed

    def confirm(self, agent: str, worker: int) -> object:
        for pushed in self.batches.pop((agent, worker)).taken:
            if not self.lists[agent] or self.lists[agent][0] != pushed:
                break
            self.lists[agent].popleft()
        return len(self.lists[agent])

    def abandon(self, agent: str, worker: int) -> object:
        self.batches.pop((agent, worker))
        return len(self.lists[agent])

    crash = abandon

    def flush(self) -> object:
        for pushed in self.lists.values():
            pushed.clear()
        self.lane.clear()
        return []

    def look(self) -> object:
        return self._waiting(), [each for each in AGENTS if self.lists[each]], []

    def ring(self) -> object:
        self.lane.extend("?" for _ in self._waiting())
        return len(self.lane)

    def publish(self, agent: str) -> object:
        self.lane.append(agent)
        return True, len(self.lane)

    def sweep_keys(self) -> object:
        return []

    def answer(self, number: int) -> object:
        return True

    def _push(self, agent: str, message: UUID) -> int:
        self.pushes += 1
        self.lists[agent].append(Pushed(message, self.pushes))
        return len(self.lists[agent])

    def _waiting(self) -> list[str]:
        return sorted(each for each in AGENTS if self.lists[each])


def _id(raw: bytes) -> UUID:
    try:
        return decode(raw, limit_bytes=_LIMIT).id
    except InvalidInputError:
        return job_id_of(None, raw)
