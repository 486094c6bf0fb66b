"""Pause and resume an agent's lane (M17)."""

from __future__ import annotations

from memci.broker.token import Tokens
from memci.queue import control
from memci.shapes.agent import LaneAnswer
from memci.storage.session import Database


def pause(database: Database, agent_id: str) -> LaneAnswer:
    """Stop the lane between two jobs or nodes; messages are still accepted."""
    with database.lane_transaction() as connection:
        state = control.pause(connection, agent_id)
    return LaneAnswer(agent_id=agent_id, paused=state.paused, halted_by=state.halted_by)


def resume(database: Database, tokens: Tokens, agent_id: str) -> LaneAnswer:
    """Let the lane go on, after a pause or after a dead job that halted it."""
    with database.lane_transaction() as connection:
        state = control.resume(connection, agent_id)
    tokens.wake_lane(agent_id)
    tokens.wake_compress(agent_id)
    return LaneAnswer(agent_id=agent_id, paused=state.paused, halted_by=state.halted_by)


def cancel_compression(database: Database, agent_id: str) -> LaneAnswer:
    """Drop the pass under way and the one that waits; what it has done stays."""
    with database.lane_transaction() as connection:
        state = control.cancel_compression(connection, agent_id)
    return LaneAnswer(agent_id=agent_id, paused=state.paused, halted_by=state.halted_by)
