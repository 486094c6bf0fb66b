"""Statements that put work into a lane, inside a transaction of their caller.

The lane's row is locked first, so that seqs and ordinals are given out in the order of commits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.domain.lane.job import JobSource
from memci.storage.erasure.gone import IS_AGENT, IS_THERE

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
