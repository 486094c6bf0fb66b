"""Intake: stores messages and submits their job in one transaction, then wakes a worker (queue.md).

Ids that are derived from a producer's own make a repeated request find what it stored before.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4, uuid5

import anyio.to_thread
import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from memci.broker.wakeup import WakeupPublisher, Wakeups
from memci.domain.job import JobKind, JobSource
from memci.errors import ConflictError, ErasedError, InvalidInputError, shown_name
from memci.language.times.calendar import offset_of
from memci.message import NewMessage, Remember
from memci.queue import mailbox
from memci.schemas.agents import CompressAnswer
from memci.schemas.messages import AppendAnswer
from memci.storage import messages as stored
from memci.storage import pending_messages
from memci.storage.erasure.erase import erased_among
from memci.storage.pipelined_transaction import PipelinedStatements
from memci.storage.session import Database

_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000001")

# The lane's row is locked first: all else reads what that returns, so seqs and ordinals follow the
# order of commits.
_SUBMIT = """
WITH locked AS (
    INSERT INTO lane (agent_id, wake_at, written_at, message_seq)
    VALUES (%(agent_id)s, clock_timestamp(), now(), %(count)s)
    ON CONFLICT (agent_id) DO UPDATE
    SET wake_at = coalesce(lane.wake_at, excluded.wake_at), written_at = now(),
        message_seq = lane.message_seq + %(count)s
    RETURNING message_seq AS last_seq, message_seq - %(count)s AS seq_before,
              wake_at >= now() AS woken),
stored AS (
    INSERT INTO message (agent_id, seq, id, role, content, name, tool_calls, tool_call_id,
                         metadata, said_at, said_offset, session_id, user_id, remember,
                         memory_state)
    SELECT %(agent_id)s, seq_before + n, id, role, content, name, tool_calls, tool_call_id,
           metadata, coalesce(said_at, now()), said_offset, %(session_id)s, %(user_id)s,
           %(remember)s, %(memory_state)s
    FROM locked, jsonb_to_recordset(%(messages)s::jsonb)
         AS new (n int, id text, role text, content text, name text, tool_calls jsonb,
                 tool_call_id text, metadata jsonb, said_at timestamptz,
                 said_offset smallint)),
queued AS (
    INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
    SELECT %(agent_id)s, %(job_id)s, %(kind)s, '{}', %(source)s, seq_before + 1, last_seq,
           %(traceparent)s
    FROM locked)
SELECT last_seq, woken FROM locked
"""


@dataclass(frozen=True, slots=True)
class Append:
    """A request to append messages."""

    agent_id: str
    messages: Sequence[NewMessage]
    session_id: str | None = None
    user_id: str | None = None
    remember: Remember = Remember.NOW
    skip_erased: bool = False  # leave erased messages out instead of refusing the request
    source: JobSource = JobSource.HTTP
    key: str | None = None  # the same key is the same request
    job_id: UUID | None = None
    traceparent: str | None = None


class Intake:
    """Takes messages and requests for compression; durable when a call returns."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        """Write to ``database``, then wake workers through ``wakeups``."""
        self._database = database
        self._wakeups = wakeups

    def append(self, request: Append) -> AppendAnswer:
        """Store the messages and submit their job, all or nothing.

        A message or request that is already stored counts as a duplicate. Raises ``ConflictError``
        when an id or a key comes again with other content, ``ErasedError`` when a message was
        erased and is not to be skipped.
        """
        try:  # Most messages are new; the primary key finds those that are not.
            with self._database.agent_transaction(request.agent_id) as connection:
                job, messages = _job(request), _identified(request)
                seq, woken = _submit(connection, _values(request, job, messages))
        except IntegrityError:
            return self.append_known(request)
        if woken:
            self._wakeups.wake_lane(request.agent_id)
        return _answer(request, job, seq, duplicates=0)

    def append_known(self, request: Append) -> AppendAnswer:
        """Do as ``append`` where some of the messages are already stored."""
        with self._database.agent_transaction(request.agent_id) as connection:
            answer, woken = append_in(connection, request)
        if woken:
            self._wakeups.wake_lane(request.agent_id)
        return answer

    def request_compress(self, agent_id: str) -> CompressAnswer:
        """Request one more pass; requests that wait are one request (M16)."""
        with self._database.lane_transaction() as connection:
            number, coalesced, woken = mailbox.request_compress(connection, agent_id)
        if woken:
            self._wakeups.wake_compress(agent_id)
        return CompressAnswer(round=number, coalesced=coalesced)


@dataclass(frozen=True)
class AsyncIntake:
    """``Intake`` for an event loop; appending new messages needs no thread."""

    intake: Intake  # for requests with messages that are already stored
    statements: PipelinedStatements
    publisher: WakeupPublisher

    async def append(self, request: Append) -> AppendAnswer:
        """Do as ``Intake.append``."""
        job = _job(request)
        values = _values(request, job, _identified(request))
        try:
            seq, woken = await self.statements.run(request.agent_id, _SUBMIT, values)
        except psycopg.IntegrityError:
            return await anyio.to_thread.run_sync(self.intake.append_known, request)
        if woken:
            self.publisher.wake_lane(request.agent_id)
        return _answer(request, job, seq, duplicates=0)


def append_in(connection: Connection, request: Append) -> tuple[AppendAnswer, bool]:
    """Append the new messages, in a transaction of the agent.

    Returns the answer, and whether to publish a wakeup after COMMIT.
    """
    woken, last_seq = mailbox.lock_lane(connection, request.agent_id)
    identified = _identified(request)
    known = stored.find_stored(connection, request.agent_id, [each for each, _ in identified])
    unknown = [each for each, _ in identified if each not in known]
    erased = erased_among(connection, request.agent_id, unknown) if unknown else frozenset[str]()
    if erased and not request.skip_erased:
        ids = [each for each, _ in identified]
        advice = "is not taken in again; leave it out, as skip_erased does"
        raise _erased_error("messages", ids, erased, advice)
    new: list[tuple[str, NewMessage]] = []
    seq = last_seq
    for index, (message_id, message) in enumerate(identified):
        if message_id in erased:
            continue
        said = stored.identity_fields(message)
        if message_id not in known:
            new.append((message_id, message))
            known[message_id] = stored.Stored(last_seq + len(new), said)
        elif known[message_id].said != said:
            raise ConflictError(
                f"messages[{index}]: this id (or this Idempotency-Key) was used before for another"
                " message; give every message an id of its own"
            )
        seq = known[message_id].seq
    job = _job(request)
    if new and mailbox.payload_of(connection, job.agent_id, job.id) is not None:
        raise ConflictError(
            "this Idempotency-Key (or task id) was used before for fewer messages; "
            "give every request a key of its own"
        )
    if new:
        _submit(connection, _values(request, job, new))
    else:
        mailbox.unlock_lane(connection, request.agent_id, woken=woken)
    left_out = [each for each, _ in identified if each in erased]
    duplicates = len(identified) - len(new) - len(left_out)
    answer = _answer(request, job, seq, duplicates=duplicates, erased=left_out)
    return answer, woken and bool(new)


def _submit(connection: Connection, values: Mapping[str, Any]) -> tuple[int, bool]:
    """Store the messages and submit their job.

    Returns the last seq, and whether to publish a wakeup after COMMIT. Raises ``IntegrityError``
    when an id is not new.
    """
    last_seq, woken = connection.exec_driver_sql(_SUBMIT, dict(values)).one()
    return int(last_seq), bool(woken)


def _values(
    request: Append, job: mailbox.NewJob, messages: Sequence[tuple[str, NewMessage]]
) -> dict[str, Any]:
    """Return the values of ``_SUBMIT`` for messages, each with its id, and their job."""
    records = [_record(n, *each) for n, each in enumerate(messages, start=1)]
    return {
        "agent_id": request.agent_id,
        "session_id": request.session_id,
        "user_id": request.user_id,
        "remember": request.remember,
        "memory_state": "pending" if request.remember is Remember.NOW else "none",
        "count": len(messages),
        "messages": json.dumps(records, ensure_ascii=False),
        "job_id": job.id,
        "kind": job.kind,
        "source": job.source,
        "traceparent": job.traceparent,
    }


def _record(n: int, message_id: str, message: NewMessage) -> dict[str, Any]:
    said_at = message.said_at
    record = {
        "n": n,
        "id": message_id,
        "role": message.role,
        "content": message.content,
        "name": message.name,
        "tool_calls": [dict(call) for call in message.tool_calls] or None,
        "tool_call_id": message.tool_call_id,
        "metadata": dict(message.metadata) or None,
        "said_at": said_at and said_at.isoformat(),
        "said_offset": said_at and offset_of(said_at),
    }
    return {name: value for name, value in record.items() if value is not None}


def _answer(
    request: Append, job: mailbox.NewJob, seq: int, *, duplicates: int, erased: Sequence[str] = ()
) -> AppendAnswer:
    accepted = len(request.messages) - duplicates - len(erased)
    repeated = duplicates and (request.key or request.job_id)
    has_job = request.remember is Remember.NOW and (accepted or repeated)
    return AppendAnswer(
        job_id=job.id if has_job else None,
        seq=seq,
        accepted=accepted,
        duplicates=duplicates,
        erased=list(erased),
    )


def _job(request: Append) -> mailbox.NewJob:
    keyed = uuid5(_NAMESPACE, f"{request.agent_id}/{request.key}") if request.key else uuid4()
    return mailbox.NewJob(
        request.agent_id,
        JobKind.CREATE if request.remember is Remember.NOW else JobKind.INDEX_MESSAGES,
        request.source,
        request.job_id or keyed,
        traceparent=request.traceparent,
    )


def _identified(request: Append) -> list[tuple[str, NewMessage]]:
    """Give every message an id: its own, or one derived from the request's key or job id."""
    origin = request.key or (str(request.job_id) if request.job_id else None)
    if origin is None:
        return [(each.id or uuid4().hex, each) for each in request.messages]
    return [
        (each.id or message_id_at(request.agent_id, origin, index), each)
        for index, each in enumerate(request.messages)
    ]


def message_id_at(agent_id: str, origin: str, index: int) -> str:
    """Return the id of a message without one; ``origin`` is its request's key or job id."""
    return uuid5(_NAMESPACE, f"{agent_id}/{origin}/{index}").hex


def _erased_error(
    name: str, ids: Sequence[str], erased: Collection[str], advice: str
) -> ErasedError:
    places = [index for index, each in enumerate(ids) if each in erased]
    field, shown = f"{name}[{places[0]}]", shown_name(ids[places[0]])
    text = f"{field}: '{shown}' was erased for good and {advice}"
    return ErasedError(text, field=field, places=places)


def remember_stored(
    connection: Connection, job: mailbox.NewJob, message_ids: Sequence[str]
) -> bool:
    """Submit the job for the stored messages that have no memory yet.

    A request by id overrides the filters (R2). Returns False when there is nothing to do: all are
    made or queued, or this is a repeated request. Raises ``InvalidInputError`` when a message is
    not stored, ``ErasedError`` when it was erased; then nothing is written.
    """
    woken, _ = mailbox.lock_lane(connection, job.agent_id)
    found = pending_messages.unasked_messages(connection, job.agent_id, message_ids)
    if found.missing:
        raise _missing(connection, job.agent_id, message_ids, found.missing)
    seqs = found.seqs
    if not seqs or _is_repeated(connection, job, seqs):
        mailbox.unlock_lane(connection, job.agent_id, woken=woken)
        return False
    pending_messages.mark_asked(connection, job.agent_id, seqs)
    payload = {"seqs": seqs, **({"wanted": found.filtered} if found.filtered else {})}
    mailbox.insert_job(
        connection, replace(job, first_seq=seqs[0], last_seq=seqs[-1], payload=payload)
    )
    return True


def _missing(
    connection: Connection, agent_id: str, message_ids: Sequence[str], missing: Sequence[int]
) -> ErasedError | InvalidInputError:
    erased = erased_among(connection, agent_id, [message_ids[index] for index in missing])
    if erased:
        return _erased_error(
            "message_ids", message_ids, erased, "cannot be asked for: leave it out"
        )
    return InvalidInputError(
        f"{len(missing)} of {len(message_ids)} messages are not stored, such as "
        f"message_ids[{missing[0]}], '{shown_name(message_ids[missing[0]])}'; "
        "store them first, then ask for them by their ids"
    )


def _is_repeated(connection: Connection, job: mailbox.NewJob, seqs: Sequence[int]) -> bool:
    """Return True if the same request came before, and its job was cancelled meanwhile."""
    payload = mailbox.payload_of(connection, job.agent_id, job.id)
    if payload is None:
        return False
    if not set(seqs) <= set(payload.get("seqs", ())):
        raise ConflictError(
            "this task id was used before for something else; give every message an id of its own"
        )
    return True
