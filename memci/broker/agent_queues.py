"""Celery queues of agents: the port of broker intake, with one adapter for each broker.

Anyone may put half a gigabyte into an agent's queue, and a bridge reads many messages at once.
Of one over the limit it therefore gets a note: how large the message is, its beginning and its
end. Celery writes headers and a tag of its own to the end, so two messages have two notes, and
the same message has the same note however often it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol


class Batch(Protocol):
    """The oldest messages of one agent's queue, still in it until confirmed."""

    @property
    def raw(self) -> Sequence[bytes]:
        """Messages, oldest first: each whole, or the note on one that is too large to be read."""
        ...

    def confirm(self) -> None:
        """Remove exactly these messages; call it after COMMIT."""
        ...

    def abandon(self) -> None:
        """Leave them all where they are."""
        ...


class AgentQueues(Protocol):
    """What a lease holder and the bell ask of the broker; all may raise ``BROKER_ERRORS``."""

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Return those of these agents whose queue holds something.

        Where asking is costly, queues that are not known to exist are asked for only with
        ``queue_seen``: the queue watch has seen one of them.
        """
        ...

    def take(self, agent_id: str, limit: int, most_bytes: int) -> Batch:
        """Read up to ``limit`` messages, oldest first; only for the holder of the lease.

        Of one that has more than ``most_bytes``, its note is read (``memci.broker.agent_queues``).
        Together they have no more than that either, where the broker can be asked so.
        """
        ...

    def waiting(self) -> list[str]:
        """Return the agents whose queues hold something (at most a few thousand)."""
        ...

    def empty(self, agent_id: str) -> int:
        """Throw away what waits for an agent; return how many messages that were.

        Only for the holder of the lease. Raises ``BrokerUnavailableError`` while somebody who was
        fenced off may still put messages back.
        """
        ...

    def depth(self, queue: str) -> int:
        """Return how many messages wait in a queue."""
        ...


# Of each end; enough to see what it is and who sent it.
_END_BYTES = 32 * 1024
_NOTE = b"memci kept the two ends of a message of %d bytes\n%b\n...\n%b"
_READ_NOTE = re.compile(rb"memci kept the two ends of a message of (\d{1,18}) bytes\n")


def end_bytes(most_bytes: int) -> int:
    """Return how much is kept of either end of a message over this limit."""
    return min(_END_BYTES, most_bytes // 2)


def note(size_bytes: int, head: bytes, tail: bytes) -> bytes:
    """Return what stands for the message."""
    return _NOTE % (size_bytes, head, tail)


def noted_size(raw: bytes) -> int | None:
    """Return the size of the message that these bytes stand for; None for a message itself."""
    found = _READ_NOTE.match(raw)
    return int(found[1]) if found else None
