"""Where a tool of memory is used: by whose agent, in which conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memci.errors import NotFoundError
from memci.storage.messages import last_speaker
from memci.storage.reading.messages import seqs_of
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class Place:
    """An agent, and the session and user that it speaks with: what is in its sight (R5)."""

    agent_id: str
    session_id: str | None
    user_id: str | None

    def seqs(self, connection: Connection, ids: Sequence[str]) -> list[int]:
        """Return the seqs of messages in sight; raises ``NotFoundError`` when one is not.

        Who speaks with one user reads, pins and erases nothing of another's.
        """
        known = seqs_of(connection, self.agent_id, ids, user_id=self.user_id)
        if missing := [each for each in ids if each not in known]:
            raise NotFoundError(
                f"{len(missing)} of these messages are not stored: search and filter_memory"
                " tell their ids"
            )
        return [known[each] for each in dict.fromkeys(ids)]


def place_in(connection: Connection, agent_id: str, session_id: str | None) -> Place:
    """Return where an agent is in a session; None: in that of its last message."""
    session, user = last_speaker(connection, agent_id, session_id) or (None, None)
    return Place(agent_id, session_id or session, user)
