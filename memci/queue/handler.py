"""What the lane asks of a job kind, and which kinds run beside others.

Others overtake them while they wait for another try, and one that is dead halts nobody: what they
do is worth having, and nothing waits for it. Each looks for what there is to do when it runs, and
so does right in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from sqlalchemy import Connection

from memci.domain.job import Job
from memci.queue.follow_up_jobs import (
    DOCUMENT_KIND,
    ITEM_INDEX,
    NAME_KIND,
    SUMMARISE_KIND,
    TRACK_KIND,
)
from memci.queue.lease import Lease

# Writes everything that the job does, inside the fenced transaction that also marks it done;
# returns what the job did, in numbers and ids, never text. May run again after a roll-back.
Effect: TypeAlias = Callable[[Connection], Mapping[str, Any]]


class Handler(Protocol):
    """Runs jobs of one kind: reads and thinks in ``prepare``, writes in what it returns."""

    @property
    def kind(self) -> str:
        """The kind string, such as ``memci.memory.create``."""
        ...

    @property
    def triggers_compression(self) -> bool:
        """Whether a finished job asks for a pass (M16)."""
        ...

    def prepare(self, job: Job) -> Effect:
        """Read and think, with no transaction open while a model is called.

        Raises ``SmallModelUnavailableError`` to be tried again later, in order; any other error
        makes the job dead.
        """
        ...


class Compression(Protocol):
    """The pass over one network (M12 to M18), cut into steps."""

    def slice_ms(self, agent_id: str) -> int:
        """Return how long one turn of this agent is (M17, ``time_slice``)."""
        ...

    def step(self, lease: Lease, *, budget_ms: int) -> bool:
        """Scan some nodes, for about ``budget_ms`` and never less than one, and commit them.

        Starts a pass when none is under way. Returns True when there is more to do now, False
        when the pass has ended, was cancelled, or all that is left of it waits for a model.

        Raises ``WrongEmbedderError`` in a process that may not write vectors: its lease then runs
        out, so that it does not ask for the same at once again.
        """
        ...


ASIDE_KINDS = frozenset({DOCUMENT_KIND, ITEM_INDEX, NAME_KIND, SUMMARISE_KIND, TRACK_KIND})

_LISTED = ", ".join(f"'{each}'" for each in sorted(ASIDE_KINDS))

# A condition on ``job``: it waits for another try, and the next in the mailbox goes first.
STEPS_ASIDE = f"(kind IN ({_LISTED}) AND coalesce(not_before > now(), false))"
