"""Memories that say the same become one (R5), as many at once as there are, in few statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.consolidation import Merge, joined_links
from memci.domain.memory.link import Link
from memci.domain.offset import offset_of
from memci.storage.links import add_links
from memci.storage.trail import TrailEvent, append_trail
from memci.storage.versions import Reason

_NEXT_IDS = """
UPDATE lane SET last_node_id = last_node_id + %s WHERE agent_id = %s RETURNING last_node_id
"""
_LINKS = """
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND source = ANY(%(nodes)s)
 UNION
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)
"""
# Which memory takes the place of which. Those whose text stays keep their rows, and with them
# their slots (M19), under new ids; they were born during the pass under way, and wait for the
# next (M18). Rows travel as JSON where they hold lists, which arrays of arrays cannot.
_STATEMENTS = (
    """
    INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                              language, type, message_seqs, session_id, user_id, said_at,
                              said_offset)
    SELECT n.agent_id, n.id, merged.new, %(reason)s, n.content, n.phrase, n.keywords, n.language,
           n.type, n.message_seqs, n.session_id, n.user_id, n.said_at, n.said_offset
      FROM unnest(%(nodes)s::bigint[], %(news)s::bigint[]) AS merged(old, new)
      JOIN node n ON n.agent_id = %(agent)s AND n.id = merged.old
    ON CONFLICT (agent_id, node_id, replaced_by) DO NOTHING
    """,
    "DELETE FROM link WHERE agent_id = %(agent)s AND source = ANY(%(nodes)s)",
    "DELETE FROM link WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)",
    """
    UPDATE node SET id = whole.new, keywords = whole.keywords, original_length = whole.length,
                    worth = whole.worth, message_seqs = whole.seqs, said_at = whole.said_at,
                    said_offset = whole.said_offset,
                    expires_at = whole.expires_at, scan_count = whole.scans,
                    last_pass = %(pass)s, compared = true, attempts = 0, retry_at = NULL,
                    created_at = now()
      FROM jsonb_to_recordset(%(wholes)s) AS whole(
           new bigint, teller bigint, keywords text[], length integer, worth float8,
           seqs bigint[], said_at timestamptz, said_offset smallint, expires_at timestamptz,
           scans bigint)
     WHERE node.agent_id = %(agent)s AND node.id = whole.teller
    """,
    *(
        f"""
    UPDATE {table} SET node_id = merged.new
      FROM unnest(%(tellers)s::bigint[], %(wholes_ids)s::bigint[]) AS merged(old, new)
     WHERE {table}.agent_id = %(agent)s AND {table}.node_id = merged.old
    """  # noqa: S608 - names of this module
        for table in ("node_vector", "node_term")
    ),
    """
    INSERT INTO claim (agent_id, node_id, subject, attribute, seq, value, ended, said_at)
    SELECT c.agent_id, merged.new, c.subject, c.attribute, c.seq, c.value, c.ended, c.said_at
      FROM unnest(%(nodes)s::bigint[], %(news)s::bigint[]) AS merged(old, new)
      JOIN claim c ON c.agent_id = %(agent)s AND c.node_id = merged.old
     ORDER BY c.node_id
    ON CONFLICT DO NOTHING
    """,
    "DELETE FROM claim WHERE agent_id = %(agent)s AND node_id = ANY(%(nodes)s)",
    "DELETE FROM node_vector WHERE agent_id = %(agent)s AND node_id = ANY(%(nodes)s)",
    "DELETE FROM node_term WHERE agent_id = %(agent)s AND node_id = ANY(%(nodes)s)",
    "DELETE FROM node WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)",
    # What one of them superseded is superseded by the one that stands for it.
    """
    UPDATE node SET superseded_by = merged.new
      FROM unnest(%(nodes)s::bigint[], %(news)s::bigint[]) AS merged(old, new)
     WHERE node.agent_id = %(agent)s AND node.superseded_by = merged.old
       AND node.id IN (SELECT node_id FROM node_version
                        WHERE agent_id = %(agent)s AND replaced_by = ANY(%(nodes)s))
    """,
)


def links_at(connection: Connection, agent_id: str, nodes: Collection[int]) -> list[Link]:
    """Return all links from and to some nodes."""
    rows = connection.exec_driver_sql(_LINKS, {"agent": agent_id, "nodes": list(nodes)})
    return [Link(*row) for row in rows]


def new_node_ids(connection: Connection, agent_id: str, count: int) -> range:
    """Return ids that no node had before (M1); the lane must be locked."""
    last = int(connection.exec_driver_sql(_NEXT_IDS, (count, agent_id)).scalar_one())
    return range(last - count + 1, last + 1)


def write_merges(
    connection: Connection,
    agent_id: str,
    merges: Sequence[Merge],
    links: Sequence[Link],
    pass_number: int,
    job: str,
) -> None:
    """Put one memory in the place of each group; no memory is in two. The lane must be locked.

    ``links``: all those that the merged ones had; every link at one of them is a link at the new
    one.
    """
    if not merges:
        return
    values = _values(agent_id, merges, pass_number)
    for statement in _STATEMENTS:
        connection.exec_driver_sql(statement, values)
    merged_into = {node: each.whole.id for each in merges for node in each.group}
    theirs = [each for each in links if merged_into.keys() & {each.source, each.target}]
    add_links(connection, agent_id, joined_links(theirs, merged_into))
    gone = {node: {"into": new} for node, new in merged_into.items()}
    append_trail(connection, agent_id, TrailEvent.MERGED, pass_number, gone)
    made = {each.whole.id: {"job": job, **each.details()} for each in merges}
    append_trail(connection, agent_id, TrailEvent.CREATED, pass_number, made)


def _values(agent_id: str, merges: Sequence[Merge], pass_number: int) -> Mapping[str, object]:
    pairs = [(node, each.whole.id) for each in merges for node in each.group]
    return {
        "agent": agent_id,
        "nodes": [old for old, _ in pairs],
        "news": [new for _, new in pairs],
        "tellers": [each.teller for each in merges],
        "wholes_ids": [each.whole.id for each in merges],
        "wholes": Jsonb([_row(each) for each in merges]),
        "pass": pass_number,
        "reason": Reason.MERGED,
    }


def _row(merge: Merge) -> dict[str, object]:
    whole = merge.whole
    return {
        "new": whole.id,
        "teller": merge.teller,
        "keywords": whole.keywords,
        "length": whole.original_length,
        "worth": whole.worth,
        "seqs": whole.seqs,
        "said_at": whole.said_at.isoformat() if whole.said_at else None,
        "said_offset": offset_of(whole.said_at) if whole.said_at else None,
        "expires_at": whole.expires_at.isoformat() if whole.expires_at else None,
        "scans": whole.scan_count,
    }
