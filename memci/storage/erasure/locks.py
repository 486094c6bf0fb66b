"""Between reads that leave a receipt and erasures: each sees all of the other, or nothing (M25).

A context that was assembled just before an erasure leaves its receipt just after it; and an
erasure does not see a receipt that is being written. So both pass here, in the transaction in
which they write, before they look. Reads do not wait for each other, nor for the lane.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from memci.storage.session import rows

_KEY = "hashtextextended(%s, 25)"
_BESIDE = f"SELECT pg_advisory_xact_lock_shared({_KEY})"
_TRY_BESIDE = f"SELECT pg_try_advisory_xact_lock_shared({_KEY})"
_TRY_ALL = """
SELECT agent_id, pg_try_advisory_xact_lock_shared(hashtextextended(agent_id, 25))
FROM unnest(%s::text[]) AS wanted(agent_id)
"""
_ALONE = f"SELECT pg_advisory_xact_lock({_KEY})"
_STORED = "SELECT seq FROM message WHERE agent_id = %s AND seq = ANY(%s)"


def stand_beside(connection: Connection, agent_id: str) -> None:
    """Wait for an erasure of this agent that is under way; none begins before this commits."""
    rows(connection, _BESIDE, (agent_id,))


def try_beside(connection: Connection, agent_id: str) -> bool:
    """Do so without waiting: False while an erasure is under way, or waits to begin."""
    return bool(connection.exec_driver_sql(_TRY_BESIDE, (agent_id,)).scalar_one())


def all_beside(connection: Connection, agent_ids: Collection[str]) -> frozenset[str]:
    """Do so for many agents at once, without waiting; return those of which nothing is erased."""
    tried = connection.exec_driver_sql(_TRY_ALL, (list(agent_ids),))
    return frozenset(agent_id for agent_id, beside in tried if beside)


def stand_alone(connection: Connection, agent_id: str) -> None:
    """Wait for receipts that are being written; none is written before this commits."""
    connection.exec_driver_sql(_ALONE, (agent_id,))


def stored_among(connection: Connection, agent_id: str, seqs: Collection[int]) -> frozenset[int]:
    """Return those of these messages that were not erased."""
    return frozenset(connection.exec_driver_sql(_STORED, (agent_id, list(seqs))).scalars())
