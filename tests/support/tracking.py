"""Key messages and plans of one agent, found by jobs on a real database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memci.domain.job import Job, JobKind
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Pin
from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import Plan
from memci.jobs.track import MOST_SEARCHED, MessageTracking
from memci.queue.runner import Effect
from memci.storage.pages.page_queries import session_viewer
from memci.storage.pins import read_pins
from memci.storage.plans import read_plan
from tests.support.naming import COUNTER
from tests.support.network import AgentUnderTest


@dataclass
class TrackingUnderTest:
    ada: AgentUnderTest
    rules: PageRules = field(default_factory=PageRules)
    most: int = MOST_SEARCHED

    @property
    def handler(self) -> MessageTracking:
        reader = self.ada.models.sentences
        return MessageTracking(self.ada.database, reader, COUNTER, self.rules, most=self.most)

    def begin(self) -> Effect:
        job: Job = replace(self.ada.job(0, 0), kind=JobKind.TRACK_MESSAGES)
        return self.handler.prepare(job)

    def write(self, effect: Effect) -> Mapping[str, Any]:
        with self.ada.lease().effect() as connection:
            return effect(connection)

    def run(self) -> Mapping[str, Any]:
        """Run one job, as the lane does."""
        return self.write(self.begin())

    def run_all(self) -> int:
        """Run all queued jobs; return their number."""
        ran = 1
        self.run()
        while self.waiting():
            self.ada.execute("UPDATE job SET state = 'done' WHERE agent_id = %s")
            self.run()
            ran += 1
        return ran

    def waiting(self) -> int:
        """The number of queued jobs of this kind."""
        query = "SELECT FROM job WHERE agent_id = %s AND kind = %s AND state = 'queued'"
        return len(self.ada.rows(query, JobKind.TRACK_MESSAGES))

    def pins(self) -> list[Pin]:
        with self.ada.database.agent_snapshot(self.ada.agent_id) as connection:
            return read_pins(connection, self.ada.agent_id).pins

    def texts(self) -> list[str]:
        return [each.text for each in self.pins()]

    def plan(self, session: str | None = "s1", user: str | None = None) -> Plan | None:
        with self.ada.database.agent_snapshot(self.ada.agent_id) as connection:
            viewer = session_viewer(connection, self.ada.agent_id, session)
            viewer = viewer if user is None else Viewer(viewer.session_id, user)
            return read_plan(connection, self.ada.agent_id, viewer)

    def states(self, session: str | None = "s1", user: str | None = None) -> list[str]:
        plan = self.plan(session, user)
        return [] if plan is None else [each.state.value for each in plan.steps]
