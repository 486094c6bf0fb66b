"""Opens, warms up and closes the parts of a worker process."""

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from celery import signals

from memci.broker.app import name_connections
from memci.broker.names import AGENT_PREFIX, COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE
from memci.broker.wakeup import QueueWatch
from memci.config.settings import check_shared
from memci.errors import ConfigurationError, UnavailableError, WrongEmbedderError
from memci.jobs.index import claim_embedder
from memci.queue.lane import LaneLoop
from memci.runtime import Runtime, tune_garbage_collection
from memci.telemetry import watchdog
from memci.telemetry.logs import configure_logs, warn_of_misspelt_settings
from memci.telemetry.readiness import tell_ready
from memci.webhooks.deliver import WebhookWatch
from workers.app import quiet_logs, settings


def yield_processor() -> None:
    """Let this process, and threads that it starts later, run only on idle processors.

    Forgetting is never urgent. Where the system has an idle policy, a nice value is not enough: the
    threads of a model wait for each other at each step, and so for the turn of a nice thread.
    """
    if sys.platform == "linux":
        try:
            _idle(0)
        except OSError:  # sandboxes may forbid it
            os.nice(19)
            return
        for thread in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # it has ended
                _idle(int(thread.name))
    else:
        os.nice(19)


def _idle(thread: int) -> None:
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


# A short read takes the interpreter tens of times from a long one beside it.
_SWITCH_S = 0.001
_log = structlog.get_logger(__name__)
_watches: list[QueueWatch | WebhookWatch] = []


@cache
def runtime() -> Runtime:
    """Return this process's runtime, opened at the first call: after any fork."""
    return Runtime(settings, service="memci-worker")


@cache
def lane_loop(hostname: str) -> LaneLoop:
    """Return this process's lane loop."""
    return runtime().lane_loop(hostname)


@signals.setup_logging.connect
def _set_up_logging(**_: Any) -> None:
    """Replace Celery's logging."""
    configure_logs(settings.log_level)
    quiet_logs()
    warn_of_misspelt_settings()


@signals.celeryd_after_setup.connect
def _warm_up(sender: str, instance: Any, **_: Any) -> None:
    """Load the parts that all tasks of these queues need, before the first task and its threads.

    Exits on wrong settings, as Celery would ignore an error of a signal handler.
    """
    queues = set(instance.app.amqp.queues.consume_from)
    name_connections(instance.app, sender, queues)
    lanes = queues & {LANE_QUEUE, COMPRESS_QUEUE} or {
        name for name in queues if name.startswith(AGENT_PREFIX)
    }
    if queues == {COMPRESS_QUEUE}:
        yield_processor()
    try:
        check_shared(settings)
        if lanes:
            lane_loop(sender)
            runtime().models.load()
        elif READ_QUEUE in queues:
            runtime().models.load_embedder()
        if lanes or READ_QUEUE in queues:
            _claim_vectors()
        if queues == {READ_QUEUE}:
            sys.setswitchinterval(_SWITCH_S)
    except (ConfigurationError, WrongEmbedderError) as error:
        sys.exit(f"memci: {error}")


def _claim_vectors() -> None:
    here = runtime()
    try:
        claim_embedder(here.database, here.models.embedder)
    except UnavailableError:
        _log.warning("the database is away: each job compares the embedder before it writes")


@signals.worker_ready.connect
def _watch_work(**_: Any) -> None:
    watchdog.watch()


@signals.worker_ready.connect
@signals.beat_init.connect
def _is_ready(**_: Any) -> None:
    tune_garbage_collection()
    tell_ready()


@signals.worker_ready.connect
def _watch_queues(sender: Any, **_: Any) -> None:
    """Watch agents' queues and webhooks beside upkeep: that needs no model and hardly any time."""
    if UPKEEP_QUEUE in sender.app.amqp.queues.consume_from:
        _watches.extend((runtime().queue_watch(), runtime().webhook_watch()))
        for watch in _watches:
            watch.start()


@signals.worker_shutting_down.connect
def _request_stop(**_: Any) -> None:
    """Let every lane end its job or node, release and stop (queue.md, SIGTERM)."""
    runtime().stopping.set()


@signals.worker_shutdown.connect
def _close(**_: Any) -> None:
    for watch in _watches:
        watch.stop()
    runtime().close()
