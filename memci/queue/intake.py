"""The way in: messages and their job in one transaction, then a token (queue.md, "submit")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4, uuid5

from sqlalchemy import Connection

from memci.broker.token import Tokens
from memci.domain.lane.job import JobSource
from memci.domain.message import NewMessage, Remember
from memci.errors import ConflictError
from memci.queue import submit
from memci.shapes.agent import CompressAnswer
from memci.shapes.message import AppendAnswer
from memci.storage import messages as stored
from memci.storage.session import Database

CREATE_KIND = "memci.memory.create"
INDEX_KIND = "memci.message.index"

# Ids that we derive from a producer's own live in this name space.
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000001")


@dataclass(frozen=True, slots=True)
class Append:
    """Messages to append. ``key`` names the whole request: the same key is the same request."""

    agent_id: str
    messages: Sequence[NewMessage]
    session_id: str | None = None
    user_id: str | None = None
    remember: Remember = Remember.NOW
    source: JobSource = JobSource.HTTP
    key: str | None = None
    job_id: UUID | None = None
    traceparent: str | None = None


class Intake:
    """Takes messages and wishes for compression; durable when a call returns."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        """Write to ``database``, then wake workers through ``tokens``."""
        self._database = database
        self._tokens = tokens

    def append(self, request: Append) -> AppendAnswer:
        """Store the messages and hand them to memory, all or nothing.

        A message or request that is already there is counted as a duplicate. Raises
        ``ConflictError`` when an id or a key comes again with other content.
        """
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


def append_in(connection: Connection, request: Append) -> tuple[AppendAnswer, bool]:
    """Append inside a transaction of the agent; also tell whether a token is to be published."""
    woken, last_seq = submit.lock_lane(connection, request.agent_id)
    identified = list(zip(_ids(request), request.messages, strict=True))
    known = stored.find_stored(connection, request.agent_id, _repeatable(request, identified))
    new: list[tuple[int, str, NewMessage]] = []
    seq = last_seq
    for index, (message_id, message) in enumerate(identified):
        said = stored.said_by(message)
        if message_id not in known:
            new.append((last_seq + len(new) + 1, message_id, message))
            known[message_id] = stored.Stored(new[-1][0], said)
        elif known[message_id].said != said:
            raise ConflictError(
                f"messages[{index}]: this id (or this Idempotency-Key) was used before for another"
                " message; give every message an id of its own"
            )
        seq = known[message_id].seq
    job_id = _job_id(request) if request.remember is Remember.NOW else None
    if new:
        _write(connection, request, new, job_id)
    else:
        submit.unlock_lane(connection, request.agent_id, woken=woken)
        job_id = job_id if request.key or request.job_id else None
    answer = AppendAnswer(
        job_id=job_id, seq=seq, accepted=len(new), duplicates=len(identified) - len(new)
    )
    return answer, woken and bool(new)


def _write(
    connection: Connection,
    request: Append,
    new: Sequence[tuple[int, str, NewMessage]],
    job_id: UUID | None,
) -> None:
    stored.insert(
        connection,
        request.agent_id,
        new,
        session_id=request.session_id,
        user_id=request.user_id,
        remember=request.remember,
    )
    submit.insert_job(
        connection,
        submit.NewJob(
            agent_id=request.agent_id,
            id=job_id or uuid4(),
            kind=INDEX_KIND if job_id is None else CREATE_KIND,
            source=request.source,
            first_seq=new[0][0],
            last_seq=new[-1][0],
            traceparent=request.traceparent,
        ),
    )
    submit.advance_seq(connection, request.agent_id, new[-1][0])


def _job_id(request: Append) -> UUID:
    if request.job_id is not None:
        return request.job_id
    return uuid5(_NAMESPACE, f"{request.agent_id}/{request.key}") if request.key else uuid4()


def _repeatable(request: Append, identified: Sequence[tuple[str, NewMessage]]) -> list[str]:
    """Return the ids that may have come before: not those that were drawn just now."""
    named = bool(request.key or request.job_id)
    return [each for each, message in identified if named or message.id]


def _ids(request: Append) -> list[str]:
    """Return an id for every message: its own; else from the request's, so a repeat finds it."""
    origin = request.key or (str(request.job_id) if request.job_id else None)
    if origin is None:
        return [each.id or uuid4().hex for each in request.messages]
    return [
        each.id or uuid5(_NAMESPACE, f"{request.agent_id}/{origin}/{index}").hex
        for index, each in enumerate(request.messages)
    ]
