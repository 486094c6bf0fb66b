"""The end of a conversation, as it is stored."""

from __future__ import annotations

from memci.domain.message import Message
from memci.storage.reading.messages import latest_seqs, messages_at
from memci.storage.session import Database

# Clients that send a conversation anew seldom send more of it.
_MOST = 500


def tail_of(database: Database, agent_id: str, session_id: str) -> list[Message]:
    """Return the last messages of a session, ascending; none of an agent that is not there."""
    with database.agent_snapshot(agent_id) as connection:
        seqs = latest_seqs(connection, agent_id, session_id=session_id, user_id=None, most=_MOST)
        return messages_at(connection, agent_id, seqs)
