"""Lists of what an agent holds, its settings, its jobs and its lane."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Unpack
from uuid import UUID

from memci.client import keyword_arguments as options
from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow, Pause
from memci.domain.job import JobState
from memci.errors import UnavailableError
from memci.schemas import agents
from memci.schemas.agents import SettingsAnswer
from memci.schemas.events import EventList
from memci.schemas.messages import MessageList
from memci.schemas.network import FadingAnswer, NetworkAnswer, PassList
from memci.schemas.pages import PinList, PlanAnswer
from memci.schemas.sessions import HistoryAnswer, SessionList, SummaryList


class InspectionMethods(Methods[TransportT]):
    """Reads what an agent holds, and sets its parameters."""

    @method
    def about(self) -> Flow[agents.AgentAnswer]:
        """Return the sizes of the agent's memory, and its open work."""
        return self._get("", agents.AgentAnswer)

    @method
    def messages(self, **options: Unpack[options.SessionPage]) -> Flow[MessageList]:
        """List messages by seq."""
        return self._get("/messages", MessageList, options)

    @method
    def events(self, **page: Unpack[options.Page]) -> Flow[EventList]:
        """List what happened, the oldest first; a cursor is the id of an event."""
        return self._get("/events", EventList, page)

    @method
    def pins(self) -> Flow[PinList]:
        """List pinned texts, which every window and context shows, and pinned pages."""
        return self._get("/pins", PinList)

    @method
    def plan(self, session_id: str | None = None) -> Flow[PlanAnswer]:
        """Return the plan of a session; none: that of the last message."""
        return self._get("/plan", PlanAnswer, {"session_id": session_id})

    @method
    def update_plan(
        self, session_id: str | None = None, **plan: Unpack[options.PlanOptions]
    ) -> Flow[PlanAnswer]:
        """Set all steps of a session's plan, or the state of one of them."""
        params = {"session_id": session_id}
        return self._fetch("POST", "/plan", PlanAnswer, json=plan, params=params)

    @method
    def nodes(self, **options: Unpack[options.NodeOptions]) -> Flow[agents.NodeList]:
        """List nodes by id."""
        return self._get("/nodes", agents.NodeList, options)

    @method
    def node(self, node_id: int) -> Flow[agents.NodeAnswer]:
        """Return one node."""
        return self._get(f"/nodes/{node_id}", agents.NodeAnswer)

    @method
    def trail(self, node_id: int, **page: Unpack[options.Page]) -> Flow[agents.TrailList]:
        """List what happened to a node, the oldest first."""
        return self._get(f"/nodes/{node_id}/trail", agents.TrailList, page)

    @method
    def history(
        self, node_id: int, *, as_of: datetime | str | float | None = None
    ) -> Flow[HistoryAnswer]:
        """List the versions of a memory, before it and after it, the oldest first."""
        return self._get(f"/nodes/{node_id}/history", HistoryAnswer, {"as_of": as_of})

    @method
    def sessions(self, **page: Unpack[options.Page]) -> Flow[SessionList]:
        """List sessions by id."""
        return self._get("/sessions", SessionList, page)

    @method
    def summaries(self, **options: Unpack[options.SessionPage]) -> Flow[SummaryList]:
        """List the summaries of sessions."""
        return self._get("/summaries", SummaryList, options)

    @method
    def links(self, **options: Unpack[options.LinkOptions]) -> Flow[agents.LinkList]:
        """List links by source, then target."""
        return self._get("/links", agents.LinkList, options)

    @method
    def focus(self) -> Flow[agents.FocusList]:
        """List what the agent is talking about, the latest mention first."""
        return self._get("/focus", agents.FocusList)

    @method
    def network(self, **view: Unpack[options.NetworkOptions]) -> Flow[NetworkAnswer]:
        """Return nodes, links and focus: now, or as the pass ``number`` left them."""
        params = {"pass": view.get("number"), "limit": view.get("limit")}
        return self._get("/network", NetworkAnswer, params)

    @method
    def passes(self, **page: Unpack[options.Page]) -> Flow[PassList]:
        """List passes, the latest first."""
        return self._get("/passes", PassList, page)

    @method
    def fading(self, **options: Unpack[options.FadingOptions]) -> Flow[FadingAnswer]:
        """Return strengths, importance and length of memories over passes."""
        return self._get("/fading", FadingAnswer, options)

    @method
    def receipt(self, receipt_id: UUID) -> Flow[agents.ReceiptAnswer]:
        """Return what an operation did."""
        return self._get(f"/receipts/{receipt_id}", agents.ReceiptAnswer)

    @method
    def settings(self) -> Flow[SettingsAnswer]:
        """Return the memory parameters that hold for the agent."""
        return self._get("/settings", SettingsAnswer)

    @method
    def configure(self, parameters: Mapping[str, float | str]) -> Flow[SettingsAnswer]:
        """Replace all of the agent's own parameters; the others go back to their defaults."""
        return self._fetch("PUT", "/settings", SettingsAnswer, json=parameters)

    @method
    def usage(self, *, days: int = 30) -> Flow[agents.UsageAnswer]:
        """Return what language models took for the agent, and its budget of today."""
        return self._get("/usage", agents.UsageAnswer, {"days": days})


POLL_S = 0.2


class WaitingMethods(Methods[TransportT]):
    """Waits for the workers of an agent."""

    def _pause(self, deadline: float, late: str) -> Flow[None]:
        """Pause before another look; raise ``UnavailableError`` after ``deadline``."""
        if time.monotonic() > deadline:
            reason = why_late((yield from self._get("", agents.AgentAnswer)))
            raise UnavailableError(f"{late}; {reason}")
        yield Pause(POLL_S)


class JobMethods(WaitingMethods[TransportT]):
    """Decides about jobs, pauses and resumes the lane, waits for it."""

    @method
    def jobs(self, **options: Unpack[options.JobOptions]) -> Flow[agents.JobList]:
        """List jobs in the order of the mailbox."""
        return self._get("/jobs", agents.JobList, options)

    @method
    def job(self, job_id: UUID) -> Flow[agents.JobAnswer]:
        """Return one job."""
        return self._get(f"/jobs/{job_id}", agents.JobAnswer)

    @method
    def cancel(self, job_id: UUID) -> Flow[agents.JobAnswer]:
        """Take a queued job out of the mailbox."""
        return self._post(f"/jobs/{job_id}/cancel", agents.JobAnswer, repeatable=False)

    @method
    def replay(
        self, job_id: UUID, *, where: Literal["place", "tail"] = "place"
    ) -> Flow[agents.JobAnswer]:
        """Run a dead job again: in its place, or behind all waiting jobs."""
        return self._post(
            f"/jobs/{job_id}/replay", agents.JobAnswer, {"where": where}, repeatable=False
        )

    @method
    def discard(self, job_id: UUID) -> Flow[agents.JobAnswer]:
        """Give up a dead job."""
        return self._post(f"/jobs/{job_id}/discard", agents.JobAnswer, repeatable=False)

    @method
    def pause(self) -> Flow[agents.LaneAnswer]:
        """Let no worker begin another job of the agent."""
        return self._post("/pause", agents.LaneAnswer)

    @method
    def cancel_compression(self) -> Flow[agents.LaneAnswer]:
        """Drop the current pass and the waiting one; scanned nodes stay as they are."""
        return self._post("/compress/cancel", agents.LaneAnswer)

    @method
    def resume(self) -> Flow[agents.LaneAnswer]:
        """Let workers go on."""
        return self._post("/resume", agents.LaneAnswer)

    @method
    def wait(self, job_id: UUID, *, timeout_s: float = 60.0) -> Flow[agents.JobAnswer]:
        """Return a job as soon as it is no longer queued.

        Raises ``UnavailableError`` after ``timeout_s``; it says if the agent is paused or halted.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            job = yield from self._get(f"/jobs/{job_id}", agents.JobAnswer)
            if job.state is not JobState.QUEUED:
                return job
            late = f"job {job_id} is still queued after {timeout_s:g} s"
            yield from self._pause(deadline, late)

    @method
    def wait_idle(self, *, timeout_s: float = 60.0) -> Flow[agents.AgentAnswer]:
        """Return the agent as soon as nothing is left to do for it; raises as ``wait``."""
        deadline = time.monotonic() + timeout_s
        while not (about := (yield from self._get("", agents.AgentAnswer))).idle:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"agent {self.id} is still busy after {timeout_s:g} s; {why_late(about)}"
                )
            yield Pause(POLL_S)
        return about


def why_late(about: agents.AgentAnswer) -> str:
    """Return the reason why an agent's jobs do not run."""
    if about.paused:
        return f"agent {about.agent_id} is paused: resume it, and workers go on"
    if about.halted_by is not None:
        return (
            f"agent {about.agent_id} is halted by dead job {about.halted_by}: "
            "replay that job, or resume the agent to go on without it"
        )
    return "do workers run?"
