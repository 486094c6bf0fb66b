"""Asking for ``memci.item.index``: one job does for all items that wait."""

from __future__ import annotations

from uuid import uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.queue.submit import lock_lane, unlock_lane
from memci.storage.erasure.gone import IS_THERE
from memci.storage.session import Database

ITEM_INDEX = "memci.item.index"

# One that has begun may have looked already.
_ASK = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{ITEM_INDEX}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = '{ITEM_INDEX}'
        AND started = 0)
"""  # noqa: S608 - a constant of this module
# Whoever reads waits for nobody: of a lane that is locked the next one to look may ask.
_ASK_OF_IDLE = f"""
WITH idle AS (
    SELECT agent_id FROM lane WHERE agent_id = %(agent)s AND {IS_THERE}
        AND NOT EXISTS (SELECT FROM job WHERE job.agent_id = %(agent)s AND state = 'queued'
            AND kind = '{ITEM_INDEX}')
    FOR UPDATE SKIP LOCKED),
woken AS (
    UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp())
    FROM idle WHERE lane.agent_id = idle.agent_id)
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, %(id)s, '{ITEM_INDEX}', '{{}}', %(source)s FROM idle
"""  # noqa: S608 - constants of this package


def ask_indexing(connection: Connection, agent_id: str) -> bool:
    """Queue the job unless one waits; tell whether a token has to be published after COMMIT."""
    woken, _ = lock_lane(connection, agent_id)
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.HTTP}
    asked = connection.exec_driver_sql(_ASK, values).rowcount == 1
    if not asked:
        unlock_lane(connection, agent_id, woken=woken)
    return asked and woken


def ask_indexing_again(connection: Connection, agent_id: str) -> None:
    """Queue another from within the effect of one that has not done all."""
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.LANE}
    connection.exec_driver_sql(_ASK, values)


def ask_indexing_of_idle(database: Database, agent_id: str) -> None:
    """Queue the job for items that nobody has asked it for, as after an import.

    The sweeper wakes a worker.
    """
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.HTTP}
    with database.agent_transaction(agent_id, durable=False) as connection:
        connection.exec_driver_sql(_ASK_OF_IDLE, values)
