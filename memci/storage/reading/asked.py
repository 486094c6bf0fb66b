"""What an agent asked for contexts with, as far as its messages and receipts still tell.

Receipts keep a hash of the question and no text; but most questions are then stored as what the
user said, and that has the same hash.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection

# Each text once, however often it was said.
_ASKED = """
WITH said AS MATERIALIZED (
    SELECT DISTINCT content, encode(sha256(convert_to(content, 'UTF8')), 'hex') AS digest
      FROM message WHERE agent_id = %(agent)s AND role = 'user' AND content <> '')
SELECT r.id, said.content, (r.body->>'budget_tokens')::bigint, r.session_id,
       r.created_at
  FROM receipt r JOIN said ON said.digest = r.body->>'query_sha256'
 WHERE r.agent_id = %(agent)s AND r.kind = 'context'
 ORDER BY r.created_at DESC, r.id LIMIT %(most)s
"""


class Asked(NamedTuple):
    """A question, the receipt of the context that was given, and when."""

    receipt_id: UUID
    query: str
    budget_tokens: int
    session_id: str | None
    asked_at: datetime


def last_asked(connection: Connection, agent_id: str, most: int) -> list[Asked]:
    """Return the latest questions whose text is known, at most so many, the oldest first."""
    rows = connection.exec_driver_sql(_ASKED, {"agent": agent_id, "most": most})
    return [Asked(*row) for row in rows][::-1]
