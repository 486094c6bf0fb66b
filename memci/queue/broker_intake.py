"""Broker intake: moves the Celery messages of producers into the mailbox of their agent (queue.md).

Only the holder of the agent's lease does it. Messages leave the broker after COMMIT; one that is
delivered again finds its job in the mailbox. A message that cannot be taken in becomes a dead
letter with its bytes: only the two ends if it is too large to be read, and without erased messages
(M25).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import structlog
from pydantic import ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import DataError

from memci.broker.app import BROKER_ERRORS, broker_errors
from memci.broker.intake_queues import AgentQueues, Batch
from memci.broker.message_decoding import IncomingMessage, decode
from memci.broker.names import COMPRESS_TASK, CREATE_TASK
from memci.domain.job import JobKind, JobSource
from memci.errors import ConflictError, ErasedError, InvalidInputError
from memci.message import AppendLimits
from memci.queue import dead_letters, lane_control, mailbox
from memci.queue.intake import Append, append_in, remember_stored
from memci.queue.lease import Lease
from memci.schemas.messages import CompressArguments, CreateArguments, StoredArguments
from memci.schemas.problems import describe_faults
from memci.storage.agents import redaction_of

_log = structlog.get_logger(__name__)
_IS_HALTED = "SELECT halted_by IS NOT NULL FROM lane WHERE agent_id = %s"
_BATCH = 100  # messages that are taken in at once


class BrokerIntake:
    """Moves messages for lease holders; safe for threads."""

    def __init__(
        self,
        queues: AgentQueues,
        *,
        limits: AppendLimits,
        batch: int = _BATCH,
        halt_on_dead: bool = False,
    ) -> None:
        """Take up to ``batch`` messages at a time, each and all within ``limits``.

        With ``halt_on_dead`` one at a time: the messages behind a dead letter stay in the broker.
        """
        self._queues = queues
        self._batch = 1 if halt_on_dead else batch
        self._halt = halt_on_dead
        self._limits = limits

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Return the agents whose queue holds messages; asks only where that is cheap.

        With ``queue_seen`` it always asks. Raises ``BrokerUnavailableError``.
        """
        with broker_errors():
            return self._queues.occupied(agent_ids, queue_seen=queue_seen)

    def take_in(self, lease: Lease) -> int:
        """Move one batch of waiting messages; return how many.

        Raises ``BrokerUnavailableError``, ``DatabaseUnavailableError`` or ``FencedOffError``;
        messages that were moved by then are delivered again and recognised.
        """
        with broker_errors():
            batch = self._queues.take(lease.agent_id, self._batch, self._limits.request_bytes)
        if not batch.raw:
            return 0
        try:
            with lease.effect() as connection:
                count = self._store(connection, lease.agent_id, batch)
        except BaseException:
            with suppress(*BROKER_ERRORS):
                batch.abandon()
            raise
        with broker_errors():
            if count:
                batch.confirm()
            else:
                batch.abandon()
        return count

    def _store(self, connection: Connection, agent_id: str, batch: Batch) -> int:
        if self._halt and connection.exec_driver_sql(_IS_HALTED, (agent_id,)).scalar():
            return 0
        for raw in batch.raw:
            dead = take_in(connection, agent_id, raw, self._limits)
            if self._halt and dead is not None:
                lane_control.halt_lane(connection, agent_id, dead)
        return len(batch.raw)


def take_in(connection: Connection, agent_id: str, raw: bytes, limits: AppendLimits) -> UUID | None:
    """Execute a message, or bury it, in a transaction of the agent.

    Returns the id of the dead job if the message was buried now, else None.
    """
    message: IncomingMessage | None = None
    try:
        message = decode(raw, limit_bytes=limits.request_bytes)
        try:
            # A message that fails half-way must not undo the ones before it.
            with connection.begin_nested():
                _accept(connection, agent_id, message, limits)
        except ErasedError as error:
            _log.warning(
                "incoming message holds erased messages", agent_id=agent_id, job_id=str(message.id)
            )
            return dead_letters.bury_erased(connection, agent_id, message, error)
    except (InvalidInputError, ConflictError) as error:
        reason = str(error)
    except DataError:  # its text quotes the message
        reason = "the database cannot hold what is in it"
    else:
        return None
    # Bytes that cannot be read cannot be redacted.
    keeps_bytes = not redaction_of(connection, agent_id, limits.redact)
    dead = dead_letters.bury(connection, agent_id, raw, message, reason, keeps_bytes=keeps_bytes)
    job_id = str(dead or (message and message.id))
    _log.warning("incoming message not taken in", agent_id=agent_id, job_id=job_id, error=reason)
    return dead


def redeliver(connection: Connection, agent_id: str, raw: bytes, limits: AppendLimits) -> UUID:
    """Take in a dead letter again, as a new job; return its id.

    Raises ``ConflictError`` with the reason when it still cannot be taken in.
    """
    try:
        message = replace(decode(raw, limit_bytes=limits.request_bytes), id=uuid4())
        _accept(connection, agent_id, message, limits)
    except InvalidInputError as error:
        raise ConflictError(f"this message still cannot be taken in: {error}") from None
    return message.id


def _accept(
    connection: Connection, agent_id: str, message: IncomingMessage, limits: AppendLimits
) -> None:
    if message.positional:
        raise InvalidInputError("arguments go by name (kwargs), none by its place (args)")
    arguments = dict(message.arguments)
    if arguments.get("agent_id") != agent_id:
        raise InvalidInputError("agent_id in the message is not the agent of this queue")
    try:
        if message.task == CREATE_TASK and "message_ids" in arguments:
            stored = StoredArguments.model_validate(arguments)
            stored.check_limits(limits)
            job = mailbox.NewJob(
                agent_id,
                JobKind.CREATE,
                JobSource.CELERY,
                message.id,
                traceparent=message.traceparent,
            )
            remember_stored(connection, job, stored.message_ids)
        elif message.task == CREATE_TASK:
            append_in(connection, _append_request(message, arguments, limits))
        elif message.task == COMPRESS_TASK:
            CompressArguments.model_validate(arguments)
            if not mailbox.trigger_compress(connection, agent_id):
                _log.warning("compression requested for an unknown agent", agent_id=agent_id)
        else:
            raise InvalidInputError(f"unknown task; known are {CREATE_TASK} and {COMPRESS_TASK}")
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error, _ARGUMENTS.get(error.title))) from None


_ARGUMENTS = {each.__name__: each for each in (CreateArguments, StoredArguments, CompressArguments)}


def _append_request(
    message: IncomingMessage, raw_arguments: Mapping[str, Any], limits: AppendLimits
) -> Append:
    arguments = CreateArguments.model_validate(raw_arguments)
    arguments.check_limits(limits)
    return Append(
        agent_id=arguments.agent_id,
        messages=[each.to_domain() for each in arguments.messages],
        session_id=arguments.session_id,
        user_id=arguments.user_id,
        remember=arguments.remember,
        skip_erased=arguments.skip_erased,
        source=JobSource.CELERY,
        job_id=message.id,
        traceparent=message.traceparent,
        redact=limits.redact,
    )
