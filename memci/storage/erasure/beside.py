"""What goes with messages beside memories and pages, in numbers (M25)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from memci.storage.erasure.condemned import Condemned
from memci.storage.erasure.registry import OF_THREAD, PINNED_OF_MESSAGES, STEPS_OF_MESSAGES
from memci.storage.summaries import losing_summaries

_COUNT = f"""
SELECT (SELECT count(*) FROM pin WHERE agent_id = %(agent)s AND unpinned_at IS NULL
            AND {PINNED_OF_MESSAGES}) AS pinned_sentences,
       (SELECT count(*) FROM plan_step WHERE agent_id = %(agent)s
            AND {STEPS_OF_MESSAGES}) AS plan_steps,
       (SELECT count(*) FROM checkpoint WHERE agent_id = %(agent)s AND {OF_THREAD}) AS checkpoints
"""  # noqa: S608 - constants of this package


@dataclass(frozen=True, slots=True)
class Beside:
    """How many there are.

    ``summaries``: sessions that lose theirs. ``pinned_sentences``: of these messages, shown now.
    ``checkpoints``: of the thread that has the session's name, when all of a session goes.
    """

    summaries: int
    pinned_sentences: int
    plan_steps: int
    checkpoints: int


def count_beside(connection: Connection, agent_id: str, condemned: Condemned) -> Beside:
    """Count what goes with these messages; nothing is written."""
    seqs = list(condemned.seqs)
    values = {"agent": agent_id, "seqs": seqs, "session": condemned.session_id}
    counts = connection.exec_driver_sql(_COUNT, values).mappings().one()
    return Beside(summaries=len(losing_summaries(connection, agent_id, seqs)), **counts)
