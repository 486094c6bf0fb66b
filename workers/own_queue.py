"""Messages in an agent's own queue that no task could take, for workers that subscribe to it.

Celery would drop them: without an id, of an unknown task, with a body that is no JSON. Here they
are taken in as by a lane worker, which makes dead letters of those that nobody can read.
"""

import json
from contextlib import suppress
from typing import Any

from memci.broker.intake_queues import end_bytes, note
from memci.broker.message_decoding import decode
from memci.broker.names import AGENT_PREFIX, COMPRESS_TASK, CREATE_TASK
from memci.domain.agent_id import check_agent_id
from memci.errors import InvalidInputError
from memci.queue import mailbox
from memci.queue.broker_intake import take_in
from workers.lifecycle import runtime


def agent_of(queue: str) -> str | None:
    """Return the agent whose own queue this is; None for other queues."""
    if queue.startswith(AGENT_PREFIX):
        with suppress(InvalidInputError):
            return check_agent_id(queue.removeprefix(AGENT_PREFIX))
    return None


def is_task(raw: bytes) -> bool:
    """Return True if Celery can make a task of ours of this envelope."""
    with suppress(InvalidInputError):
        task = decode(raw, limit_bytes=max_bytes()).task
        headers: dict[str, Any] = json.loads(raw).get("headers") or {}
        return (
            task in (CREATE_TASK, COMPRESS_TASK)
            and headers.get("task") == task  # protocol 2
            and isinstance(headers.get("id"), str)
            and headers.get("eta") is headers.get("expires") is None
        )
    return False


def store(agent_id: str, raw: bytes) -> None:
    """Take in a message, or bury it; raises ``UnavailableError``."""
    here = runtime()
    if len(raw) > max_bytes():
        end = end_bytes(max_bytes())
        raw = note(len(raw), raw[:end], raw[-end:])
    with here.database.agent_transaction(agent_id) as connection:
        mailbox.lock_lane(connection, agent_id)
        take_in(connection, agent_id, raw, here.settings.append_limits)
    here.wakeups.wake_lane(agent_id)


def max_bytes() -> int:
    """Return the size from which on only the two ends of a message are kept."""
    return runtime().settings.append_limits.request_bytes
