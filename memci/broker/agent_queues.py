"""Agents' own Celery queues: the port that the bridge works on, one adapter per broker."""

from __future__ import annotations

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

    def occupied(self, agent_ids: Sequence[str], *, rung: bool = False) -> list[str]:
        """Return those of these agents whose queue holds something.

        Where asking is dear, only ``rung`` asks for queues that are not known to exist: it says
        that the bell has seen one of them.
        """
        ...

    def take(self, agent_id: str, limit: int, most_bytes: int) -> Batch:
        """Read up to ``limit`` messages, oldest first; only for the holder of the lease.

        Of one that has more than ``most_bytes``, its note is read (``memci.broker.oversized``).
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
