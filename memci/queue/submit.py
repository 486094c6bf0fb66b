"""Statements that put jobs into a mailbox (queue.md, "submit").

The lane's row is locked first, so that seqs and ordinals are given out in the order of commits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.domain.job import JobSource
from memci.language.times.calendar import offset_of
from memci.message import NewMessage
from memci.storage.agents import IS_AGENT, IS_THERE

# The first token of a lane wins: wake_at stays as it was while one is believed to be out.
_LOCK_LANE = """
INSERT INTO lane (agent_id, wake_at, written_at) VALUES (%s, clock_timestamp(), now())
ON CONFLICT (agent_id) DO UPDATE
SET wake_at = coalesce(lane.wake_at, excluded.wake_at),
    written_at = CASE WHEN lane.epoch > 0 AND lane.message_seq = lane.erased_messages
                      THEN lane.written_at ELSE now() END
RETURNING wake_at >= now(), message_seq
"""
_IS_AGENT = f"SELECT {IS_AGENT} FROM lane WHERE agent_id = %s"  # noqa: S608 - a constant
_UNWAKE = "UPDATE lane SET wake_at = NULL WHERE agent_id = %s"
_PAYLOAD = "SELECT payload FROM job WHERE agent_id = %s AND id = %s"
_INSERT_JOB = """
INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (agent_id, id) DO NOTHING
"""
_REQUEST_COMPRESS = f"""
UPDATE lane SET compress_req = compress_req + 1,
                compress_at = coalesce(compress_at, clock_timestamp())
WHERE agent_id = %s AND {IS_THERE}
RETURNING compress_req, compress_req - 1 > compress_done, compress_at >= now()
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to put at the end of a mailbox."""

    agent_id: str
    id: UUID
    kind: str
    source: JobSource
    first_seq: int | None = None
    last_seq: int | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class CompressRequested:
    """The how-manieth wish it is, whether one was waiting, and whether to publish a token."""

    number: int
    coalesced: bool
    woken: bool


def lock_lane(connection: Connection, agent_id: str) -> tuple[bool, int]:
    """Lock the lane's row, made if need be, and mark it as woken.

    Returns whether this call woke it, so that a token has to be published after COMMIT, and the
    seq of the agent's last message.
    """
    woken, seq = connection.exec_driver_sql(_LOCK_LANE, (agent_id,)).one()
    return bool(woken), int(seq)


def lock_agent(connection: Connection, agent_id: str) -> bool:
    """Lock the lane of an agent that is there; return whether this call woke it.

    Raises ``NotFoundError`` for no agent, and for one that was erased (M25): the transaction must
    then be rolled back, since it has made or marked the lane.
    """
    woken, _ = lock_lane(connection, agent_id)
    if not connection.exec_driver_sql(_IS_AGENT, (agent_id,)).scalar_one():
        raise no_agent(agent_id)
    return woken


def unlock_lane(connection: Connection, agent_id: str, *, woken: bool) -> None:
    """Take back the wake-up of ``lock_lane``, when there is nothing to do after all."""
    if woken:
        connection.exec_driver_sql(_UNWAKE, (agent_id,))


def is_taken(connection: Connection, job: NewJob) -> bool:
    """Tell whether the mailbox has, or had, a job of this id."""
    return payload_of(connection, job.agent_id, job.id) is not None


def payload_of(connection: Connection, agent_id: str, job_id: UUID) -> dict[str, Any] | None:
    """Return the payload of a job that the mailbox has, or had; None when there is none."""
    row = connection.exec_driver_sql(_PAYLOAD, (agent_id, job_id)).first()
    return None if row is None else dict(row.payload)


def insert_job(connection: Connection, job: NewJob) -> bool:
    """Put a job into the mailbox; False when its id is already there."""
    done = connection.exec_driver_sql(
        _INSERT_JOB,
        (
            job.agent_id,
            job.id,
            job.kind,
            json.dumps(dict(job.payload)),
            job.source,
            job.first_seq,
            job.last_seq,
            job.traceparent,
        ),
    )
    return done.rowcount == 1


def request_compress(connection: Connection, agent_id: str) -> CompressRequested:
    """Raise the lane's count of wishes for compression; ``NotFoundError`` for no agent."""
    row = connection.exec_driver_sql(_REQUEST_COMPRESS, (agent_id,)).first()
    if row is None:
        raise no_agent(agent_id)
    return CompressRequested(*row)


def submit_follow_up(
    connection: Connection,
    agent_id: str,
    kind: str,
    payload: Mapping[str, Any],
    first_seq: int,
    last_seq: int,
) -> UUID:
    """Queue what a job leads to, in its own effect: both are there or neither is.

    Returns the new job's id.
    """
    job = NewJob(
        agent_id, uuid4(), kind, JobSource.LANE, first_seq=first_seq, last_seq=last_seq,
        payload=payload,
    )  # fmt: skip
    insert_job(connection, job)
    return job.id


# The lane's row is locked first, since everything else reads what that gives: so seqs and ordinals
# are given out in the order of commits.
SUBMIT = """
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


def values_of(
    messages: Sequence[tuple[str, NewMessage]], job: NewJob, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of ``SUBMIT`` for messages, each with its id, and their job.

    ``fields``: session_id, user_id, remember and memory_state of all of them.
    """
    return {
        **fields,
        "agent_id": job.agent_id,
        "count": len(messages),
        "messages": json.dumps(
            [_record(n, *each) for n, each in enumerate(messages, start=1)], ensure_ascii=False
        ),
        "job_id": job.id,
        "kind": job.kind,
        "source": job.source,
        "traceparent": job.traceparent,
    }


def submit_new(connection: Connection, values: Mapping[str, Any]) -> tuple[int, bool]:
    """Store the messages and queue their job; return the last seq.

    Also tells whether a token is to be published after COMMIT. Raises ``IntegrityError`` when an
    id is not new.
    """
    last_seq, woken = connection.exec_driver_sql(SUBMIT, dict(values)).one()
    return int(last_seq), bool(woken)


def _record(n: int, message_id: str, message: NewMessage) -> dict[str, Any]:
    record: dict[str, Any] = {"n": n, "id": message_id, "role": message.role}
    if message.content is not None:
        record["content"] = message.content
    if message.name is not None:
        record["name"] = message.name
    if message.tool_calls:
        record["tool_calls"] = [dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        record["tool_call_id"] = message.tool_call_id
    if message.metadata:
        record["metadata"] = dict(message.metadata)
    if message.said_at is not None:
        record["said_at"] = message.said_at.isoformat()
        record["said_offset"] = offset_of(message.said_at)
    return record
