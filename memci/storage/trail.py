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

    CREATED = "created"  # job, messages, and what of them (memory/passage.py) or kind, of an
    # entity; from: the memories that were merged into it
    COMPRESSED = "compressed"  # from, to: characters
    FORGOTTEN = "forgotten"  # reason; tier: as it was at the end
    RESTORED = "restored"  # as: of the forgotten node, the new one; of: the other way round
    MERGED = "merged"  # into: the memory that stands for it and others
    PROMOTED = "promoted"  # reason: what spoke for it at the end of its short term
    SETTLED = "settled"  # its short term is over, and nothing spoke for it
    SUPERSEDED = "superseded"  # by: the memory that says otherwise
    USED = "used"  # receipts, times
    ERASED = "erased"


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
