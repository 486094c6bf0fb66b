"""Tombstones: which messages must not come back, whatever brings them (M25).

The database itself refuses a message with a tombstone, whoever inserts it. Who wants to say which
one it was, or to leave it out beforehand (a rebuild, an import), asks ``erased_among``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256

from sqlalchemy import Connection

_AMONG = """
SELECT digest FROM erased_message WHERE agent_id = %s AND digest = ANY(%s)
"""
_ALL = "SELECT digest FROM erased_message WHERE agent_id = %s ORDER BY digest"
_ADD = """
INSERT INTO erased_message (agent_id, digest) SELECT %s, unnest(%s::bytea[])
ON CONFLICT DO NOTHING
"""


def digest_of(message_id: str) -> bytes:
    """Return what is kept of a message id: its SHA-256, the same on every server."""
    return sha256(message_id.encode()).digest()


def erased_among(connection: Connection, agent_id: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of these message ids that were erased and are refused for good."""
    by_digest = {digest_of(each): each for each in ids}
    found = connection.exec_driver_sql(_AMONG, (agent_id, list(by_digest)))
    return frozenset(by_digest[bytes(row.digest)] for row in found)


def tombstones_of(connection: Connection, agent_id: str) -> list[bytes]:
    """Return all tombstones of an agent, as ``add_tombstones`` takes them on another server."""
    return [bytes(row.digest) for row in connection.exec_driver_sql(_ALL, (agent_id,))]


def add_tombstones(connection: Connection, agent_id: str, digests: Sequence[bytes]) -> int:
    """Refuse these messages from now on; return how many were not refused before.

    Messages of these ids that are stored stay as they are: erase them.
    """
    return connection.exec_driver_sql(_ADD, (agent_id, list(digests))).rowcount
