"""Checks of the broker and its configuration, and the errors of an unavailable broker."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import amqp.exceptions
import kombu.exceptions
import redis
import redis.exceptions
from celery import Celery

from memci.errors import BrokerUnavailableError

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


@dataclass(frozen=True, slots=True)
class RedisState:
    """The configuration of a Redis; None if it cannot be read."""

    version: str
    appendonly: bool | None
    maxmemory_policy: str | None
    keyspace_events: str | None


def redis_state(client: redis.Redis) -> RedisState:
    """Read the configuration of a Redis; raises ``BrokerUnavailableError``."""
    with broker_errors():
        version = str(client.info("server")["redis_version"])
        appendonly = _setting(client, "appendonly")
        return RedisState(
            version=version,
            appendonly=None if appendonly is None else appendonly == "yes",
            maxmemory_policy=_setting(client, "maxmemory-policy"),
            keyspace_events=_setting(client, "notify-keyspace-events"),
        )


def consumers(app: Celery) -> Mapping[str, list[str]]:
    """Return the workers that answer, by the queue that they consume."""
    with broker_errors():
        answers = app.control.inspect(timeout=_TIMEOUT_S).active_queues() or {}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for worker, queues in answers.items():
        for queue in queues:
            found[queue["name"]].append(worker)
    return found


def _setting(client: redis.Redis, name: str) -> str | None:
    try:
        found = cast("dict[Any, Any]", client.config_get(name))
    except redis.ResponseError:  # hosted ones forbid CONFIG
        return None
    return next(
        (each.decode() if isinstance(each, bytes) else each for each in found.values()), None
    )
