"""Taking a lane from whoever holds it: what people order comes before what workers do (M25)."""

from __future__ import annotations

from uuid import uuid4

from memci.domain.agent import no_agent
from memci.queue import mailbox
from memci.queue.lease import Lease
from memci.storage.erasure.gone import IS_THERE
from memci.storage.session import Database

# Long enough to go on; whoever dies in it keeps the lane from workers for so long.
_LEASE_S = 30
_LOCK = "SELECT FROM lane WHERE agent_id = %s FOR UPDATE"
_SEIZE = f"""
UPDATE lane SET fence = fence + 1, lease_owner = %s, lease_until = now() + %s * interval '1 second'
WHERE agent_id = %s AND {IS_THERE} RETURNING fence
"""  # noqa: S608 - a constant of this module
_PLANT = "INSERT INTO lane (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_SEIZE_ANY = _SEIZE.replace(IS_THERE, "true")


def seize(database: Database, agent_id: str, *, there: bool = True) -> Lease:
    """Return a lease, paused lane or not; the one who had it is fenced off and writes nothing more.

    What it was at is done anew, and the start of it does not count: it may think on for long before
    it learns of this, and any number of orders may come meanwhile. Raises ``NotFoundError`` for no
    agent, unless it need not be ``there``: the lane of what is left of one is then made, where it
    has none.
    """
    nonce = uuid4()
    with database.lane_transaction() as connection:
        if not there:
            connection.exec_driver_sql(_PLANT, (agent_id,))
        connection.exec_driver_sql(_LOCK, (agent_id,))
        mailbox.unbegin_current(connection, agent_id)
        statement = _SEIZE if there else _SEIZE_ANY
        row = connection.exec_driver_sql(statement, (nonce, _LEASE_S, agent_id)).first()
    if row is None:
        raise no_agent(agent_id)
    return Lease(database, agent_id, row.fence, nonce)
