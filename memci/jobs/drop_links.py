"""``memci.link.drop``: dangling links that a recall has reported go (M15, ``drop_on_visit``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memci.domain.job import Job
from memci.domain.memory.parameters import MemoryParameters
from memci.queue.handler import Effect
from memci.queue.network_jobs import DROP_KIND
from memci.storage.network.links import drop_dangling
from memci.storage.parameters import parameters_of
from memci.storage.session import Connection


class LinkDropping:
    """Removes all links to the nodes that the payload names as ``targets``: ids.

    They stay where the agent keeps dangling links again by now.
    """

    kind = DROP_KIND
    triggers_compression = False

    def __init__(self, defaults: MemoryParameters) -> None:
        """Take the parameters of agents that set none."""
        self._defaults = defaults

    def prepare(self, job: Job) -> Effect:
        """Return the effect: there is nothing to think about."""
        return _Effect(job.agent_id, job.payload["targets"], self._defaults)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    targets: list[int]
    defaults: MemoryParameters

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        parameters = parameters_of(connection, self.agent_id, self.defaults)
        if not parameters.drops_on_visit:
            return {"dropped": 0}
        return {"dropped": drop_dangling(connection, self.agent_id, self.targets)}
