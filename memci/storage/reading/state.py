"""How far an agent's memory is, and how it is set."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.storage.erasure.gone import IS_THERE

_PROGRESS = f"""
SELECT l.message_seq, NOT ({IS_THERE}),
       (SELECT min(j.first_seq) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'queued' AND j.first_seq IS NOT NULL)
  FROM lane l WHERE l.agent_id = %s
"""  # noqa: S608 - a constant of this module
# A lane that its worker holds is left for the next time: a read never waits for a write.
_TOUCH = """
UPDATE lane SET read_at = now(), receipts_from = coalesce(receipts_from, now())
WHERE agent_id IN (
    SELECT agent_id FROM lane WHERE agent_id = ANY(%s) ORDER BY agent_id
       FOR NO KEY UPDATE SKIP LOCKED)
RETURNING agent_id
"""
_KNOWN = "SELECT agent_id FROM lane WHERE agent_id = ANY(%s)"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an agent's memory is.

    ``seq``: memory has caught up with it (R18); ``message_seq``: the agent's last message;
    ``new_agent``: there is no such agent, or not yet.
    """

    seq: int
    message_seq: int
    new_agent: bool = False

    @property
    def pending(self) -> int:
        """Messages on their way to memory."""
        return self.message_seq - self.seq


def progress(connection: Connection, agent_id: str) -> Progress:
    """Return how far memory has caught up; an agent without messages is at 0."""
    row = connection.exec_driver_sql(_PROGRESS, (agent_id,)).first()
    if row is None:
        return Progress(0, 0, new_agent=True)
    message_seq, new_agent, first_queued = row
    seq = message_seq if first_queued is None else first_queued - 1
    return Progress(seq, message_seq, new_agent)


def touch_read(connection: Connection, agent_ids: Collection[str]) -> set[str]:
    """Note that these agents were read now (M16); return those whose lane was busy.

    What they were read for may have left a receipt. The lanes of the others are locked until the
    transaction ends, so let it end at once.
    """
    ids = list(agent_ids)
    touched = {row[0] for row in connection.exec_driver_sql(_TOUCH, (ids,))}
    missed = [each for each in ids if each not in touched]
    if not missed:
        return set()
    return {row[0] for row in connection.exec_driver_sql(_KNOWN, (missed,))}
