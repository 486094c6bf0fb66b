"""Tombstones: which messages must not come back, whatever brings them (M25).

The database itself refuses a message with a tombstone, whoever inserts it. Who wants to say which
one it was, or to leave it out beforehand (a rebuild, an import), asks ``erased_among``.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from sqlalchemy import Connection

_AMONG = """
SELECT digest FROM erased_message WHERE agent_id = %s AND digest = ANY(%s)
"""


def digest_of(message_id: str) -> bytes:
    """Return what is kept of a message id: its SHA-256, the same on every server."""
    return sha256(message_id.encode()).digest()


def erased_among(connection: Connection, agent_id: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of these message ids that were erased and are refused for good."""
    by_digest = {digest_of(each): each for each in ids}
    found = connection.exec_driver_sql(_AMONG, (agent_id, list(by_digest)))
    return frozenset(by_digest[bytes(row.digest)] for row in found)
