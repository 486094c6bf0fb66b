"""Which agents there are: one exists from its first message on, until it is erased (M1, M25)."""

from __future__ import annotations

from memci.errors import NotFoundError

# A condition on ``lane``. Of an erased agent the lane stays, so that its ids never come back; with
# the next message another life begins.
IS_THERE = "NOT (epoch > 0 AND message_seq = erased_messages)"
# The same, and it is no lane that a claim, or a letter that could not be read, has made.
IS_AGENT = f"message_seq > 0 AND {IS_THERE}"


def no_agent(agent_id: str) -> NotFoundError:
    """Return the error of whoever asks something of an agent that is not there."""
    return NotFoundError(f"there is no agent {agent_id}: one exists from its first message on")
