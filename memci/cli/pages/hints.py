"""What people may have misspelt: an agent that begins with a page, a session where nobody spoke."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memci.cli.output import hint
from memci.errors import NotFoundError

if TYPE_CHECKING:
    from memci.client.client import Agent


def is_known(memory: Agent) -> bool:
    """Tell whether there is such an agent."""
    try:
        memory.about()
    except NotFoundError:
        return False
    return True


def hint_begun(agent: str) -> None:
    """Say that a page began an agent."""
    hint(f"there was no agent {agent}, and now there is; `memci agents` lists all")


def hint_silent(memory: Agent, agent: str, session: str | None) -> None:
    """Say that nobody has spoken in a session, if one is named in which nobody has."""
    if session is not None and not memory.messages(session_id=session, limit=1).messages:
        hint(
            f"nobody has said anything in session {session} yet;"
            f" `memci sessions --agent {agent}` lists those that there are"
        )
