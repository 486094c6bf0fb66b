"""Decide about single jobs: cancel a queued one, replay or discard a dead one."""

from __future__ import annotations

from uuid import UUID

from memci.broker.token import Tokens
from memci.domain.message import AppendLimits
from memci.queue import bridge, dead_letter
from memci.storage import letters
from memci.storage.session import Database


def cancel(database: Database, tokens: Tokens, agent_id: str, job_id: UUID) -> UUID:
    """Take a queued job out of the mailbox; its messages stay stored and searchable."""
    with database.agent_transaction(agent_id) as connection:
        dead_letter.cancel(connection, agent_id, job_id)
    tokens.wake_lane(agent_id)
    return job_id


def replay(
    database: Database,
    tokens: Tokens,
    agent_id: str,
    job_id: UUID,
    *,
    at_tail: bool,
    limits: AppendLimits,
) -> UUID:
    """Run a dead job again, in its own place or anew at the tail; returns the id to watch.

    A broker message that could not be taken in is read again, as a new job at the tail.
    """
    with database.agent_transaction(agent_id) as connection:
        raw = letters.read(connection, agent_id, job_id)
        if raw is None:
            watched = dead_letter.replay(connection, agent_id, job_id, at_tail=at_tail)
        else:
            dead_letter.discard(connection, agent_id, job_id)
            watched = bridge.redeliver(connection, agent_id, raw, limits)
            letters.drop(connection, agent_id, job_id)
    tokens.wake_lane(agent_id)
    return watched


def discard(database: Database, tokens: Tokens, agent_id: str, job_id: UUID) -> UUID:
    """Give a dead job up for good; its messages stay stored and searchable.

    A broker message that could not be taken in is gone with it.
    """
    with database.agent_transaction(agent_id) as connection:
        dead_letter.discard(connection, agent_id, job_id)
        letters.drop(connection, agent_id, job_id)
    tokens.wake_lane(agent_id)
    return job_id
