"""Use events: which memories were given to their agent, by which receipts (R11, M27)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from sqlalchemy import Connection

from memci.storage.erasure.barrier import stored_among, try_beside
from memci.storage.reading.receipts import NewReceipt, write_receipts
from memci.storage.trail import TrailEvent, append_trail

_LIVING = """
SELECT id, (SELECT pass_number FROM lane WHERE lane.agent_id = node.agent_id) AS pass_number
FROM node WHERE agent_id = %s AND id = ANY(%s)
"""
# Of more uses at once a trail tells the number alone.
_MOST_NAMED = 8


def append_uses(
    connection: Connection,
    agent_id: str,
    receipts: Iterable[NewReceipt],
    written: Collection[UUID],
) -> bool:
    """Note on the trails of memories that these receipts gave them; one event a memory.

    Receipts that are not among the ``written`` are kept now. One that speaks of a message that was
    erased in the meantime is passed over. False, and nothing is noted, while something of the
    agent is being erased: whoever writes for many agents waits for none.
    """
    if not try_beside(connection, agent_id):
        return False
    kept = [(each, each.given) for each in receipts if each.given is not None]
    stored = stored_among(connection, agent_id, {seq for _, given in kept for seq in given.seqs})
    kept = [(each, given) for each, given in kept if given.seqs <= stored]
    new = [each for each, _ in kept if each.id not in written]
    write_receipts(connection, agent_id, new)
    used: dict[int, list[str]] = {}
    for receipt, given in kept:
        for node in given.nodes:
            used.setdefault(node, []).append(str(receipt.id))
    if not used:
        return True
    living = connection.exec_driver_sql(_LIVING, (agent_id, list(used))).all()
    details = {
        row.id: {"receipts": used[row.id][-_MOST_NAMED:], "times": len(used[row.id])}
        for row in living
    }
    if living:
        append_trail(connection, agent_id, TrailEvent.USED, living[0].pass_number or 0, details)
    return True
