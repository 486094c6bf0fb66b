"""Which agents there are: one exists from its first message on, until it is erased (M1, M25)."""

from __future__ import annotations

# A condition on ``lane``. Of an erased agent the lane stays, so that its ids never come back; with
# the next message another life begins.
IS_THERE = "NOT (epoch > 0 AND message_seq = erased_messages)"
