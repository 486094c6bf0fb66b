"""A network that is made once more beside the current one."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memci.client.flow import Flow, Pause
from memci.client.verbs.looking import LookingVerbs
from memci.client.verbs.operating import why_late
from memci.domain.lane.job import JobState
from memci.errors import ConflictError, UnavailableError
from memci.shapes.edition import ComparisonAnswer, EditionAnswer

_POLL_S = 0.2


class RebuildingVerbs(LookingVerbs):
    """Rebuilds, compares, then switches or drops."""

    def rebuild(self, *, up_to_seq: int | None = None) -> Flow[EditionAnswer]:
        """Have the network made once more, beside the current one."""
        body = {"up_to_seq": up_to_seq}
        return self._post("/rebuild", EditionAnswer, body, repeatable=False)

    def rebuilt(self) -> Flow[EditionAnswer]:
        """Return how far the rebuilt network is, or what became of the last one."""
        return self._get("/rebuild", EditionAnswer)

    def compare_rebuilt(
        self, probes: Sequence[Sequence[str]] = (), *, limit: int = 20
    ) -> Flow[ComparisonAnswer]:
        """Compare the rebuilt network with the current one; ``probes`` are keywords of recalls."""
        body = {"probes": [list(keywords) for keywords in probes], "limit": limit}
        return self._post("/rebuild/compare", ComparisonAnswer, body)

    def switch_rebuilt(self) -> Flow[EditionAnswer]:
        """Let the rebuilt network take the current one's place."""
        return self._post("/rebuild/switch", EditionAnswer, repeatable=False)

    def drop_rebuilt(self) -> Flow[EditionAnswer]:
        """Delete the rebuilt network."""
        return self._post("/rebuild/drop", EditionAnswer, repeatable=False)

    def wait_rebuilt(self, *, timeout_s: float = 60.0) -> Flow[EditionAnswer]:
        """Return the rebuilt network as soon as no job works at it, or raise likewise."""
        deadline = time.monotonic() + timeout_s
        while (rebuilt := (yield from self.rebuilt())).job is not None:
            if rebuilt.job.state is JobState.DEAD:
                raise ConflictError(
                    f"job {rebuilt.job.id} is dead ({rebuilt.job.error}): "
                    "replay that job, or drop the rebuilt network"
                )
            if time.monotonic() > deadline:
                reason = why_late((yield from self.about()))
                raise UnavailableError(
                    f"edition {rebuilt.edition} is still {rebuilt.state} after {timeout_s:g} s; "
                    f"{reason}"
                )
            yield Pause(_POLL_S)
        return rebuilt
