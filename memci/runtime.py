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
from typing import Any, Generic, TypeVar

import redis
from celery import Celery

from memci.broker.agent_queues import AgentQueues
from memci.broker.app import is_redis, make_producer
from memci.broker.events import JobEvents
from memci.broker.rabbitmq_queues import AmqpAgentQueues
from memci.broker.read_calls import Reads, RedisReads, Replies, RpcReads
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import QueueWatch, RedisWakeups, WakeupPublisher, Wakeups
from memci.commands.attp.perform import AttpCommands
from memci.commands.attp.sandbox import Sandbox
from memci.commands.configure import Defaults
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.memory_reads import MemoryTools
from memci.commands.tools.memory_writes import MemoryWrites
from memci.commands.tools.tools import Tools
from memci.config.groups import OFFLINE
from memci.config.settings import Settings
from memci.embedded.server_addresses import addresses
from memci.jobs import all_jobs, compression
from memci.queue.broker_intake import BrokerIntake
from memci.queue.intake import AsyncIntake, Intake
from memci.queue.lane import Compression, LaneLoop, Slices
from memci.queue.lease import Claims, LeaseRenewal
from memci.queue.mailbox import recent_agents
from memci.queue.runner import Handler, JobRunner, Limits
from memci.queue.usage_accounting import Accounts
from memci.reading.lists.listings import Listings
from memci.reading.reader import ReadingModels, Tokenizers
from memci.reading.registry import Readings
from memci.reading.window import Windows
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.ports import TokenCounter
from memci.smallmodel.registry import SmallModels, build_small_models
from memci.storage.page_store.choose import choose_page_store
from memci.storage.page_store.port import PageStore
from memci.storage.pipeline import PipelinedStatements
from memci.storage.session import Database
from memci.telemetry.traces import Traces, open_traces

T = TypeVar("T")
# The renewal of a lease may be late several times before the lease ends.
_RENEWALS_PER_LEASE = 6


class _Part(Generic[T]):
    """A part of the runtime, made once, whichever thread asks first.

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
    """Everything one process works with, each part made when first asked for."""

    def __init__(self, settings: Settings, *, service: str = "memci", keeps: bool = True) -> None:
        """Take the settings; ``service`` names the process in traces.

        With ``keeps=False`` whatever it writes to the database is taken back.
        """
        self.settings = settings
        self._keeps = keeps
        self.stopping = Event()
        self.making = RLock()
        self._service = service
        self._closing = ExitStack()
        self._database_url, self._broker_url = addresses(settings)

    @_Part
    def database(self) -> Database:
        """The database."""
        database = Database(self._database_url, pool_size=16)
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
        return redis.Redis.from_url(
            self._broker_url, socket_timeout=30, socket_connect_timeout=2, health_check_interval=25
        )

    @_Part
    def agent_queues(self) -> AgentQueues:
        """Agents' own Celery queues."""
        if self.redis is not None:
            return RedisAgentQueues(self.redis)
        queues = AmqpAgentQueues(
            self.celery,
            lambda: recent_agents(self.database),
            heartbeat_s=max(1, self.settings.queue_lease_ms // 4000),
        )
        self._closing.callback(queues.close)
        return queues

    @_Part
    def tokens(self) -> Wakeups:
        """What wakes workers."""
        if self.redis is None:
            return Wakeups(self.celery)
        return RedisWakeups(self.celery, self._broker_url)

    @_Part
    def intake(self) -> Intake:
        """The way in."""
        return Intake(self.database, self.tokens)

    @_Part
    def async_intake(self) -> AsyncIntake:
        """The way in, for an event loop."""
        flights = PipelinedStatements(self._database_url)
        self._closing.callback(lambda: asyncio.run(flights.aclose()))
        outbox = WakeupPublisher(self.tokens)
        self._closing.callback(outbox.close)
        return AsyncIntake(self.intake, flights, outbox)

    @_Part
    def reads(self) -> Reads:
        """Asks context workers."""
        timeout_ms = self.settings.http_read_timeout_ms
        if self.redis is None:
            return RpcReads(self.celery, timeout_ms)
        return RedisReads(self.celery, self._broker_url, timeout_ms)

    @_Part
    def replies(self) -> Replies | None:
        """Where context workers leave answers, if the broker is a Redis."""
        return None if self.redis is None else Replies(self.redis)

    @_Part
    def models(self) -> SmallModels:
        """The small models; each loads itself at its first call."""
        return build_small_models(self.settings)

    @_Part
    def readings(self) -> Readings:
        """What context workers answer with."""
        tokenizers = Tokenizers(OfflineTokenCounter)
        models = ReadingModels(
            self.models.embedder,
            self.models.lexicon,
            tokenizers,
            self.models.summarizer,
            self.models.query_planner,
        )
        return Readings(self.database, models, self.settings, self.windows, OfflineSummarizer())

    @_Part
    def listings(self) -> Listings:
        """What the API lists by itself."""
        return Listings(self.database)

    @_Part
    def defaults(self) -> Defaults:
        """What holds for agents that have nothing of their own."""
        return Defaults(self.settings.memory, self.settings.pages)

    @_Part
    def page_store(self) -> PageStore:
        """Where the texts of notes are."""
        return choose_page_store(self.settings, self.database)

    @_Part
    def counter(self) -> TokenCounter:
        """What counts the tokens of windows."""
        return OfflineTokenCounter(self.settings.tokenizer)

    @_Part
    def page_commands(self) -> PageCommands:
        """What changes pages."""
        return PageCommands(self.database, self.page_store, self.counter, self.settings.pages)

    @_Part
    def tools(self) -> Tools:
        """All tools of agents and developers."""
        settings = self.settings
        return Tools(
            self.page_commands,
            MemoryTools(self.page_commands, self.reads, self.tokens),
            MemoryWrites(settings.memory, settings.append_limits),
            self.tokens,
        )

    @_Part
    def attp(self) -> AttpCommands:
        """What answers models that speak ATTP."""
        sandbox = Sandbox()
        self._closing.callback(sandbox.close)
        return AttpCommands(self.tools, sandbox)

    @_Part
    def windows(self) -> Windows:
        """What shows windows."""
        return Windows(self.database, self.page_store, self.counter, self.settings.pages)

    @_Part
    def traces(self) -> Traces:
        """Spans, if an endpoint is set."""
        return open_traces(self.settings.otel_endpoint, self._service)

    @_Part
    def handlers(self) -> Mapping[str, Handler]:
        """What runs each kind of job."""
        return all_jobs(self.database, self.models, self.settings, self.page_store)

    @_Part
    def compression(self) -> Compression:
        """What scans a memory network."""
        return compression(self.database, self.models, self.settings)

    @_Part
    def job_limits(self) -> Limits:
        """When a job is given up."""
        settings = self.settings
        return Limits(settings.queue_max_attempts, halt_on_dead=settings.queue_on_dead == "halt")

    @_Part
    def slices(self) -> Slices:
        """How much one token does.

        With a language model a claimed lane would wait for another lane's calls: claim one a time.
        """
        offline = all(each.model == OFFLINE for each in self.settings.models.values())
        return Slices() if offline else Slices(claim_batch=1)

    def bell(self) -> QueueWatch:
        """Return a bell; its caller starts and stops it."""
        return QueueWatch(self.agent_queues, self.tokens, self.redis)

    def broker_intake(self) -> BrokerIntake:
        """Return the intake from agents' Celery queues."""
        return BrokerIntake(
            self.agent_queues,
            limits=self.settings.append_limits,
            halt_on_dead=self.settings.queue_on_dead == "halt",
        )

    def lane_loop(self, hostname: str) -> LaneLoop:
        """Return the loop that works for agents, as the worker of this name."""
        settings = self.settings
        claims = Claims(self.database, settings.queue_lease_ms)
        renew_ms = settings.queue_lease_ms // _RENEWALS_PER_LEASE
        lease_renewal = LeaseRenewal(self.database, claims, renew_ms)
        self._closing.callback(lease_renewal.close)
        events = JobEvents(self.celery, hostname)
        self._closing.callback(events.close)
        runner = JobRunner(
            self.handlers,
            events,
            self.job_limits,
            self.stopping,
            self.traces,
            Accounts(self.database, settings.memory),
        )
        return LaneLoop(
            claims=claims,
            lease_renewal=lease_renewal,
            broker_intake=self.broker_intake(),
            runner=runner,
            events=events,
            compression=self.compression,
            wakeups=self.tokens,
            slices=self.slices,
            stopping=self.stopping,
        )

    def close(self) -> None:
        """Close what was opened."""
        made = vars(self)
        self._closing.close()
        if "reads" in made:
            self.reads.close()
        if "readings" in made:
            self.readings.close()
        if "traces" in made:
            self.traces.close()
        if "tokens" in made:
            self.tokens.close()
        if "database" in made:
            self.database.close()
        if made.get("redis") is not None:
            made["redis"].close()


# A read makes thousands of objects and no cycles: looked through after each 700 of them, as Python
# 3.11 and 3.12 do by default, they cost a context a tenth of its time.
_YOUNG_OBJECTS = 10_000


def spare_what_stays() -> None:
    """Leave what is loaded by now out of the collector's sight, and look at what is new seldom.

    For a process that has opened all that it works with: a model's library alone is half a
    million objects, and walking them costs as much as many jobs.
    """
    gc.set_threshold(_YOUNG_OBJECTS)
    gc.collect()
    gc.freeze()
