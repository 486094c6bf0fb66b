"""What living memories claim (R6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.memory.claim import Claim, Held

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
# Claims about one attribute that are looked at: the latest.
_MOST = 100


def add_claims(connection: Connection, agent_id: str, claims: Sequence[Held]) -> None:
    """Write what memories claim; of two about one attribute in one message the later stays."""
    last = {
        (held.node_id, held.claim.subject, held.claim.attribute, held.seq): held for held in claims
    }
    if last:
        each = list(last.values())
        columns = (
            [held.node_id for held in each],
            [held.claim.subject for held in each],
            [held.claim.attribute for held in each],
            [held.seq for held in each],
            [held.claim.value for held in each],
            [held.claim.ended for held in each],
            [held.said_at for held in each],
        )
        connection.exec_driver_sql(_ADD, (agent_id, *columns))


def claims_about(
    connection: Connection, agent_id: str, keys: Collection[tuple[str, str]]
) -> list[Held]:
    """Return the claims about these (subject, attribute)."""
    if not keys:
        return []
    subjects, attributes = zip(*keys, strict=True)
    values = (list(subjects), list(attributes), agent_id, _MOST)
    return [_held(row) for row in connection.exec_driver_sql(_ABOUT, values)]


def claims_since(connection: Connection, agent_id: str, seq: int) -> list[Held]:
    """Return the claims that were made in messages from ``seq`` on."""
    return [_held(row) for row in connection.exec_driver_sql(_RECENT, (agent_id, seq))]


def _held(row: Row[Any]) -> Held:
    claim = Claim(row.subject, row.attribute, row.value, row.ended, evidence="")
    return Held(claim, row.node_id, row.seq, row.said_at)
