"""Messages too large to be read: what is kept of them in their stead.

Anyone may put half a gigabyte into an agent's queue, and a bridge reads many messages at once.
Of one over the limit it therefore gets a note: how large the message is, its beginning and its
end. Celery writes headers and a tag of its own to the end, so two messages have two notes, and
the same message has the same note however often it is read.
"""

from __future__ import annotations

import re

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
