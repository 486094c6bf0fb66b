"""Broker intake: moves the Celery messages of producers into the mailbox of their agent (queue.md).

Only the holder of the agent's lease crosses it. Messages leave the broker after COMMIT; one that
comes again finds its job there. What cannot be taken in becomes a dead job with its bytes kept;
of what is too large to be read, with its ends; of what brings erased messages, without these (M25).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import structlog
from pydantic import ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import DataError

from memci.broker.agent_queues import AgentQueues, Batch
from memci.broker.health import BROKER_ERRORS, broker_errors
from memci.broker.incoming_messages import IncomingMessage, decode, letter_id
from memci.broker.names import COMPRESS_TASK, CREATE_TASK
from memci.domain.job import JobSource
from memci.errors import ConflictError, ErasedError, InvalidInputError, shown_name
from memci.message import AppendLimits
from memci.queue import dead_jobs, mailbox, submit
from memci.queue.dead_jobs import bury_erased
from memci.queue.intake import CREATE_KIND, Append, append_in
from memci.queue.lease import Lease
from memci.schemas.messages import CompressArguments, CreateArguments, StoredArguments
from memci.schemas.problems import describe_faults
from memci.storage import messages
from memci.storage.erasure.erase import erased_among
from memci.storage.memory_state import mark_asked, unasked_messages


@dataclass(frozen=True, slots=True)
class AskStored:
    """A wish that stored messages be remembered, whatever was wished when they came."""

    agent_id: str
    message_ids: Sequence[str]
    job_id: UUID
    source: JobSource
    traceparent: str | None = None


def ask_in(connection: Connection, request: AskStored) -> bool:
    """Queue one job for those messages of which no memory was made yet.

    Whoever names a message that was filtered insists: now one is made of it (R2). False when there
    is nothing to make: all are made or on their way, or this is the same wish again.
    Raises ``InvalidInputError`` when a message is not stored, ``ErasedError`` when it was erased,
    and then nothing is written.
    """
    woken, _ = submit.lock_lane(connection, request.agent_id)
    found = unasked_messages(connection, request.agent_id, request.message_ids)
    if found.missing:
        _tell_erased(connection, request, found.missing)
        place = found.missing[0]
        raise InvalidInputError(
            f"{len(found.missing)} of {len(request.message_ids)} messages are not stored, such as "
            f"message_ids[{place}], '{shown_name(request.message_ids[place])}'; "
            "store them first, then ask for them by their ids"
        )
    seqs = found.seqs
    if not seqs or _is_known(connection, request, seqs):
        submit.unlock_lane(connection, request.agent_id, woken=woken)
        return False
    mark_asked(connection, request.agent_id, seqs)
    job = submit.NewJob(
        agent_id=request.agent_id,
        id=request.job_id,
        kind=CREATE_KIND,
        source=request.source,
        first_seq=seqs[0],
        last_seq=seqs[-1],
        payload={"seqs": seqs, **({"wanted": found.filtered} if found.filtered else {})},
        traceparent=request.traceparent,
    )
    submit.insert_job(connection, job)
    return True


def _tell_erased(connection: Connection, request: AskStored, missing: Sequence[int]) -> None:
    ids = {place: request.message_ids[place] for place in missing}
    erased = erased_among(connection, request.agent_id, ids.values())
    places = [place for place in missing if ids[place] in erased]
    if places:
        raise ErasedError(
            f"message_ids[{places[0]}]: '{shown_name(ids[places[0]])}' was erased for good; "
            "leave it out",
            field=f"message_ids[{places[0]}]",
            places=places,
        )


def _is_known(connection: Connection, request: AskStored, seqs: Sequence[int]) -> bool:
    """Tell whether this wish came before, and its job was cancelled meanwhile."""
    payload = submit.payload_of(connection, request.agent_id, request.job_id)
    if payload is None:
        return False
    if not set(seqs) <= set(payload.get("seqs", ())):
        raise ConflictError(
            "this task id was used before for something else; give every message an id of its own"
        )
    return True


_log = structlog.get_logger(__name__)
UNREADABLE_KIND = "memci.letter.unreadable"


class BrokerIntake:
    """Crosses for lease holders; safe for threads."""

    def __init__(
        self, queues: AgentQueues, *, batch: int, limits: AppendLimits, halt_on_dead: bool = False
    ) -> None:
        """Take up to ``batch`` messages at a time, each and all within ``limits``.

        With ``halt_on_dead`` one at a time: what lies behind a message that could not be taken in
        stays in the broker until somebody decides about that one.
        """
        self._queues = queues
        self._batch = 1 if halt_on_dead else batch
        self._halt = halt_on_dead
        self._limits = limits

    def occupied(self, agent_ids: Sequence[str], *, rung: bool = False) -> list[str]:
        """Return those of these agents for whom something waits, as far as it is cheap to ask.

        With ``rung`` it is asked in any case. Raises ``BrokerUnavailableError``.
        """
        with broker_errors():
            return self._queues.occupied(agent_ids, rung=rung)

    def cross(self, lease: Lease) -> int:
        """Move what waits, one batch; returns how many messages it was.

        Raises ``BrokerUnavailableError``, ``DatabaseUnavailableError`` or ``FencedOffError``; what
        was moved by then comes again and is known.
        """
        with broker_errors():
            batch = self._queues.take(lease.agent_id, self._batch, self._limits.request_bytes)
        if not batch.raw:
            return 0
        try:
            with lease.effect() as connection:
                crossed = self._take_in(connection, lease.agent_id, batch)
        except BaseException:
            with suppress(*BROKER_ERRORS):
                batch.abandon()
            raise
        with broker_errors():
            if crossed:
                batch.confirm()
            else:
                batch.abandon()
        return crossed

    def _take_in(self, connection: Connection, agent_id: str, batch: Batch) -> int:
        if self._halt and dead_jobs.is_halted(connection, agent_id):
            return 0
        for raw in batch.raw:
            dead = take_in(connection, agent_id, raw, self._limits)
            if self._halt and dead is not None:
                dead_jobs.halt_lane(connection, agent_id, dead)
        return len(batch.raw)


def take_in(connection: Connection, agent_id: str, raw: bytes, limits: AppendLimits) -> UUID | None:
    """Do what a message asks, or bury it, in a transaction of the agent.

    Returns the dead job that a message newly became; else None.
    """
    letter: IncomingMessage | None = None
    try:
        letter = decode(raw, limit_bytes=limits.request_bytes)
        try:
            # A letter that turns out bad half-way must not undo the ones before it.
            with connection.begin_nested():
                _deliver(connection, agent_id, letter, limits)
        except ErasedError as error:
            _log.warning("letter brings what was erased", agent_id=agent_id, job_id=str(letter.id))
            return bury_erased(connection, agent_id, letter, error)
    except (InvalidInputError, ConflictError) as error:
        return _bury(connection, agent_id, raw, letter, str(error))
    except DataError:  # its words quote the letter
        return _bury(connection, agent_id, raw, letter, "the database cannot hold what is in it")
    return None


def _deliver(
    connection: Connection, agent_id: str, letter: IncomingMessage, limits: AppendLimits
) -> None:
    if letter.positional:
        raise InvalidInputError("arguments go by name (kwargs), none by its place (args)")
    arguments = dict(letter.arguments)
    if arguments.get("agent_id") != agent_id:
        raise InvalidInputError("agent_id in the message is not the agent of this queue")
    try:
        match letter.task:
            case _ if letter.task == CREATE_TASK and "message_ids" in arguments:
                _ask(connection, letter, arguments, limits)
            case _ if letter.task == CREATE_TASK:
                _create(connection, letter, arguments, limits)
            case _ if letter.task == COMPRESS_TASK:
                CompressArguments.model_validate(arguments)
                if not mailbox.trigger_compress(connection, agent_id):
                    _log.warning("compression of an unknown agent", agent_id=agent_id)
            case _:
                raise InvalidInputError(
                    f"unknown task; known are {CREATE_TASK} and {COMPRESS_TASK}"
                )
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error)) from None


def redeliver(connection: Connection, agent_id: str, raw: bytes, limits: AppendLimits) -> UUID:
    """Take in a letter that was refused before, as a new job; returns its id.

    Raises ``ConflictError`` with the reason when it still cannot be taken in.
    """
    try:
        letter = replace(decode(raw, limit_bytes=limits.request_bytes), id=uuid4())
        _deliver(connection, agent_id, letter, limits)
    except InvalidInputError as error:
        raise ConflictError(f"this message still cannot be taken in: {error}") from None
    return letter.id


def _create(
    connection: Connection, letter: IncomingMessage, given: dict[str, Any], limits: AppendLimits
) -> None:
    arguments = CreateArguments.model_validate(given)
    arguments.check_limits(limits)
    append_in(
        connection,
        Append(
            agent_id=arguments.agent_id,
            messages=[each.to_domain() for each in arguments.messages],
            session_id=arguments.session_id,
            user_id=arguments.user_id,
            remember=arguments.remember,
            skip_erased=arguments.skip_erased,
            source=JobSource.CELERY,
            job_id=letter.id,
            traceparent=letter.traceparent,
        ),
    )


def _ask(
    connection: Connection, letter: IncomingMessage, given: dict[str, Any], limits: AppendLimits
) -> None:
    arguments = StoredArguments.model_validate(given)
    arguments.check_limits(limits)
    ask_in(
        connection,
        AskStored(
            agent_id=arguments.agent_id,
            message_ids=arguments.message_ids,
            job_id=letter.id,
            source=JobSource.CELERY,
            traceparent=letter.traceparent,
        ),
    )


def _bury(
    connection: Connection, agent_id: str, raw: bytes, letter: IncomingMessage | None, error: str
) -> UUID | None:
    job_id = letter.id if letter else letter_id(None, raw)
    kind = letter.task if letter and letter.task in (CREATE_TASK, COMPRESS_TASK) else None
    _log.warning("letter not taken in", agent_id=agent_id, job_id=str(job_id), error=error)
    job = submit.NewJob(agent_id, job_id, kind or UNREADABLE_KIND, JobSource.CELERY)
    if messages.read(connection, agent_id, job_id) == raw:
        return None  # it came again, before it was removed
    if submit.is_taken(connection, job):  # by another message under the same task id
        job = replace(job, id=letter_id(None, raw))
    if not submit.insert_job(connection, job):
        return None
    messages.keep(connection, agent_id, job.id, raw, error)
    return job.id
