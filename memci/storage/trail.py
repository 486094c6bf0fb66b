"""The trail of each node: what happened to it, in ids and numbers, append-only (M27)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

_APPEND = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT %s, id, %s, %s, details FROM unnest(%s::bigint[], %s::jsonb[]) AS new(id, details)
ORDER BY id
"""


class TrailEvent(StrEnum):
    """What can happen to a node."""

    CREATED = "created"  # job, messages, and span (memory/span.py) or kind, of an entity
    COMPRESSED = "compressed"  # from, to: characters
    FORGOTTEN = "forgotten"  # reason
    RESTORED = "restored"  # as: of the forgotten node, the new one; of: the other way round


def append_trail(
    connection: Connection,
    agent_id: str,
    event: TrailEvent,
    pass_number: int,
    details: Mapping[int, Mapping[str, Any]],
) -> None:
    """Note that ``event`` happened to nodes; ``details`` by node id, without text."""
    if details:
        connection.exec_driver_sql(
            _APPEND,
            (agent_id, event, pass_number, list(details), list(map(Jsonb, details.values()))),
        )
