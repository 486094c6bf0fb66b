"""Intake: stores messages and submits their job in one transaction, then wakes a worker (queue.md).

Ids that are derived from a producer's own make a repeated request find what it stored before.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID, uuid4, uuid5

import anyio.to_thread
import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from memci.broker.wakeup import WakeupPublisher, Wakeups
from memci.domain.job import JobKind, JobSource
from memci.errors import ConflictError, ErasedError, InvalidInputError, QuotaError, shown_name
from memci.language.redaction import Redacted, kinds_of, placeholders_in, redact_message
from memci.language.times.calendar import offset_of
from memci.message import NewMessage, Remember
from memci.queue import mailbox
from memci.schemas.agents import CompressAnswer
from memci.schemas.messages import AppendAnswer
from memci.storage import messages as stored
from memci.storage import pending_messages
from memci.storage.agents import redaction_of
from memci.storage.erasure.erase import erased_among
from memci.storage.key_usage import CHARGE, Charge, charge
from memci.storage.pipelined_transaction import PipelinedStatements
from memci.storage.session import Database

# Agents of which a process remembers what is redacted.
_MOST_APPLIED = 10_000
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000001")

# The lane's row is locked first: all else reads what that returns, so seqs and ordinals follow the
# order of commits. Nothing is stored, and no row returned, if the agent's messages are redacted in
# another way than these.
_SUBMIT = """
WITH locked AS (
    INSERT INTO lane (agent_id, wake_at, written_at, message_seq, stored_bytes)
    SELECT %(agent_id)s, clock_timestamp(), now(), %(count)s, %(bytes)s
     WHERE %(redact)s = coalesce((SELECT parameters->>'redact' FROM agent_setting
                                   WHERE agent_id = %(agent_id)s), %(redact_default)s)
    ON CONFLICT (agent_id) DO UPDATE
    SET wake_at = coalesce(lane.wake_at, excluded.wake_at), written_at = now(),
        message_seq = lane.message_seq + %(count)s, stored_bytes = lane.stored_bytes + %(bytes)s
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
    paying: Charge | None = None
    redact: str = ""  # of agents that do not say what is redacted


@dataclass(frozen=True, slots=True)
class _Redaction:
    """A request with placeholders, by the setting ``applied``."""

    applied: str
    request: Append
    counts: Sequence[Counter[Redacted]]  # of each message

    @classmethod
    def of(cls, request: Append, applied: str) -> Self:
        kinds = kinds_of(applied)
        if not kinds:
            return cls(applied, request, [Counter() for _ in request.messages])
        done = [redact_message(each, kinds) for each in request.messages]
        messages = [message for message, _ in done]
        return cls(applied, replace(request, messages=messages), [counts for _, counts in done])

    def total(self, places: Iterable[int] | None = None) -> dict[Redacted, int]:
        """Return the sums over the messages at these places, or over all."""
        chosen = self.counts if places is None else [self.counts[each] for each in places]
        return dict(sum(chosen, Counter()))


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
                redaction = _Redaction.of(
                    request, redaction_of(connection, request.agent_id, request.redact)
                )
                job, messages = _job(request), _identified(redaction.request)
                _charge(connection, request, messages)
                values = _values(request, job, messages, applied=redaction.applied)
                submitted = _submit(connection, values)
        except (IntegrityError, QuotaError):  # known messages need no quota
            submitted = None
        if submitted is None:
            return self.append_known(request)
        seq, woken = submitted
        if woken:
            self._wakeups.wake_lane(request.agent_id)
        return _answer(request, job, seq, duplicates=0, redacted=redaction.total())

    def append_known(self, request: Append) -> AppendAnswer:
        """Do as ``append`` where some of the messages are already stored."""
        with self._database.agent_transaction(request.agent_id) as connection:
            answer, woken = append_in(connection, request)
        if woken:
            self._wakeups.wake_lane(request.agent_id)
        return answer

    def redaction_of(self, agent_id: str, default: str) -> str:
        """Return what is redacted in an agent's messages."""
        with self._database.agent_snapshot(agent_id) as connection:
            return redaction_of(connection, agent_id, default)

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
    # What was redacted in an agent's last messages; the database says whether that still holds.
    _applied: dict[str, str] = field(default_factory=dict)

    async def append(self, request: Append) -> AppendAnswer:
        """Do as ``Intake.append``."""
        job = _job(request)
        while True:
            applied = self._applied.get(request.agent_id, request.redact)
            redaction = await _redacted(request, applied)
            messages = _identified(redaction.request)
            values = _values(request, job, messages, applied=applied)
            paid = None
            if request.paying is not None:
                charged = request.paying.values(request.agent_id, values["count"], values["bytes"])
                paid = (CHARGE, charged)
            try:
                row = await self.statements.run(request.agent_id, _SUBMIT, values, first=paid)
            except psycopg.IntegrityError:  # a known message, or a quota for which it counts
                return await anyio.to_thread.run_sync(self.intake.append_known, request)
            if row is not None:
                break
            applied = await anyio.to_thread.run_sync(
                self.intake.redaction_of, request.agent_id, request.redact
            )
            self._applied[request.agent_id] = applied
            if len(self._applied) > _MOST_APPLIED:
                del self._applied[next(iter(self._applied))]
        seq, woken = row
        if woken:
            self.publisher.wake_lane(request.agent_id)
        return _answer(request, job, seq, duplicates=0, redacted=redaction.total())


async def _redacted(request: Append, applied: str) -> _Redaction:
    """Redact on a thread: a long text takes a second."""
    if not applied:
        return _Redaction.of(request, applied)
    return await anyio.to_thread.run_sync(_Redaction.of, request, applied)


def append_in(connection: Connection, request: Append) -> tuple[AppendAnswer, bool]:
    """Append the new messages, in a transaction of the agent.

    Returns the answer, and whether to publish a wakeup after COMMIT.
    """
    _charge(connection, request, [])  # before the lane is locked, which may create the agent
    woken, last_seq = mailbox.lock_lane(connection, request.agent_id)
    redaction = _Redaction.of(request, redaction_of(connection, request.agent_id, request.redact))
    identified = _identified(redaction.request)
    known = stored.find_stored(connection, request.agent_id, [each for each, _ in identified])
    unknown = [each for each, _ in identified if each not in known]
    erased = erased_among(connection, request.agent_id, unknown) if unknown else frozenset[str]()
    if erased and not request.skip_erased:
        ids = [each for each, _ in identified]
        advice = "is not taken in again; leave it out, as skip_erased does"
        raise _erased_error("messages", ids, erased, advice)
    new: list[tuple[str, NewMessage]] = []
    places: list[int] = []
    seq = last_seq
    for index, (message_id, message) in enumerate(identified):
        if message_id in erased:
            continue
        said = stored.identity_fields(message)
        if message_id not in known:
            new.append((message_id, message))
            places.append(index)
            known[message_id] = stored.Stored(last_seq + len(new), said)
        elif not _is_same(known[message_id].said, said, request.messages[index]):
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
        _charge(connection, request, new)
        _submit(connection, _values(request, job, new, applied=redaction.applied))
    else:
        mailbox.unlock_lane(connection, request.agent_id, woken=woken)
    left_out = [each for each, _ in identified if each in erased]
    duplicates = len(identified) - len(new) - len(left_out)
    answer = _answer(
        request,
        job,
        seq,
        duplicates=duplicates,
        erased=left_out,
        redacted=redaction.total(places),
    )
    return answer, woken and bool(new)


def _is_same(stored_as: object, said: object, message: NewMessage) -> bool:
    """Return True if a message was stored before, also with another redaction than now."""
    if stored_as in (said, stored.identity_fields(message)):
        return True
    redacted, _ = redact_message(message, placeholders_in(str(stored_as)))
    return stored_as == stored.identity_fields(redacted)


def _charge(
    connection: Connection, request: Append, messages: Sequence[tuple[str, NewMessage]]
) -> None:
    if request.paying is not None:
        count, size = len(messages), _size(messages)
        charge(connection, request.paying, request.agent_id, messages=count, size=size)


def _size(messages: Sequence[tuple[str, NewMessage]]) -> int:
    """Return the bytes of messages, as ``MESSAGE_BYTES`` counts them."""
    size = 0
    for _, message in messages:
        size += len((message.content or "").encode())
        for part in (message.tool_calls, message.metadata):
            size += len(json.dumps(part, ensure_ascii=False).encode()) if part else 0
    return size


def _submit(connection: Connection, values: Mapping[str, Any]) -> tuple[int, bool] | None:
    """Store the messages and submit their job.

    Returns the last seq, and whether to publish a wakeup after COMMIT; None, with nothing stored,
    if the redaction of the agent is another. Raises ``IntegrityError`` when an id is not new.
    """
    row = connection.exec_driver_sql(_SUBMIT, dict(values)).first()
    return None if row is None else (int(row[0]), bool(row[1]))


def _values(
    request: Append,
    job: mailbox.NewJob,
    messages: Sequence[tuple[str, NewMessage]],
    *,
    applied: str,
) -> dict[str, Any]:
    """Return the values of ``_SUBMIT`` for redacted messages, each with its id, and their job."""
    records = [_record(n, *each) for n, each in enumerate(messages, start=1)]
    return {
        "agent_id": request.agent_id,
        "session_id": request.session_id,
        "user_id": request.user_id,
        "remember": request.remember,
        "memory_state": "pending" if request.remember is Remember.NOW else "none",
        "count": len(messages),
        "bytes": _size(messages),
        "redact": applied,
        "redact_default": request.redact,
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
    request: Append,
    job: mailbox.NewJob,
    seq: int,
    *,
    duplicates: int,
    erased: Sequence[str] = (),
    redacted: dict[Redacted, int],
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
        redacted=redacted,
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
