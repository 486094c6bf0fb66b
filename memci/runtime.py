"""The composition root: from settings to all objects that a process works with.

Opened once per process and never before a fork. Nothing connects or loads before it is used, so
processes that need no small model never import one.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from threading import Event, RLock
from typing import Any, Generic, Protocol, TypeVar

import redis
from celery import Celery

from memci.broker.app import is_redis, make_producer
from memci.broker.celery_events import JobEvents
from memci.broker.intake_queues import AgentQueues
from memci.broker.rabbitmq_queues import AmqpAgentQueues
from memci.broker.read_calls import BoundedReads, Reads, RedisReads, Replies, RpcReads
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import QueueWatch, RedisWakeups, WakeupPublisher, Wakeups
from memci.commands.attp.perform import AttpCommands
from memci.commands.attp.sandbox import Sandbox
from memci.commands.configure import Defaults
from memci.commands.keys import Keys
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.memory_reads import MemoryTools
from memci.commands.tools.memory_writes import MemoryWrites
from memci.commands.tools.tools import Tools
from memci.config.groups import OFFLINE
from memci.config.settings import Settings
from memci.embedded.owner import addresses_of
from memci.jobs import all_jobs, compression
from memci.queue.broker_intake import BrokerIntake
from memci.queue.intake import AsyncIntake, Intake
from memci.queue.lane import Compression, LaneLoop
from memci.queue.lease import Claims, LeaseRenewal
from memci.queue.mailbox import recent_agents
from memci.queue.runner import Handler, JobRunner, Limits
from memci.queue.usage_accounting import Accounts
from memci.reading.context_window import Windows
from memci.reading.lists.listings import Listings
from memci.reading.reader import ReadingModels, Tokenizers
from memci.reading.registry import Readings
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.ports import TokenCounter
from memci.smallmodel.registry import SmallModels, build_small_models
from memci.storage.page_store.choose import choose_page_store
from memci.storage.page_store.port import PageStore
from memci.storage.pipelined_transaction import PipelinedStatements
from memci.storage.session import Database
from memci.telemetry.traces import Traces, open_traces
from memci.webhooks.deliver import Courier, WebhookWatch


class _Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T")
C = TypeVar("C", bound=_Closable)

# The renewal of a lease may be late several times before the lease ends.
_RENEWALS_PER_LEASE = 6
# Lanes that one wakeup claims at once.
_MOST_CLAIMED = 16


class _Part(Generic[T]):
    """A part of the runtime, created once, whichever thread asks first.

    ``functools.cached_property`` has no lock from Python 3.12 on.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type[Runtime], name: str) -> None:
        self._name = name

    def __get__(self, runtime: Runtime, owner: type[Runtime] | None = None) -> T:
        made = vars(runtime)
        with runtime.making:
            if self._name not in made:
                made[self._name] = self._make(runtime)
            part: T = made[self._name]
            return part


class Runtime:
    """Everything that one process works with; each part is created when first used."""

    def __init__(self, settings: Settings, *, service: str = "memci", keeps: bool = True) -> None:
        """Take the settings; ``service`` names the process in traces.

        With ``keeps=False`` its database transactions are rolled back.
        """
        self.settings = settings
        self._keeps = keeps
        self.stopping = Event()
        self.making = RLock()
        self._service = service
        self._closing = ExitStack()
        urls = addresses_of(settings)
        self._database_url, self._broker_url = urls.database_url, urls.broker_url

    @_Part
    def database(self) -> Database:
        """The database."""
        database = self._close_later(Database(self._database_url, pool_size=16))
        return database if self._keeps else database.dry_run()

    @_Part
    def celery(self) -> Celery:
        """The Celery app, as a producer."""
        return make_producer(self._broker_url)

    @_Part
    def redis(self) -> redis.Redis | None:
        """A client of the broker, if that is a Redis."""
        if not is_redis(self._broker_url):
            return None
        client = redis.Redis.from_url(
            self._broker_url, socket_timeout=30, socket_connect_timeout=2, health_check_interval=25
        )
        return self._close_later(client)

    @_Part
    def agent_queues(self) -> AgentQueues:
        """Agents' own Celery queues."""
        if self.redis is not None:
            return RedisAgentQueues(self.redis)
        heartbeat_s = max(1, self.settings.queue_lease_ms // 4000)
        database = self.database
        queues = AmqpAgentQueues(
            self.celery, lambda: recent_agents(database), heartbeat_s=heartbeat_s
        )
        return self._close_later(queues)

    @_Part
    def wakeups(self) -> Wakeups:
        """Publishes wakeups."""
        if self.redis is None:
            return Wakeups(self.celery)
        return self._close_later(RedisWakeups(self.celery, self._broker_url))

    @_Part
    def intake(self) -> Intake:
        """Takes messages in."""
        return Intake(self.database, self.wakeups)

    @_Part
    def async_intake(self) -> AsyncIntake:
        """Takes messages in, for an event loop."""
        statements = PipelinedStatements(self._database_url)
        self._closing.callback(lambda: asyncio.run(statements.aclose()))
        publisher = self._close_later(WakeupPublisher(self.wakeups))
        return AsyncIntake(self.intake, statements, publisher)

    @_Part
    def reads(self) -> Reads:
        """Asks context workers."""
        timeout_ms = self.settings.http_read_timeout_ms
        asking: Reads = (
            RpcReads(self.celery, timeout_ms)
            if self.redis is None
            else RedisReads(self.celery, self._broker_url, timeout_ms)
        )
        return self._close_later(BoundedReads(asking, self.settings.http_max_reads))

    @_Part
    def replies(self) -> Replies | None:
        """Sends answers of context workers, if the broker is a Redis."""
        return None if self.redis is None else Replies(self.redis)

    @_Part
    def models(self) -> SmallModels:
        """The small models; each is loaded at its first call."""
        return build_small_models(self.settings)

    @_Part
    def readings(self) -> Readings:
        """Answers the reads of context workers."""
        tokenizers = Tokenizers(OfflineTokenCounter)
        models = ReadingModels(
            self.models.embedder,
            self.models.lexicon,
            tokenizers,
            self.models.summarizer,
            self.models.query_planner,
        )
        summarizer = OfflineSummarizer()
        readings = Readings(self.database, models, self.settings, self.windows, summarizer)
        return self._close_later(readings)

    @_Part
    def listings(self) -> Listings:
        """Lists for the API."""
        return Listings(self.database)

    @_Part
    def keys(self) -> Keys:
        """Manages API keys."""
        return Keys(self.database, self.settings.api_keys, self.settings.key_limits)

    @_Part
    def defaults(self) -> Defaults:
        """The parameters of agents that set none."""
        return Defaults(self.settings.memory, self.settings.pages)

    @_Part
    def page_store(self) -> PageStore:
        """Stores the texts of notes."""
        return choose_page_store(self.settings, self.database)

    @_Part
    def counter(self) -> TokenCounter:
        """Counts the tokens of windows."""
        return OfflineTokenCounter(self.settings.tokenizer)

    @_Part
    def page_commands(self) -> PageCommands:
        """Changes pages."""
        return PageCommands(self.database, self.page_store, self.counter, self.settings.pages)

    @_Part
    def tools(self) -> Tools:
        """All tools of agents and developers."""
        settings = self.settings
        return Tools(
            self.page_commands,
            MemoryTools(self.page_commands, self.reads, self.wakeups),
            MemoryWrites(settings.memory, settings.append_limits),
            self.wakeups,
        )

    @_Part
    def attp(self) -> AttpCommands:
        """Answers models that speak ATTP."""
        return AttpCommands(self.tools, self._close_later(Sandbox()))

    @_Part
    def courier(self) -> Courier:
        """Delivers events to webhooks."""
        settings = self.settings
        return Courier(
            self.database,
            self.stopping,
            settings.webhooks_retries_s,
            settings.webhooks_timeout_s,
            settings.webhooks_allow_private,
        )

    @_Part
    def windows(self) -> Windows:
        """Renders windows."""
        return Windows(self.database, self.page_store, self.counter, self.settings.pages)

    @_Part
    def traces(self) -> Traces:
        """Spans, if an endpoint is set."""
        return self._close_later(open_traces(self.settings.otel_endpoint, self._service))

    @_Part
    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each kind of job."""
        return all_jobs(self.database, self.models, self.settings, self.page_store)

    @_Part
    def compression(self) -> Compression:
        """Scans memory networks."""
        return compression(self.database, self.models, self.settings)

    @_Part
    def job_limits(self) -> Limits:
        """Limits after which a job becomes dead."""
        settings = self.settings
        return Limits(settings.queue_max_attempts, halt_on_dead=settings.queue_on_dead == "halt")

    def queue_watch(self) -> QueueWatch:
        """Return a watch of agents' queues; its caller starts and stops it."""
        return QueueWatch(self.agent_queues, self.wakeups, self.redis)

    def webhook_watch(self) -> WebhookWatch:
        """Return a watch of webhooks; its caller starts and stops it."""
        return WebhookWatch(self.database, self.wakeups)

    def lane_loop(self, hostname: str) -> LaneLoop:
        """Return the loop that works for agents, as the worker of this name."""
        settings = self.settings
        claims = Claims(self.database, settings.queue_lease_ms)
        renew_ms = settings.queue_lease_ms // _RENEWALS_PER_LEASE
        lease_renewal = self._close_later(LeaseRenewal(self.database, claims, renew_ms))
        events = self._close_later(JobEvents(self.celery, hostname))
        runner = JobRunner(
            self.handlers,
            events,
            self.job_limits,
            self.stopping,
            self.traces,
            Accounts(self.database, settings.memory),
        )
        broker_intake = BrokerIntake(
            self.agent_queues,
            limits=settings.append_limits,
            halt_on_dead=self.job_limits.halt_on_dead,
        )
        # Claimed lanes wait for each other's calls of language models.
        offline = all(each.model == OFFLINE for each in settings.models.values())
        return LaneLoop(
            claims=claims,
            lease_renewal=lease_renewal,
            broker_intake=broker_intake,
            runner=runner,
            events=events,
            compression=self.compression,
            wakeups=self.wakeups,
            most_claimed=_MOST_CLAIMED if offline else 1,
            stopping=self.stopping,
        )

    def _close_later(self, part: C) -> C:
        """Close this part when the runtime closes, before the parts that it was created from."""
        self._closing.callback(part.close)
        return part

    def close(self) -> None:
        """Close all parts, the last created first."""
        self._closing.close()


# A read creates thousands of objects and no cycles. Python 3.11 collects after each 700 of them by
# default, which takes a tenth of the time of a context.
_YOUNG_OBJECTS = 10_000


def tune_garbage_collection() -> None:
    """Exclude all objects that are loaded by now from collection; collect new ones less often.

    For a process that has opened all its parts: a model's library alone is half a million objects,
    and walking through them takes as long as many jobs.
    """
    gc.set_threshold(_YOUNG_OBJECTS)
    gc.collect()
    gc.freeze()
