"""Tasks of the lanes: tokens, and jobs of workers that subscribe to one agent's own queue."""

from __future__ import annotations

from typing import Any

from celery import Task

from memci.broker.names import (
    COMPRESS_TASK,
    CREATE_TASK,
    LANE_COMPRESS_TASK,
    LANE_RUN_TASK,
)
from memci.domain.agent import check_agent_id
from memci.domain.lane.job import JobSource
from memci.queue.intake import Append
from memci.shapes.task import CompressArguments, CreateArguments
from workers.app import app
from workers.lifecycle import lane_loop, runtime


@app.task(name=LANE_RUN_TASK, bind=True)
def run(self: Task, agent_id: str | None = None, *, rung: bool = False, **_: Any) -> None:
    """Run jobs of due lanes; the agent is where to look first, and never more than a hint."""
    hint = check_agent_id(agent_id) if agent_id is not None else None
    lane_loop(self.request.hostname).run(hint, rung=bool(rung))


@app.task(name=LANE_COMPRESS_TASK, bind=True)
def compress(self: Task, agent_id: str | None = None, **_: Any) -> None:
    """Give one agent its time slice of compression."""
    hint = check_agent_id(agent_id) if agent_id is not None else None
    lane_loop(self.request.hostname).compress(hint)


@app.task(name=CREATE_TASK, bind=True)
def create(self: Task, **arguments: Any) -> None:
    """Put the messages into the mailbox, then run the lane: never past what waits there."""
    request = CreateArguments.model_validate(arguments)
    runtime().intake.append(
        Append(
            agent_id=check_agent_id(request.agent_id),
            messages=[each.to_domain() for each in request.messages],
            session_id=request.session_id,
            user_id=request.user_id,
            remember=request.remember,
            source=JobSource.CELERY,
            key=self.request.id,
        )
    )
    lane_loop(self.request.hostname).run(request.agent_id)


@app.task(name=COMPRESS_TASK, bind=True)
def request_compress(self: Task, **arguments: Any) -> None:
    """Ask for one more pass, then give the agent its slice."""
    request = CompressArguments.model_validate(arguments)
    runtime().intake.request_compress(check_agent_id(request.agent_id))
    lane_loop(self.request.hostname).compress(request.agent_id)
