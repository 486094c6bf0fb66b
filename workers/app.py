"""The Celery app of workers, beat and Flower; its logs and events never hold content.

Celery writes results and errors into its log, and arguments, results and tracebacks into the
events that Flower shows. All of these may hold text of users.
"""

import json
import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
from celery import Task
from celery.utils.threads import bound_open_broker_sockets
from celery.worker.consumer import consumer
from celery.worker.consumer.consumer import COLLECT_SOCKET_TIMEOUT, Consumer
from celery.worker.request import Request
from kombu import Connection

from beat_schedule import beat_schedule
from memci.broker.app import BROKER_ERRORS, make_app
from memci.broker.rabbitmq_queues import raw_message
from memci.config.settings import load_settings
from memci.domain.documents import check_owner
from memci.embedded.owner import addresses_of
from memci.errors import ConfigurationError, InvalidInputError, MemciError, UnavailableError
from workers import redis_transport

_log = structlog.get_logger(__name__)


# Their arguments are headers and body of a message.
_QUOTING = frozenset(
    (
        consumer.UNKNOWN_FORMAT,
        consumer.UNKNOWN_TASK_ERROR,
        consumer.INVALID_TASK_ERROR,
        consumer.MESSAGE_DECODE_ERROR,
    )
)


def _without_message(record: logging.LogRecord) -> bool:
    if record.msg in _QUOTING:
        said = str(record.msg).strip().splitlines()[0]
        record.msg, record.args, record.exc_info = said.partition("%")[0].rstrip(), (), None
    return True


def quiet_logs() -> None:
    """Keep Celery from logging the content of messages, at every level."""
    logging.getLogger(consumer.__name__).addFilter(_without_message)
    # At the level "debug", pools log arguments; "celery.pool" is the logger of all of them.
    for name in ("celery.pool", "celery.concurrency"):
        logging.getLogger(name).setLevel(logging.INFO)


class QuietRequest(Request):  # type: ignore[misc]
    """A task's message in reports, with the agent's id as its only argument."""

    @property
    def argsrepr(self) -> str:
        """Positional arguments: none."""
        return "()"

    @property
    def kwargsrepr(self) -> str:
        """Arguments by name, as JSON."""
        return json.dumps(self._safe_arguments())

    def info(self, *, safe: bool = False) -> dict[str, Any]:
        """Return the description of the task for remote inspection."""
        del safe
        return {**super().info(safe=True), "args": [], "kwargs": self._safe_arguments()}

    def _safe_arguments(self) -> dict[str, str]:
        try:
            return {"agent_id": check_owner(self.kwargs.get("agent_id"))}
        except InvalidInputError:
            return {}


class QuietTask(Task):  # type: ignore[misc]
    """A task that reports neither its result nor the messages of other libraries' errors."""

    Request = QuietRequest
    resultrepr_maxsize = 0
    throws = (MemciError,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run; replace errors of other libraries by a ``MemciError``.

        Their messages quote rows, parameters and addresses.
        """
        try:
            return super().__call__(*args, **kwargs)
        except InvalidInputError as error:
            raise error from None
        except Exception as error:
            _log.exception("task failed", task=self.name)
            if isinstance(error, MemciError):
                raise error from None
            raise MemciError("the worker failed; its log says why") from None


def _is_stored(message: Any) -> bool:
    """Store a message of an agent's own queue that is no task; return whether it was one.

    Raises ``UnavailableError``.
    """
    from workers import own_queue  # noqa: PLC0415 - it imports this module

    agent_id = own_queue.agent_of(str(message.delivery_info.get("routing_key")))
    if agent_id is None:
        return False
    raw = raw_message(message, own_queue.max_bytes())
    if own_queue.is_task(raw):
        return False
    own_queue.store(agent_id, raw)
    return True


# Seconds between two tries to reach the broker: a short outage of it stays a short one of ours.
_TRIES = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}


class LastingConsumer(Consumer):  # type: ignore[misc]
    """A consumer that survives a crash of Redis while a task runs, and messages without an id."""

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        """Return the function that takes messages.

        Celery 5.7 takes its own errors for a lost connection, and then reads the message again.
        """
        handle = super().create_task_handler(*args, **kwargs)

        def tolerant(message: Any) -> Any:
            try:
                if self.connection.transport.driver_type == "amqp" and _is_stored(message):
                    return message.ack_log_error(consumer.logger, self.connection_errors)
                return handle(message)
            except UnavailableError as error:  # the broker delivers it again to the next worker
                _log.warning("no broker intake", error=type(error).__name__)
                return None
            except BROKER_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - the message may hold anything
                _log.warning("rejected a message of no task", error=type(error).__name__)
                message.reject_log_error(consumer.logger, self.connection_errors)

        return tolerant

    def ensure_connected(self, conn: Connection) -> Connection:
        """Return the connection when it is open; Celery would pause for up to 30 seconds."""
        conn.ensure_connection = partial(conn.ensure_connection, **_TRIES)
        return super().ensure_connected(conn)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close the channel of tasks, then the connection.

        A channel of kombu 5.7 that still reads from Redis fails when it is closed, and is only
        closed at the second try. Celery would close the connection in between, and the worker would
        end when it restores or acknowledges the message of a task over that connection.
        """
        connection = self.connection
        if self.task_consumer is not None and connection.transport.driver_type == "redis":
            bound_open_broker_sockets(connection, COLLECT_SOCKET_TIMEOUT)
            connection.maybe_close_channel(self.task_consumer.channel)
        super().on_connection_error_after_connected(exc)


redis_transport.install()
try:
    settings = load_settings()
    app = make_app(addresses_of(settings).broker_url)
except ConfigurationError as error:
    sys.exit(f"memci: {error}")

app.Task = QuietTask
app.conf.update(
    worker_consumer=LastingConsumer,
    include=["workers.lanes", "workers.reads", "workers.upkeep", "workers.lifecycle"],
    beat_schedule=beat_schedule(settings),
    # In memory: a file would need a place to write, and could say nothing that is not in the
    # database.
    beat_scheduler="celery.beat:Scheduler",
    beat_max_loop_interval=1,
)
