"""Taking a lane from whoever holds it: what people order comes before what workers do (M25)."""

from __future__ import annotations

from uuid import uuid4

from memci.domain.agent import no_agent
from memci.queue.lease import Lease
from memci.storage.erasure.gone import IS_THERE
from memci.storage.session import Database

# Long enough to go on; whoever dies in it keeps the lane from workers for so long.
_LEASE_S = 30
_SEIZE = f"""
UPDATE lane SET fence = fence + 1, lease_owner = %s, lease_until = now() + %s * interval '1 second'
WHERE agent_id = %s AND {IS_THERE} RETURNING fence
"""  # noqa: S608 - a constant of this module


def seize(database: Database, agent_id: str) -> Lease:
    """Return a lease, paused lane or not; the one who had it is fenced off and writes nothing more.

    What it was at is done anew, as after its death. Raises ``NotFoundError`` for no agent.
    """
    nonce = uuid4()
    with database.lane_transaction() as connection:
        row = connection.exec_driver_sql(_SEIZE, (nonce, _LEASE_S, agent_id)).first()
    if row is None:
        raise no_agent(agent_id)
    return Lease(database, agent_id, row.fence, nonce)
