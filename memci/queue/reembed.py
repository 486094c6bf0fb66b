"""Asking every agent for new vectors, and how far that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.storage.erasure.barrier import all_beside, stand_beside
from memci.storage.erasure.gone import IS_THERE

REEMBED_KIND = "memci.vector.reembed"

_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000009")
_AGENTS = "SELECT agent_id FROM lane WHERE agent_id > %s ORDER BY agent_id LIMIT %s"
# No lane is locked: the sweeper wakes whoever has a job. Who was erased gets none (M25).
_SUBMIT = f"""
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT agent_id, id, %s, '{{}}', %s
FROM unnest(%s::text[], %s::uuid[]) AS new(agent_id, id) JOIN lane USING (agent_id)
WHERE {IS_THERE} ON CONFLICT (agent_id, id) DO NOTHING
"""  # noqa: S608 - a constant of this module
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


@dataclass(frozen=True, slots=True)
class Asked:
    """How many were asked now; ``last``: the last one looked at, '' when there are no more.

    ``erasing``: something of them is being erased right now; they are to be asked one by one.
    """

    count: int
    last: str
    erasing: Sequence[str] = ()


def ask_agents(connection: Connection, change: int, *, after: str, most: int) -> Asked:
    """Ask the next agents by id for new vectors, each once for one change of the model."""
    agents = list(connection.exec_driver_sql(_AGENTS, (after, most)).scalars())
    if not agents:
        return Asked(0, "")
    free = all_beside(connection, agents)
    erasing = [each for each in agents if each not in free]
    return Asked(_submit(connection, change, sorted(free)), agents[-1], erasing)


def ask_agent(connection: Connection, change: int, agent_id: str) -> int:
    """Ask one, after an erasure that is under way; return how many were asked."""
    stand_beside(connection, agent_id)
    return _submit(connection, change, [agent_id])


def _submit(connection: Connection, change: int, agents: Sequence[str]) -> int:
    """Queue the jobs of those that are there; who erases has to wait for this transaction."""
    ids = [uuid5(_NAMESPACE, f"{change}\0{agent_id}") for agent_id in agents]
    values = (REEMBED_KIND, JobSource.REEMBED, list(agents), ids)
    return connection.exec_driver_sql(_SUBMIT, values).rowcount


def left(connection: Connection) -> Left:
    """Count the agents that have not got all their new vectors; any transaction will do."""
    return Left(*connection.exec_driver_sql(_LEFT, (REEMBED_KIND,)).one())
