"""Celery queues of agents: the port of broker intake, with one adapter for each broker.

Anyone may put half a gigabyte into an agent's queue, and broker intake reads many messages at once.
A message over the limit is therefore read as a note: its size, its beginning and its end. Celery
writes headers and a unique tag to the end, so two messages have different notes, and a message has
the same note whenever it is read.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Batch:
    """The oldest messages of one agent's queue, still in it until confirmed."""

    raw: Sequence[bytes] = ()  # oldest first: each whole, or the note on one that is too large
    confirm: Callable[[], None] = _do_nothing  # removes exactly these; call it after COMMIT
    abandon: Callable[[], None] = _do_nothing  # leaves them all in the queue


class AgentQueues(Protocol):
    """Queues as lease holders and the queue watch see them; all may raise ``BROKER_ERRORS``."""

    def occupied(self, agent_ids: Sequence[str], *, queue_seen: bool = False) -> list[str]:
        """Return the agents whose queue holds messages.

        Where asking is costly, queues that are not known to exist are skipped without
        ``queue_seen``: the queue watch has seen one of them.
        """
        ...

    def take(self, agent_id: str, limit: int, max_bytes: int) -> Batch:
        """Read up to ``limit`` messages, oldest first; only for the holder of the lease.

        A message over ``max_bytes`` is read as a note. Together the messages have no more bytes
        either, where the broker can limit that.
        """
        ...

    def waiting(self) -> list[str]:
        """Return the agents whose queues hold messages (at most a few thousand)."""
        ...

    def empty(self, agent_id: str) -> int:
        """Delete the messages of an agent; return how many.

        Only for the holder of the lease. Raises ``BrokerUnavailableError`` while a worker that was
        fenced off may still put messages back.
        """
        ...

    def depth(self, queue: str) -> int:
        """Return how many messages wait in a queue."""
        ...


# Enough to see what a message is and who sent it.
_END_BYTES = 32 * 1024
_NOTE = b"memci kept the two ends of a message of %d bytes\n%b\n...\n%b"
_READ_NOTE = re.compile(rb"memci kept the two ends of a message of (\d{1,18}) bytes\n")


def end_bytes(max_bytes: int) -> int:
    """Return how many bytes of either end are kept of a message over this limit."""
    return min(_END_BYTES, max_bytes // 2)


def note(size_bytes: int, head: bytes, tail: bytes) -> bytes:
    """Return the note on a message."""
    return _NOTE % (size_bytes, head, tail)


def noted_size(raw: bytes) -> int | None:
    """Return the size of the message of a note; None for a message itself."""
    found = _READ_NOTE.match(raw)
    return int(found[1]) if found else None
