"""The Celery app: one configuration for producers and workers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import amqp.exceptions
import kombu.exceptions
import redis
import redis.exceptions
from celery import Celery
from redis.utils import str_if_bytes

from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE, queue
from memci.errors import BrokerUnavailableError

REDIS_SCHEMES = ("redis://", "rediss://", "redis+socket://")

# Longer than a slice with its longest node. A wakeup that comes twice is harmless.
_VISIBILITY_TIMEOUT_S = 600

_CONF: dict[str, Any] = {
    # JSON only: pickle would run the code of whoever can reach the broker.
    "task_serializer": "json",
    "result_serializer": "json",
    "accept_content": ["json"],
    "result_accept_content": ["json"],
    # The mailbox holds the results of jobs. Reads answer to a separate key; callers may ask for a
    # Celery result (ignore_result=False).
    "task_ignore_result": True,
    "result_expires": 60,
    # Early acknowledgement would hide the next wakeup in a busy worker for a whole slice.
    "task_acks_late": True,
    # A wakeup is a hint. True could redeliver one that kills workers for ever.
    "task_reject_on_worker_lost": False,
    # A reserved wakeup is invisible to idle workers.
    "worker_prefetch_multiplier": 1,
    "task_default_queue": LANE_QUEUE,
    "task_queues": [queue(each) for each in (LANE_QUEUE, COMPRESS_QUEUE, READ_QUEUE, UPKEEP_QUEUE)],
    # `-Q memci.agent.42` subscribes a worker to one agent.
    "task_create_missing_queues": True,
    # Off, a worker hangs for ever after a crash of the broker with a task in flight.
    "worker_enable_remote_control": True,
    # Workers start before the broker, and outlive its restarts of any length.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    # The lease, not the connection to the broker, is the right to run.
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    # On SIGTERM a slice may end: the lane loop looks at its flag between jobs and nodes.
    "worker_soft_shutdown_timeout": 40,
    # Flower sees tasks and the jobs that the lane reports under their own names.
    "worker_send_task_events": True,
    "task_send_sent_event": False,
    "worker_hijack_root_logger": False,
    # One short try: the sweep replaces a wakeup that cannot be published.
    "task_publish_retry": False,
    "broker_connection_timeout": 2,
    # For quorum queues Celery prepares 28 more for delays of any length. We delay nothing.
    "broker_native_delayed_delivery_queue_type": "classic",
    "timezone": "UTC",
    "enable_utc": True,
}
# Seconds that a socket waits; shorter for producers, whose callers wait.
_PATIENCE_S = 30
_PRODUCER_PATIENCE_S = 2
_REDIS_OPTIONS: dict[str, Any] = {
    "visibility_timeout": _VISIBILITY_TIMEOUT_S,
    # One list per queue instead of four: we use queues, not priorities.
    "priority_steps": [0],
    # Half-open connections are found.
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "health_check_interval": 25,
}


def make_app(broker_url: str) -> Celery:
    """Return the Celery app of workers on this broker; it connects when first used."""
    app = _make(broker_url, _PATIENCE_S)
    if is_redis(broker_url):
        # On RabbitMQ the prefetch count does it, since acknowledgements come late.
        app.conf.update(result_backend=broker_url, worker_disable_prefetch=True)
    else:
        app.conf.update(result_backend="rpc://")
    return app


def make_producer(broker_url: str) -> Celery:
    """Return an app that only sends; no caller waits long for a broker that does not answer.

    Without a result backend: to prepare for a result costs round trips, and Celery prepares on
    one connection for all threads.
    """
    app = _make(broker_url, _PRODUCER_PATIENCE_S)
    # Each host of the address is tried once; kombu would wait two seconds and try again.
    app.conf.broker_transport_options["max_retries"] = broker_url.count(";")
    return app


def _make(broker_url: str, patience_s: int) -> Celery:
    app = Celery("memci", broker=broker_url, set_as_current=False)
    options = (
        {**_REDIS_OPTIONS, "socket_timeout": patience_s}
        if is_redis(broker_url)
        else {"confirm_publish": True, "read_timeout": patience_s, "write_timeout": patience_s}
    )
    app.conf.update(_CONF, broker_transport_options=options)
    return app


def is_redis(broker_url: str) -> bool:
    """Return True for a Redis broker, False for an AMQP one."""
    return broker_url.startswith(REDIS_SCHEMES)


BROKER_ERRORS: tuple[type[Exception], ...] = (
    kombu.exceptions.OperationalError,
    redis.exceptions.RedisError,
    amqp.exceptions.AMQPError,
    amqp.exceptions.MessageNacked,
    OSError,
)


@contextmanager
def broker_errors() -> Iterator[None]:
    """Raise ``BrokerUnavailableError``, without address and password, for ``BROKER_ERRORS``."""
    try:
        yield
    except BROKER_ERRORS as error:
        raise BrokerUnavailableError from error


_TIMEOUT_S = 2


def check_broker(app: Celery) -> None:
    """Raise ``BrokerUnavailableError`` if the broker does not answer within two seconds."""
    with broker_errors(), app.connection_for_write(connect_timeout=_TIMEOUT_S) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=_TIMEOUT_S)


def redis_state(client: redis.Redis) -> tuple[str, dict[str, str]]:
    """Return the version and the configuration of a Redis; {} if hosted ones forbid to read it.

    Raises ``BrokerUnavailableError``.
    """
    with broker_errors():
        version = str(client.info("server")["redis_version"])
        try:
            found = cast("dict[Any, Any]", client.config_get("*"))
        except redis.ResponseError:
            return version, {}
    return version, {str_if_bytes(key): str_if_bytes(value) for key, value in found.items()}


_WORKER = "memci-worker:"
_NOT_IN_NAMES = re.compile("[^!-~]")  # Redis refuses them


def name_connections(app: Celery, worker: str, queues: Iterable[str]) -> None:
    """Let connections that this worker opens from here on name it, for ``connected``; on Redis."""
    if not is_redis(app.conf.broker_url):
        return
    name = _NOT_IN_NAMES.sub("?", f"{_WORKER}{worker}:{','.join(sorted(queues))}")
    app.conf.broker_transport_options |= {"client_name": name}


def connected(client: redis.Redis) -> Mapping[str, set[str]]:
    """Return the workers with a connection to Redis, by queue: also those that do not answer.

    {} if a hosted Redis forbids to ask. Raises ``BrokerUnavailableError``.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    with broker_errors():
        try:
            names = {str_if_bytes(each["name"]) for each in client.client_list()}
        except redis.ResponseError:
            return found
    for name in names:
        if name.startswith(_WORKER):
            worker, _, queues = name.removeprefix(_WORKER).rpartition(":")
            for queue in queues.split(","):
                found[queue].add(worker)
    return found


def consumers(app: Celery) -> Mapping[str, list[str]]:
    """Return the workers that answer, by the queue that they consume."""
    with broker_errors():
        answers = app.control.inspect(timeout=_TIMEOUT_S).active_queues() or {}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for worker, queues in answers.items():
        for each in queues:
            found[each["name"]].append(worker)
    return found
