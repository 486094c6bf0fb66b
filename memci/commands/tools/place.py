"""Where a tool of memory is used: by whose agent, in which conversation."""

from __future__ import annotations

from dataclasses import dataclass

from memci.storage.messages import last_speaker
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class Place:
    """An agent, and the session and user that it speaks with: what is in its sight (R5)."""

    agent_id: str
    session_id: str | None
    user_id: str | None


def place_in(connection: Connection, agent_id: str, session_id: str | None) -> Place:
    """Return where an agent is in a session; None: in that of its last message."""
    session, user = last_speaker(connection, agent_id, session_id)
    return Place(agent_id, session_id or session, user)
