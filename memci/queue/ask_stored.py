"""Memory is asked to remember messages that are stored already (queue.md, "Messages")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.domain.names import shown_name
from memci.errors import ConflictError, InvalidInputError
from memci.queue import submit
from memci.queue.intake import CREATE_KIND
from memci.storage.memory_state import mark_asked, unasked_messages


@dataclass(frozen=True, slots=True)
class AskStored:
    """A wish that stored messages be remembered, whatever was wished when they came."""

    agent_id: str
    message_ids: Sequence[str]
    job_id: UUID
    source: JobSource
    traceparent: str | None = None


def ask_in(connection: Connection, request: AskStored) -> bool:
    """Queue one job for those messages of which no memory was made yet.

    Whoever names a message that was filtered insists: now one is made of it (R2). False when there
    is nothing to make: all are made or on their way, or this is the same wish again.
    Raises ``InvalidInputError`` when a message is not stored, and then nothing is written.
    """
    woken, _ = submit.lock_lane(connection, request.agent_id)
    found = unasked_messages(connection, request.agent_id, request.message_ids)
    if found.missing:
        place = found.missing[0]
        raise InvalidInputError(
            f"{len(found.missing)} of {len(request.message_ids)} messages are not stored, such as "
            f"message_ids[{place}], '{shown_name(request.message_ids[place])}'; "
            "store them first, then ask for them by their ids"
        )
    seqs = found.seqs
    if not seqs or _is_known(connection, request, seqs):
        submit.unlock_lane(connection, request.agent_id, woken=woken)
        return False
    mark_asked(connection, request.agent_id, seqs)
    job = submit.NewJob(
        agent_id=request.agent_id,
        id=request.job_id,
        kind=CREATE_KIND,
        source=request.source,
        first_seq=seqs[0],
        last_seq=seqs[-1],
        payload={"seqs": seqs, **({"wanted": found.filtered} if found.filtered else {})},
        traceparent=request.traceparent,
    )
    submit.insert_job(connection, job)
    return True


def _is_known(connection: Connection, request: AskStored, seqs: Sequence[int]) -> bool:
    """Tell whether this wish came before, and its job was cancelled meanwhile."""
    payload = submit.payload_of(connection, request.agent_id, request.job_id)
    if payload is None:
        return False
    if not set(seqs) <= set(payload.get("seqs", ())):
        raise ConflictError(
            "this task id was used before for something else; give every message an id of its own"
        )
    return True
