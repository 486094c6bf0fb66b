"""Asking every agent for new vectors, and how far that is."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid5

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource

REEMBED_KIND = "memci.vector.reembed"

_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000009")
_AGENTS = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# No lane is locked: the sweeper wakes whoever has a job.
_SUBMIT = """
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, id, %s, '{}', %s FROM unnest(%s::text[], %s::uuid[]) AS new(agent_id, id)
ON CONFLICT (agent_id, id) DO NOTHING
"""
_LEFT = """
SELECT count(DISTINCT agent_id) FILTER (WHERE state = 'queued'),
       count(DISTINCT agent_id) FILTER (WHERE state = 'dead')
FROM job WHERE state IN ('queued', 'dead') AND kind = %s
"""


@dataclass(frozen=True, slots=True)
class Left:
    """Agents whose vectors are still to be made anew, and those whose job for it is dead."""

    queued: int
    dead: int


def ask_agents(connection: Connection, change: int, *, after: str, most: int) -> tuple[int, str]:
    """Ask the next agents by id for new vectors, each once for one change of the model.

    Returns how many were asked now, and the last agent looked at: '' when there are no more.
    """
    agents = list(connection.exec_driver_sql(_AGENTS, (after, most)).scalars())
    if not agents:
        return 0, ""
    ids = [uuid5(_NAMESPACE, f"{change}\0{agent_id}") for agent_id in agents]
    values = (REEMBED_KIND, JobSource.REEMBED, agents, ids)
    return connection.exec_driver_sql(_SUBMIT, values).rowcount, agents[-1]


def left(connection: Connection) -> Left:
    """Count the agents that have not got all their new vectors; any transaction will do."""
    return Left(*connection.exec_driver_sql(_LEFT, (REEMBED_KIND,)).one())
