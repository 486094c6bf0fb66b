"""Memories that another took the place of: merged (R5) or superseded (R6), as they were then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection

from memci.domain.memory.consolidation import ShortMemory, joined_links
from memci.domain.memory.link import Link
from memci.storage.links import add_links
from memci.storage.trail import TrailEvent, append_trail

_KEEP = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs, session_id, user_id, said_at, until)
SELECT n.agent_id, n.id, %(by)s, %(reason)s, n.content, n.phrase, n.keywords, n.language, n.type,
       n.message_seqs, n.session_id, n.user_id, n.said_at, %(until)s
  FROM node n WHERE n.agent_id = %(agent)s AND n.id = ANY(%(nodes)s)
ON CONFLICT (agent_id, node_id, replaced_by) DO NOTHING
RETURNING node_id
"""
_NEXT_ID = """
UPDATE lane SET last_node_id = last_node_id + 1 WHERE agent_id = %s RETURNING last_node_id
"""
# The one whose text stays keeps its row, and with it its slot (M19), under a new id. It was born
# during the pass under way, and waits for the next (M18).
_BECOME = """
UPDATE node SET id = %(new)s, keywords = %(keywords)s, original_length = %(length)s,
                worth = %(worth)s, message_seqs = %(seqs)s, said_at = %(said_at)s,
                expires_at = %(expires_at)s, scan_count = %(scans)s, last_pass = %(pass)s,
                compared = true, attempts = 0, retry_at = NULL, created_at = now()
WHERE agent_id = %(agent)s AND id = %(teller)s
"""
_MOVE = (
    "UPDATE node_vector SET node_id = %(new)s WHERE agent_id = %(agent)s AND node_id = %(teller)s",
    "UPDATE node_term SET node_id = %(new)s WHERE agent_id = %(agent)s AND node_id = %(teller)s",
    """
    INSERT INTO claim (agent_id, node_id, subject, attribute, seq, value, ended, said_at)
    SELECT agent_id, %(new)s, subject, attribute, seq, value, ended, said_at FROM claim
     WHERE agent_id = %(agent)s AND node_id = ANY(%(group)s)
    ON CONFLICT DO NOTHING
    """,
    "DELETE FROM claim WHERE agent_id = %(agent)s AND node_id = ANY(%(group)s)",
    "DELETE FROM node_vector WHERE agent_id = %(agent)s AND node_id = ANY(%(group)s)",
    "DELETE FROM node_term WHERE agent_id = %(agent)s AND node_id = ANY(%(group)s)",
    "DELETE FROM node WHERE agent_id = %(agent)s AND id = ANY(%(group)s)",
    # What one of them superseded is superseded by the one that stands for it.
    """
    UPDATE node SET superseded_by = %(new)s
     WHERE agent_id = %(agent)s AND superseded_by = ANY(%(group)s)
       AND id IN (SELECT node_id FROM node_version
                   WHERE agent_id = %(agent)s AND replaced_by = ANY(%(group)s))
    """,
)
_LINKS = """
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND source = ANY(%(nodes)s)
 UNION
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)
"""
_UNLINK = (
    "DELETE FROM link WHERE agent_id = %(agent)s AND source = ANY(%(nodes)s)",
    "DELETE FROM link WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)",
)
_SUPERSEDE = """
UPDATE node SET superseded_by = %(by)s, superseded_at = least(superseded_at, %(until)s)
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
"""


class Reason(StrEnum):
    """Why another memory took the place."""

    MERGED = "merged"
    SUPERSEDED = "superseded"


def links_at(connection: Connection, agent_id: str, nodes: Sequence[int]) -> list[Link]:
    """Return all links from and to some nodes."""
    rows = connection.exec_driver_sql(_LINKS, {"agent": agent_id, "nodes": list(nodes)})
    return [Link(*row) for row in rows]


def new_node_id(connection: Connection, agent_id: str) -> int:
    """Return an id that no node had before (M1); the lane must be locked."""
    return int(connection.exec_driver_sql(_NEXT_ID, (agent_id,)).scalar_one())


def merge(
    connection: Connection,
    agent_id: str,
    group: Sequence[int],
    whole: ShortMemory,
    teller: int,
    pass_number: int,
) -> None:
    """Put one memory in the place of a group; ``teller`` is the one whose text it has.

    Every link at one of them is a link at the new one. The lane must be locked.
    """
    nodes = {"agent": agent_id, "nodes": list(group)}
    _keep(connection, agent_id, group, by=whole.id, reason=Reason.MERGED, until=None)
    links = joined_links(links_at(connection, agent_id, group), group, whole.id)
    for statement in _UNLINK:
        connection.exec_driver_sql(statement, nodes)
    values = {
        "agent": agent_id,
        "group": list(group),
        "teller": teller,
        "new": whole.id,
        "keywords": list(whole.keywords),
        "length": whole.original_length,
        "worth": whole.worth,
        "seqs": list(whole.seqs),
        "said_at": whole.said_at,
        "expires_at": whole.expires_at,
        "scans": whole.scan_count,
        "pass": pass_number,
    }
    for statement in (_BECOME, *_MOVE):
        connection.exec_driver_sql(statement, values)
    add_links(connection, agent_id, links)
    merged = {node: {"into": whole.id} for node in group}
    append_trail(connection, agent_id, TrailEvent.MERGED, pass_number, merged)


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
    kept = _keep(connection, agent_id, nodes, by=by, reason=Reason.SUPERSEDED, until=until)
    if kept:
        values = {"agent": agent_id, "nodes": kept, "by": by, "until": until}
        connection.exec_driver_sql(_SUPERSEDE, values)
        details = {node: {"by": by} for node in kept}
        append_trail(connection, agent_id, TrailEvent.SUPERSEDED, pass_number, details)
    return kept


def _keep(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    *,
    by: int,
    reason: Reason,
    until: datetime | None,
) -> list[int]:
    values = {"agent": agent_id, "nodes": list(nodes), "by": by, "reason": reason, "until": until}
    return list(connection.exec_driver_sql(_KEEP, values).scalars())
