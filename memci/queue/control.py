"""Statements that people's commands run on a lane (M17, queue.md)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.agent import no_agent
from memci.queue import submit
from memci.storage.erasure.gone import IS_THERE

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
