"""Cancels, replays and discards jobs; pauses and resumes the lane of an agent (M17)."""

from collections.abc import Callable
from uuid import UUID

from memci.broker.wakeup import Wakeups
from memci.message import AppendLimits
from memci.queue import broker_intake, lane_control
from memci.queue.lane_control import LaneState
from memci.schemas.agents import LaneAnswer
from memci.storage import messages
from memci.storage.session import Database


def cancel(database: Database, wakeups: Wakeups, agent_id: str, job_id: UUID) -> None:
    """Take a queued job out of the mailbox; its messages stay stored and searchable."""
    with database.agent_transaction(agent_id) as connection:
        lane_control.cancel(connection, agent_id, job_id)
    wakeups.wake_lane(agent_id)


def replay(
    database: Database,
    wakeups: Wakeups,
    agent_id: str,
    job_id: UUID,
    *,
    at_tail: bool,
    limits: AppendLimits,
) -> UUID:
    """Run a dead job again, in its own place or as a new job at the tail; return its id.

    A broker message that could not be read is read again, as a new job at the tail.
    """
    with database.agent_transaction(agent_id) as connection:
        raw = messages.read_dead_letter(connection, agent_id, job_id)
        if raw is None:
            watched = lane_control.replay(connection, agent_id, job_id, at_tail=at_tail)
        else:
            lane_control.discard(connection, agent_id, job_id)
            watched = broker_intake.redeliver(connection, agent_id, raw, limits)
            messages.delete_dead_letter(connection, agent_id, job_id)
    wakeups.wake_lane(agent_id)
    return watched


def discard(database: Database, wakeups: Wakeups, agent_id: str, job_id: UUID) -> None:
    """Remove a dead job for good; its messages stay stored and searchable.

    A broker message that could not be read is removed as well.
    """
    with database.agent_transaction(agent_id) as connection:
        lane_control.discard(connection, agent_id, job_id)
        messages.delete_dead_letter(connection, agent_id, job_id)
    wakeups.wake_lane(agent_id)


def pause(database: Database, agent_id: str) -> LaneAnswer:
    """Stop the lane between two jobs or nodes; messages are still accepted."""
    return _change(database, agent_id, lane_control.pause)


def resume(database: Database, wakeups: Wakeups, agent_id: str) -> LaneAnswer:
    """Resume the lane after a pause or after a dead job that halted it."""
    answer = _change(database, agent_id, lane_control.resume)
    wakeups.wake_lane(agent_id)
    wakeups.wake_compress(agent_id)
    return answer


def cancel_compression(database: Database, agent_id: str) -> LaneAnswer:
    """Cancel the running and the waiting pass; finished work stays."""
    return _change(database, agent_id, lane_control.cancel_compression)


def _change(database: Database, agent_id: str, change: Callable[..., LaneState]) -> LaneAnswer:
    with database.lane_transaction() as connection:
        state = change(connection, agent_id)
    return LaneAnswer(agent_id=agent_id, paused=state.paused, halted_by=state.halted_by)
