"""What people may have misspelt: an agent that begins with a page, a session where nobody spoke."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memci.cli.output import hint

if TYPE_CHECKING:
    from memci.shapes.base import Answer


def hint_misspelt(answer: Answer, agent: str, session: str | None) -> None:
    """Say what an answer tells of an agent or a session that was not there before."""
    if getattr(answer, "new_agent", False):
        hint(f"there was no agent {agent}, and now there is; `memci agents` lists all")
    if getattr(answer, "new_session", False) and session is not None:
        hint(
            f"nobody has said anything in session {session} yet;"
            f" `memci sessions --agent {agent}` lists those that there are"
        )
