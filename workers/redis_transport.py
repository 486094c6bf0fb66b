"""kombu's Redis transport, whose consumer survives what is no message of Celery.

Whoever has a login of the broker can put anything into a queue. kombu 5.7 would raise its decoding
error in the worker's main loop, which ends the worker.
"""

import json
import time
from collections.abc import Mapping
from queue import Empty
from typing import Any

import structlog
from kombu.transport import TRANSPORT_ALIASES, redis

from memci.broker.app import BROKER_ERRORS
from memci.errors import UnavailableError

_log = structlog.get_logger(__name__)

# After an item that could not be stored: without the database there is nothing else to do.
_PAUSE_S = 1.0


class Channel(redis.Channel):  # type: ignore[misc]
    """A channel that drops what is no message, and keeps it where an agent's queue held it."""

    def _create_client(self, *arguments: Any, **options: Any) -> Any:
        client = super()._create_client(*arguments, **options)
        client.set_response_callback("BRPOP", self._check)
        return client

    def _check(self, taken: list[bytes] | None, **_: Any) -> list[bytes] | None:
        """Return the queue and the item, or None if it is no task of an agent's own queue."""
        from workers import own_queue  # noqa: PLC0415 - it imports the app, which imports this

        if not taken:
            return None
        queue, item = taken
        name = queue.decode(errors="replace")
        agent_id = own_queue.agent_of(name)
        if agent_id is None or (_is_addressed(item, name) and own_queue.is_task(item)):
            return taken
        try:
            own_queue.store(agent_id, item)
        except UnavailableError as error:
            # To the end of the line, so that others go on.
            self.client.lpush(queue, item)
            _log.warning("no broker intake", agent_id=agent_id, error=type(error).__name__)
            time.sleep(_PAUSE_S)
        return None

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except Empty:
            raise
        except BROKER_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - decoding raises errors of many kinds
            # Without the item, which may hold text of users.
            _log.warning("dropped an item that is no message", error=type(error).__name__)
            raise Empty from None


def _is_addressed(item: bytes, queue: str) -> bool:
    """Return True if kombu can deliver this envelope, and it says that it is for this queue."""
    try:
        properties = json.loads(item)["properties"]
        where = properties["delivery_info"]
        return (
            isinstance(properties["delivery_tag"], str)
            and isinstance(where, Mapping)
            and where["routing_key"] == queue
            and isinstance(where["exchange"], str)
        )
    except (ValueError, RecursionError, LookupError, TypeError):
        return False


class Transport(redis.Transport):  # type: ignore[misc]
    """The transport of ``redis://`` after ``install``."""

    Channel = Channel


def install() -> None:
    """Let Celery use this transport for Redis in this process."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
