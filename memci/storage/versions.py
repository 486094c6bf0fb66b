"""Memories that another took the place of: merged (R5) or superseded (R6), as they were then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection

from memci.storage.trail import TrailEvent, append_trail

_KEEP = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs, session_id, user_id, said_at, until,
                          said_offset)
SELECT n.agent_id, n.id, %(by)s, %(reason)s, n.content, n.phrase, n.keywords, n.language, n.type,
       n.message_seqs, n.session_id, n.user_id, n.said_at, %(until)s, n.said_offset
  FROM node n WHERE n.agent_id = %(agent)s AND n.id = ANY(%(nodes)s)
ON CONFLICT (agent_id, node_id, replaced_by) DO NOTHING
RETURNING node_id
"""
_SUPERSEDE = """
UPDATE node SET superseded_by = %(by)s, superseded_at = least(superseded_at, %(until)s)
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
"""


class Reason(StrEnum):
    """Why another memory took the place."""

    MERGED = "merged"
    SUPERSEDED = "superseded"


def supersede(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    *,
    by: int,
    until: datetime,
    pass_number: int,
) -> list[int]:
    """Note that another memory says otherwise since then; return those it is new for.

    Their text stays under history as it is now; they themselves decay as all others.
    """
    kept = _keep(connection, agent_id, nodes, by=by, until=until)
    if kept:
        values = {"agent": agent_id, "nodes": kept, "by": by, "until": until}
        connection.exec_driver_sql(_SUPERSEDE, values)
        details = {node: {"by": by} for node in kept}
        append_trail(connection, agent_id, TrailEvent.SUPERSEDED, pass_number, details)
    return kept


def _keep(
    connection: Connection, agent_id: str, nodes: Sequence[int], *, by: int, until: datetime
) -> list[int]:
    reason = Reason.SUPERSEDED
    values = {"agent": agent_id, "nodes": list(nodes), "by": by, "reason": reason, "until": until}
    return list(connection.exec_driver_sql(_KEEP, values).scalars())
