"""kombu's Redis transport, whose consumer survives what is no message of Celery.

Whoever has a login of the broker can put anything into a queue. kombu 5.7 would raise its decoding
error in the worker's main loop, which ends the worker.
"""

from queue import Empty
from typing import Any

import structlog
from kombu.transport import TRANSPORT_ALIASES, redis

from memci.broker.app import BROKER_ERRORS

_log = structlog.get_logger(__name__)


class Channel(redis.Channel):  # type: ignore[misc]
    """A channel that drops what is no message."""

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


class Transport(redis.Transport):  # type: ignore[misc]
    """The transport of ``redis://`` after ``install``."""

    Channel = Channel


def install() -> None:
    """Let Celery use this transport for Redis in this process."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
