"""The right to work for one agent: a fence and a nonce, checked in every effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from memci.errors import FencedOffError
from memci.storage.session import Database

_LOCK = "SELECT FROM lane WHERE agent_id = %s AND fence = %s AND lease_owner = %s FOR UPDATE"
_HELD = "SELECT fence, lease_owner FROM lane WHERE agent_id = %s AND lease_owner IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Lease:
    """Held by one worker thread; lost when another claims the lane after it ran out.

    The nonce makes the fence safe although claims do not wait for the disk: after a crash of
    the database two claims may get the same fence, but never the same nonce.
    """

    database: Database
    agent_id: str
    fence: int
    nonce: UUID

    @contextmanager
    def effect(self, *, durable: bool = True) -> Iterator[Connection]:
        """Open a transaction of this agent with its lane locked.

        Raises ``FencedOffError``, with nothing written, when the lease is lost.
        """
        with self.database.agent_transaction(self.agent_id, durable=durable) as connection:
            held = connection.exec_driver_sql(_LOCK, (self.agent_id, self.fence, self.nonce))
            if held.first() is None:
                raise FencedOffError
            yield connection


def held_lease(connection: Connection, database: Database, agent_id: str) -> Lease:
    """Return the lease under which the agent's lane is held right now, on doors of one's own.

    For jobs, which run under it. Raises ``FencedOffError`` when nobody holds the lane.
    """
    row = connection.exec_driver_sql(_HELD, (agent_id,)).first()
    if row is None:
        raise FencedOffError
    return Lease(database, agent_id, row.fence, row.lease_owner)
