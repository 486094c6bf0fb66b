"""The way in: messages and their job in one transaction, then a token (queue.md, "submit")."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

import anyio.to_thread
import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from memci.broker.wakeup import WakeupPublisher, Wakeups
from memci.domain.job import JobSource
from memci.errors import ConflictError, ErasedError, shown_name
from memci.message import NewMessage, Remember
from memci.queue import submit
from memci.queue.submit import SUBMIT, submit_new, values_of
from memci.schemas.agents import CompressAnswer
from memci.schemas.messages import AppendAnswer
from memci.storage import messages as stored
from memci.storage.erasure.erase import erased_among
from memci.storage.pipeline import PipelinedStatements
from memci.storage.session import Database

CREATE_KIND = "memci.memory.create"
INDEX_KIND = "memci.message.index"

# Ids that we derive from a producer's own live in this name space.
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000001")


@dataclass(frozen=True, slots=True)
class Append:
    """Messages to append. ``key`` names the whole request: the same key is the same request.

    ``skip_erased``: those that were erased are left out, and do not have the others refused.
    """

    agent_id: str
    messages: Sequence[NewMessage]
    session_id: str | None = None
    user_id: str | None = None
    remember: Remember = Remember.NOW
    skip_erased: bool = False
    source: JobSource = JobSource.HTTP
    key: str | None = None
    job_id: UUID | None = None
    traceparent: str | None = None


class Intake:
    """Takes messages and wishes for compression; durable when a call returns."""

    def __init__(self, database: Database, tokens: Wakeups) -> None:
        """Write to ``database``, then wake workers through ``tokens``."""
        self._database = database
        self._tokens = tokens

    def append(self, request: Append) -> AppendAnswer:
        """Store the messages and hand them to memory, all or nothing.

        A message or request that is already there is counted as a duplicate. Raises
        ``ConflictError`` when an id or a key comes again with other content, ``ErasedError`` when
        a message was erased that is not to be skipped.
        """
        try:  # Most messages are new, and what is not comes to light.
            with self._database.agent_transaction(request.agent_id) as connection:
                answer, woken = _append_new(connection, request)
        except IntegrityError:
            return self.append_known(request)
        if woken:
            self._tokens.wake_lane(request.agent_id)
        return answer

    def append_known(self, request: Append) -> AppendAnswer:
        """Do as ``append``, where some of the messages are already there."""
        with self._database.agent_transaction(request.agent_id) as connection:
            answer, woken = append_in(connection, request)
        if woken:
            self._tokens.wake_lane(request.agent_id)
        return answer

    def request_compress(self, agent_id: str) -> CompressAnswer:
        """Ask for one more pass; requests that wait are one request (M16)."""
        with self._database.lane_transaction() as connection:
            request = submit.request_compress(connection, agent_id)
        if request.woken:
            self._tokens.wake_compress(agent_id)
        return CompressAnswer(round=request.number, coalesced=request.coalesced)


class AsyncIntake:
    """The way in for an event loop: as ``Intake``, but most appends need no thread."""

    def __init__(
        self, intake: Intake, flights: PipelinedStatements, outbox: WakeupPublisher
    ) -> None:
        """Leave to ``intake`` what is not all new."""
        self._intake = intake
        self._flights = flights
        self._outbox = outbox

    async def append(self, request: Append) -> AppendAnswer:
        """Do as ``Intake.append``."""
        job = _job(request)
        values = values_of(_identified(request), job, _fields(request))
        try:
            seq, woken = await self._flights.run(request.agent_id, SUBMIT, values)
        except psycopg.IntegrityError:
            return await anyio.to_thread.run_sync(self._intake.append_known, request)
        if woken:
            self._outbox.wake_lane(request.agent_id)
        return _answer(request, job, seq, duplicates=0)


def append_in(connection: Connection, request: Append) -> tuple[AppendAnswer, bool]:
    """Append what is new, in a transaction of the agent; also tell whether to publish a token."""
    woken, last_seq = submit.lock_lane(connection, request.agent_id)
    identified = _identified(request)
    known = stored.find_stored(connection, request.agent_id, [each for each, _ in identified])
    unknown = [each for each, _ in identified if each not in known]
    erased = erased_among(connection, request.agent_id, unknown) if unknown else frozenset[str]()
    if erased and not request.skip_erased:
        raise _refused(identified, erased)
    new: list[tuple[str, NewMessage]] = []
    seq = last_seq
    for index, (message_id, message) in enumerate(identified):
        if message_id in erased:
            continue
        said = stored.said_by(message)
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
    if new and submit.is_taken(connection, job):
        raise ConflictError(
            "this Idempotency-Key (or task id) was used before for fewer messages; "
            "give every request a key of its own"
        )
    if new:
        submit_new(connection, values_of(new, job, _fields(request)))
    else:
        submit.unlock_lane(connection, request.agent_id, woken=woken)
    left_out = [each for each, _ in identified if each in erased]
    duplicates = len(identified) - len(new) - len(left_out)
    answer = _answer(request, job, seq, duplicates=duplicates, erased=left_out)
    return answer, woken and bool(new)


def _append_new(connection: Connection, request: Append) -> tuple[AppendAnswer, bool]:
    job = _job(request)
    values = values_of(_identified(request), job, _fields(request))
    seq, woken = submit_new(connection, values)
    return _answer(request, job, seq, duplicates=0), woken


def _answer(
    request: Append,
    job: submit.NewJob,
    seq: int,
    *,
    duplicates: int,
    erased: Sequence[str] = (),
) -> AppendAnswer:
    accepted = len(request.messages) - duplicates - len(erased)
    repeated = duplicates and (request.key or request.job_id)
    handed = request.remember is Remember.NOW and (accepted or repeated)
    return AppendAnswer(
        job_id=job.id if handed else None,
        seq=seq,
        accepted=accepted,
        duplicates=duplicates,
        erased=list(erased),
    )


def _job(request: Append) -> submit.NewJob:
    return submit.NewJob(
        agent_id=request.agent_id,
        id=_job_id(request),
        kind=CREATE_KIND if request.remember is Remember.NOW else INDEX_KIND,
        source=request.source,
        traceparent=request.traceparent,
    )


def _fields(request: Append) -> dict[str, Any]:
    return {
        "session_id": request.session_id,
        "user_id": request.user_id,
        "remember": request.remember,
        "memory_state": "pending" if request.remember is Remember.NOW else "none",
    }


def _job_id(request: Append) -> UUID:
    if request.job_id is not None:
        return request.job_id
    return uuid5(_NAMESPACE, f"{request.agent_id}/{request.key}") if request.key else uuid4()


def _identified(request: Append) -> list[tuple[str, NewMessage]]:
    """Give every message an id: its own; else from the request's, so that a repeat finds it."""
    origin = request.key or (str(request.job_id) if request.job_id else None)
    if origin is None:
        return [(each.id or uuid4().hex, each) for each in request.messages]
    return [
        (each.id or message_id_at(request.agent_id, origin, place), each)
        for place, each in enumerate(request.messages)
    ]


def message_id_at(agent_id: str, origin: str, place: int) -> str:
    """Return the id of a message that was given none, by its request's key or job id."""
    return uuid5(_NAMESPACE, f"{agent_id}/{origin}/{place}").hex


def _refused(identified: Sequence[tuple[str, NewMessage]], erased: Collection[str]) -> ErasedError:
    places = [place for place, (each, _) in enumerate(identified) if each in erased]
    first = places[0]
    return ErasedError(
        f"messages[{first}]: '{shown_name(identified[first][0])}' was erased for good and is not "
        "taken in again; leave it out, as skip_erased does",
        field=f"messages[{first}]",
        places=places,
    )
