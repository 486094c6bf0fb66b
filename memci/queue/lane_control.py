"""Pauses, resumes, cancels and preempts a lane (M17, M25)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.queue import mailbox, submit
from memci.queue.lease import Lease
from memci.storage.agents import IS_THERE
from memci.storage.session import Database

_THIS = f"WHERE agent_id = %s AND {IS_THERE} RETURNING paused, halted_by"
_PAUSE = f"UPDATE lane SET paused = true {_THIS}"  # noqa: S608 - a constant of this module
_RESUME = f"""
UPDATE lane SET paused = false, halted_by = NULL,
                compress_at = CASE WHEN compress_req > compress_done THEN clock_timestamp() END
{_THIS}
"""  # noqa: S608 - a constant of this module
# The pass under way sees that its cursor is gone, and writes nothing more.
_CANCEL_COMPRESSION = f"""
UPDATE lane SET compress_done = compress_req, compress_cursor = NULL, compress_at = NULL
{_THIS}
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class LaneState:
    """Whether a lane stands still, and for which dead job."""

    paused: bool
    halted_by: UUID | None


def pause(connection: Connection, agent_id: str) -> LaneState:
    """Let no job or node begin; what runs right now ends first."""
    return _run(connection, _PAUSE, agent_id)


def resume(connection: Connection, agent_id: str) -> LaneState:
    """Go on after a pause or a halt; the caller publishes tokens after COMMIT."""
    state = _run(connection, _RESUME, agent_id)
    submit.lock_lane(connection, agent_id)
    return state


def cancel_compression(connection: Connection, agent_id: str) -> LaneState:
    """Drop the pass under way, between two nodes, and all requests that wait."""
    return _run(connection, _CANCEL_COMPRESSION, agent_id)


def _run(connection: Connection, statement: str, agent_id: str) -> LaneState:
    row = connection.exec_driver_sql(statement, (agent_id,)).first()
    if row is None:
        raise no_agent(agent_id)
    return LaneState(*row)


# Long enough to go on; whoever dies in it keeps the lane from workers for so long.
_LEASE_S = 30
_LOCK = "SELECT FROM lane WHERE agent_id = %s FOR UPDATE"
_SEIZE = f"""
UPDATE lane SET fence = fence + 1, lease_owner = %s, lease_until = now() + %s * interval '1 second'
WHERE agent_id = %s AND {IS_THERE} RETURNING fence
"""  # noqa: S608 - a constant of this module
_PLANT = "INSERT INTO lane (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_SEIZE_ANY = _SEIZE.replace(IS_THERE, "true")


def preempt_lane(database: Database, agent_id: str, *, there: bool = True) -> Lease:
    """Return a lease, paused lane or not; the one who had it is fenced off and writes nothing more.

    What it was at is done anew, and the start of it does not count: it may think on for long before
    it learns of this, and any number of orders may come meanwhile. Raises ``NotFoundError`` for no
    agent, unless it need not be ``there``: the lane of what is left of one is then made, where it
    has none.
    """
    nonce = uuid4()
    with database.lane_transaction() as connection:
        if not there:
            connection.exec_driver_sql(_PLANT, (agent_id,))
        connection.exec_driver_sql(_LOCK, (agent_id,))
        mailbox.unbegin_current(connection, agent_id)
        statement = _SEIZE if there else _SEIZE_ANY
        row = connection.exec_driver_sql(statement, (nonce, _LEASE_S, agent_id)).first()
    if row is None:
        raise no_agent(agent_id)
    return Lease(database, agent_id, row.fence, nonce)
