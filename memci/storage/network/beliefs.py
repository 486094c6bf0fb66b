"""Claims of memories, and which memories are superseded (R6)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from memci.domain.memory.node import NodeEvent, VersionReason
from memci.language.claims.claim import Claim, StoredClaim, find_supersessions
from memci.storage.network.node_history import append_history
from memci.storage.network.passes import position

_ADD = """
INSERT INTO claim (agent_id, node_id, subject, attribute, seq, value, ended, said_at)
SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::text[],
                         %s::text[], %s::timestamptz[])
ON CONFLICT (agent_id, node_id, subject, attribute, seq)
DO UPDATE SET value = excluded.value, ended = excluded.ended
"""
_ABOUT = """
SELECT c.subject, c.attribute, c.value, c.ended, c.node_id, c.seq, c.said_at
  FROM unnest(%s::text[], %s::text[]) AS asked(subject, attribute)
 CROSS JOIN LATERAL (
       SELECT * FROM claim WHERE agent_id = %s AND subject = asked.subject
          AND attribute = asked.attribute ORDER BY said_at DESC, seq DESC LIMIT %s) c
"""
_RECENT = """
SELECT subject, attribute, value, ended, node_id, seq, said_at FROM claim
 WHERE agent_id = %s AND seq >= %s
"""
# The number of latest claims about one attribute that are read.
_MOST = 100


def add_claims(connection: Connection, agent_id: str, claims: Sequence[StoredClaim]) -> None:
    """Write the claims of memories; of two about one attribute in one message the later wins."""
    last = {
        (stored.node_id, stored.claim.subject, stored.claim.attribute, stored.seq): stored
        for stored in claims
    }
    if last:
        each = list(last.values())
        columns = (
            [stored.node_id for stored in each],
            [stored.claim.subject for stored in each],
            [stored.claim.attribute for stored in each],
            [stored.seq for stored in each],
            [stored.claim.value for stored in each],
            [stored.claim.ended for stored in each],
            [stored.said_at for stored in each],
        )
        connection.exec_driver_sql(_ADD, (agent_id, *columns))


def claims_about(
    connection: Connection, agent_id: str, keys: Collection[tuple[str, str]]
) -> list[StoredClaim]:
    """Return the claims about these (subject, attribute)."""
    if not keys:
        return []
    subjects, attributes = zip(*keys, strict=True)
    values = (list(subjects), list(attributes), agent_id, _MOST)
    return [_stored_claim(row) for row in connection.exec_driver_sql(_ABOUT, values)]


def claims_since(connection: Connection, agent_id: str, seq: int) -> list[StoredClaim]:
    """Return the claims made in messages from ``seq`` on."""
    return [_stored_claim(row) for row in connection.exec_driver_sql(_RECENT, (agent_id, seq))]


def _stored_claim(row: Row[Any]) -> StoredClaim:
    claim = Claim(row.subject, row.attribute, row.value, row.ended, evidence="")
    return StoredClaim(claim, row.node_id, row.seq, row.said_at)


_STORE_VERSIONS = """
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


def supersede(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    *,
    by: int,
    until: datetime,
    pass_number: int,
) -> list[int]:
    """Mark memories as superseded by another since a time; return those it is new for.

    Their present text is added to their history; they decay like all others.
    """
    values = {"agent": agent_id, "nodes": list(nodes), "by": by, "until": until}
    versions = {**values, "reason": VersionReason.SUPERSEDED}
    superseded = list(connection.exec_driver_sql(_STORE_VERSIONS, versions).scalars())
    if superseded:
        connection.exec_driver_sql(_SUPERSEDE, {**values, "nodes": superseded})
        details = {node: {"by": by} for node in superseded}
        append_history(connection, agent_id, NodeEvent.SUPERSEDED, pass_number, details)
    return superseded


# Of memories of the same messages: forgotten ones leave their versions and trails.
_SUPERSEDED = """
SELECT v.replaced_by, v.until FROM node_version v
  JOIN trail t ON t.agent_id = v.agent_id AND t.node_id = v.node_id AND t.event = 'created'
 WHERE v.agent_id = %(agent)s AND v.reason = 'superseded' AND v.message_seqs = %(seqs)s::bigint[]
   AND t.details->'span' IS NOT DISTINCT FROM to_jsonb(%(span)s::bigint[])
 ORDER BY v.until, v.replaced_by LIMIT 1
"""
_UNSUPERSEDED = """
SELECT id FROM node WHERE agent_id = %s AND id = ANY(%s) AND superseded_by IS NULL ORDER BY id
"""
_BY_ANY = "SELECT id FROM node WHERE agent_id = %s AND superseded_by = ANY(%s)"
_KEYS = "SELECT DISTINCT subject, attribute FROM claim WHERE agent_id = %s AND node_id = ANY(%s)"


class Superseded(NamedTuple):
    """The memory that supersedes another, and since when."""

    by: int
    until: datetime


def supersede_older(
    connection: Connection, agent_id: str, keys: Collection[tuple[str, str]]
) -> set[int]:
    """Supersede all but the newest claims of each (subject, attribute); return the memories.

    The lane must be locked.
    """
    by_key: defaultdict[tuple[str, str], list[StoredClaim]] = defaultdict(list)
    for stored in claims_about(connection, agent_id, keys):
        by_key[stored.claim.subject, stored.claim.attribute].append(stored)
    _, pass_number = position(connection, agent_id)
    superseded: set[int] = set()
    for about in sorted(by_key):
        for each in find_supersessions(by_key[about]):
            superseded.update(
                supersede(
                    connection,
                    agent_id,
                    [each.older.node_id],
                    by=each.newer.node_id,
                    until=each.newer.said_at,
                    pass_number=pass_number,
                )
            )
    return superseded


def superseded_by_any(connection: Connection, agent_id: str, nodes: Collection[int]) -> list[int]:
    """Return the memories that any of these supersedes."""
    return list(connection.exec_driver_sql(_BY_ANY, (agent_id, list(nodes))).scalars())


def supersede_again(connection: Connection, agent_id: str, nodes: Sequence[int]) -> None:
    """Supersede those of these memories again that other memories contradict, too."""
    rows = connection.exec_driver_sql(_KEYS, (agent_id, list(nodes)))
    supersede_older(connection, agent_id, {(row.subject, row.attribute) for row in rows})


def superseded_telling(
    connection: Connection, agent_id: str, seqs: Iterable[int], span: Sequence[int] | None
) -> Superseded | None:
    """Return what first superseded a memory of the same messages; None if nothing did."""
    values = {"agent": agent_id, "seqs": list(seqs), "span": None if span is None else list(span)}
    row = connection.exec_driver_sql(_SUPERSEDED, values).first()
    return None if row is None else Superseded(*row)


def unsuperseded(connection: Connection, agent_id: str, nodes: Sequence[int]) -> list[int]:
    """Return the nodes that are not superseded."""
    return list(connection.exec_driver_sql(_UNSUPERSEDED, (agent_id, list(nodes))).scalars())
