"""Merge alike memories and judge short-term ones now, or because a session has ended (R5)."""

from __future__ import annotations

from memci.broker.token import Tokens
from memci.errors import NotFoundError
from memci.queue import consolidation
from memci.shapes.belief import ConsolidateAnswer, SessionEndAnswer
from memci.storage.session import Database
from memci.storage.sessions import end_session
from memci.storage.summaries import open_session


def run(database: Database, tokens: Tokens, agent_id: str) -> ConsolidateAnswer:
    """Ask for it; requests that wait are one. Raises ``NotFoundError`` for no agent."""
    with database.lane_transaction() as connection:
        asked = consolidation.ask(connection, agent_id)
    if asked.woken:
        tokens.wake_lane(agent_id)
    return ConsolidateAnswer(job_id=asked.job_id, coalesced=asked.coalesced)


def end(database: Database, tokens: Tokens, agent_id: str, session_id: str) -> SessionEndAnswer:
    """End a session up to its last message; a later message begins it anew.

    Ended twice is ended once. Raises ``NotFoundError`` for a session without messages.
    """
    with database.agent_transaction(agent_id) as connection:
        asked = consolidation.ask(connection, agent_id)
        ended = end_session(connection, agent_id, session_id)
        if ended is None:
            raise NotFoundError("there is no such session: one exists from its first message on")
        open_session(connection, agent_id, session_id)
    if asked.woken:
        tokens.wake_lane(agent_id)
    seq, ended_at = ended
    return SessionEndAnswer(session_id=session_id, seq=seq, ended_at=ended_at, job_id=asked.job_id)
