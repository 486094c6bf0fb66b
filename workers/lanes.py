"""Tasks of the lanes: wakeups, and jobs of workers that subscribe to one agent's own queue."""

from typing import Any

from celery import Task
from celery.app.task import Context

from memci.broker import names
from memci.broker.message_decoding import encode
from memci.domain.agent_id import check_agent_id
from memci.domain.documents import check_owner
from memci.queue import mailbox
from memci.queue.broker_intake import take_in
from workers.app import app
from workers.lifecycle import lane_loop, runtime


@app.task(name=names.LANE_RUN_TASK, bind=True)
def run(self: Task, agent_id: str | None = None, *, queue_seen: bool = False, **_: Any) -> None:
    """Run jobs of due lanes; the agent is where to look first, and never more than a hint."""
    hint = check_owner(agent_id) if agent_id is not None else None
    lane_loop(self.request.hostname).run(hint, queue_seen=bool(queue_seen))


@app.task(name=names.LANE_COMPRESS_TASK, bind=True)
def compress(self: Task, agent_id: str | None = None, **_: Any) -> None:
    """Give one agent its time slice of compression."""
    hint = check_owner(agent_id) if agent_id is not None else None
    lane_loop(self.request.hostname).compress(hint)


@app.task(name=names.CREATE_TASK, bind=True)
def create(self: Task, **arguments: Any) -> None:
    """Put the messages into the mailbox, then run the lane: never past what waits there."""
    lane_loop(self.request.hostname).run(_take_in(self.request, arguments))


@app.task(name=names.COMPRESS_TASK, bind=True)
def request_compress(self: Task, **arguments: Any) -> None:
    """Ask for one more pass, then give the agent its slice."""
    lane_loop(self.request.hostname).compress(_take_in(self.request, arguments))


def _take_in(request: Context, arguments: dict[str, Any]) -> str:
    """Take in a message like broker intake, for a worker subscribed to the agent's own queue.

    A message on a shared queue goes to the agent that it names.
    """
    queue = str((request.delivery_info or {}).get("routing_key", ""))
    own = queue.startswith(names.AGENT_PREFIX)
    agent_id = check_agent_id(
        queue.removeprefix(names.AGENT_PREFIX) if own else arguments.get("agent_id")
    )
    here = runtime()
    traceparent = (request.headers or {}).get("traceparent")
    raw = encode(request.task, request.id, arguments, traceparent)
    with here.database.agent_transaction(agent_id) as connection:
        mailbox.lock_lane(connection, agent_id)
        take_in(connection, agent_id, raw, here.settings.append_limits)
    return agent_id
