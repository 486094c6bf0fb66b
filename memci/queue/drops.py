"""Links that a recall has reported as dangling go by a job of their agent (M15)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.storage.erasure.gone import IS_THERE

DROP_KIND = "memci.link.drop"

# Who notes reads waits for nobody: the lane may be in a long effect.
_EXISTS = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE}"
_LOCK = f"{_EXISTS} FOR NO KEY UPDATE SKIP LOCKED"
# An agent that is asked the same again and again gets one job, however long its lane stands still.
_SUBMIT = """
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, %(kind)s, %(payload)s::jsonb, %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = %(kind)s
       AND payload @> %(payload)s::jsonb)
"""


def submit_drop(connection: Connection, agent_id: str, targets: Iterable[int]) -> bool:
    """Queue the removal of links to these forgotten nodes, unless a job for it waits already.

    False, and nothing is queued, while somebody else has the lane locked. It stays locked until
    the transaction ends, and the agent's queued jobs are looked through: let nothing else wait in
    this transaction. Publishes no token: nothing hurries, and the sweeper sees what waits.
    """
    if connection.exec_driver_sql(_LOCK, (agent_id,)).first() is None:
        # An agent that was erased meanwhile has no links, and gets no work (M25).
        return connection.exec_driver_sql(_EXISTS, (agent_id,)).first() is None
    values = {
        "agent": agent_id,
        "id": uuid4(),
        "kind": DROP_KIND,
        "payload": json.dumps({"targets": sorted(targets)}),
        "source": JobSource.READ,
    }
    connection.exec_driver_sql(_SUBMIT, values)
    return True
