"""Jobs of an agent's mailbox, and the lane that runs them."""

from __future__ import annotations

import time
from typing import Literal, Unpack
from uuid import UUID

from memci.client.flow import Flow, Pause
from memci.client.options import JobOptions
from memci.client.verbs.looking import LookingVerbs
from memci.domain.lane.job import JobState
from memci.errors import UnavailableError
from memci.shapes.agent import AgentAnswer, JobAnswer, JobList, LaneAnswer

_POLL_S = 0.2


class OperatingVerbs(LookingVerbs):
    """Decides about jobs, stops and starts the lane, waits for it."""

    def jobs(self, **options: Unpack[JobOptions]) -> Flow[JobList]:
        """List jobs in the order of the mailbox."""
        return self._get("/jobs", JobList, options)

    def job(self, job_id: UUID) -> Flow[JobAnswer]:
        """Return one job."""
        return self._get(f"/jobs/{job_id}", JobAnswer)

    def cancel(self, job_id: UUID) -> Flow[JobAnswer]:
        """Take a queued job out of the mailbox."""
        return self._post(f"/jobs/{job_id}/cancel", JobAnswer, repeatable=False)

    def replay(self, job_id: UUID, *, where: Literal["place", "tail"] = "place") -> Flow[JobAnswer]:
        """Run a dead job again: in its place, or anew behind all that waits."""
        return self._post(f"/jobs/{job_id}/replay", JobAnswer, {"where": where}, repeatable=False)

    def discard(self, job_id: UUID) -> Flow[JobAnswer]:
        """Give up a dead job."""
        return self._post(f"/jobs/{job_id}/discard", JobAnswer, repeatable=False)

    def pause(self) -> Flow[LaneAnswer]:
        """Let no worker begin another job of the agent."""
        return self._post("/pause", LaneAnswer)

    def cancel_compression(self) -> Flow[LaneAnswer]:
        """Drop the pass under way and the one that waits; what is done stays."""
        return self._post("/compress/cancel", LaneAnswer)

    def resume(self) -> Flow[LaneAnswer]:
        """Let workers go on."""
        return self._post("/resume", LaneAnswer)

    def wait(self, job_id: UUID, *, timeout_s: float = 60.0) -> Flow[JobAnswer]:
        """Return a job as soon as it is no longer queued.

        Raises ``UnavailableError`` after ``timeout_s``; it says if the agent is paused or halted.
        """
        deadline = time.monotonic() + timeout_s
        while (job := (yield from self.job(job_id))).state is JobState.QUEUED:
            if time.monotonic() > deadline:
                reason = why_late((yield from self.about()))
                raise UnavailableError(
                    f"job {job_id} is still queued after {timeout_s:g} s; {reason}"
                )
            yield Pause(_POLL_S)
        return job

    def wait_idle(self, *, timeout_s: float = 60.0) -> Flow[AgentAnswer]:
        """Return the agent as soon as nothing is left to do for it, or raise likewise."""
        deadline = time.monotonic() + timeout_s
        while not (about := (yield from self.about())).idle:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"agent {self.id} is still busy after {timeout_s:g} s; {why_late(about)}"
                )
            yield Pause(_POLL_S)
        return about


def why_late(about: AgentAnswer) -> str:
    """Return why nothing happens to what is waited for."""
    if about.paused:
        return f"agent {about.agent_id} is paused: resume it, and workers go on"
    if about.halted_by is not None:
        return (
            f"agent {about.agent_id} is halted by dead job {about.halted_by}: "
            "replay that job, or resume the agent to go on without it"
        )
    return "do workers run?"
