"""The caller of a memory tool: agent, session and user (R5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from memci.errors import NotFoundError, RefusedError, shown_name
from memci.storage.pages.page_queries import has_users, session_viewer
from memci.storage.reading.messages import seqs_of
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent with its session and user, who limit what is visible (R5)."""

    agent_id: str
    session_id: str | None
    user_id: str | None
    is_new: bool = False  # the session has no messages: its user is unknown

    def check_visible(self, connection: Connection) -> None:
        """Raise ``RefusedError`` if the user of the session is unknown and the agent has users."""
        if self.is_new and has_users(connection, self.agent_id):
            raise RefusedError(
                "nobody has said anything in this session yet, and what users have said is looked"
                " at in their own sessions alone: wait for the user's first message"
            )

    def message_seqs(self, connection: Connection, ids: Sequence[str]) -> list[int]:
        """Return the seqs of messages that the caller may see; raises ``NotFoundError``."""
        self.check_visible(connection)
        known = seqs_of(
            connection, self.agent_id, ids, session_id=self.session_id, user_id=self.user_id
        )
        if missing := [each for each in ids if each not in known]:
            name = f"'{shown_name(missing[0])}'"
            what = (
                f"message {name} is not stored"
                if len(missing) == 1
                else f"{len(missing)} of these messages are not stored, such as {name}"
            )
            raise NotFoundError(f"{what}: search and filter_memory tell ids")
        return [known[each] for each in dict.fromkeys(ids)]


def session_caller(connection: Connection, agent_id: str, session_id: str | None) -> Caller:
    """Return the caller in a session (None: that of the last message), with the user there."""
    viewer = session_viewer(connection, agent_id, session_id)
    return Caller(agent_id, viewer.session_id, viewer.user_id, viewer.is_new)
