"""Where the pass under way stands (M17, M18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PassCursor:
    """Kept on the lane while a pass is under way; removing it cancels the pass.

    ``request`` is the newest wish for compression that the pass fulfils when it ends. ``fence``
    is that of the lease under which it last ran: another fence is another time slice.
    ``unavailable`` counts the small-model calls in a row that got no answer; ``mute``: the last of
    them were the embedder's, which is asked first from then on. Until ``retry_at``
    (aware UTC) there is nothing to do but wait for the model.
    """

    number: int
    request: int
    fence: int
    unavailable: int = 0
    mute: bool = False
    retry_at: datetime | None = None

    def waits(self, now: datetime) -> bool:
        """Tell whether all that is left waits for a small model."""
        return self.retry_at is not None and now < self.retry_at
