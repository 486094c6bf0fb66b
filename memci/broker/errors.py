"""What "the broker is away" looks like in the libraries below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import amqp.exceptions
import kombu.exceptions
import redis.exceptions

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
    """Turn them into ``BrokerUnavailableError``, which holds no address and no password."""
    try:
        yield
    except BROKER_ERRORS as error:
        raise BrokerUnavailableError from error
