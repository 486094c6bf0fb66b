"""Where an indexed message stands: which of its agent's sessions, and where in it (R11b).

One number holds both, so that the messages beside one are found by adding to it: rank in the
lower 32 bits, number of the session above them. Ranks count from 0, in the order of indexing, and
an erased message leaves its number free: those about it were no neighbours.
"""

from __future__ import annotations

_SESSION = 1 << 32

# Messages on either side that lend a message their words and their sense.
REACH = 2


def position_at(session: int, rank: int) -> int:
    """Return the position of the ``rank``-th message of the ``session``-th session, from 0."""
    return session * _SESSION + rank


def session_at(position: int) -> int:
    """Return the number of the session that a position lies in."""
    return position // _SESSION


def first_after(session: int) -> int:
    """Return the first position behind all that a session may have."""
    return (session + 1) * _SESSION
