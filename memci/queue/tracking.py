"""Asking for ``memci.message.track``, which looks for key messages and plans (R7)."""

from __future__ import annotations

from uuid import uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource

TRACK_KIND = "memci.message.track"

# One job does for all that waits; one that has begun may have looked already.
_ASK = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, '{TRACK_KIND}', '{{}}', %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = '{TRACK_KIND}'
        AND started = 0)
"""  # noqa: S608 - constants of this module


def ask_tracking(connection: Connection, agent_id: str) -> bool:
    """Queue the job unless one waits; tell whether so.

    In the effect of a job, of the one that messages came with or of one that has not done all: the
    lane goes on anyway.
    """
    values = {"agent": agent_id, "id": uuid4(), "source": JobSource.LANE}
    return connection.exec_driver_sql(_ASK, values).rowcount == 1
