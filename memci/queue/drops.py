"""Links that a recall has reported as dangling go by a job of their agent (M15)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource

DROP_KIND = "memci.link.drop"

# An agent that is asked the same again and again gets one job, however long its lane stands still.
_SUBMIT = """
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT %(agent)s, %(id)s, %(kind)s, %(payload)s::jsonb, %(source)s
WHERE NOT EXISTS (
    SELECT FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = %(kind)s
       AND payload @> %(payload)s::jsonb)
"""


def submit_drop(connection: Connection, agent_id: str, targets: Iterable[int]) -> None:
    """Queue the removal of links to these forgotten nodes, unless a job for it waits already.

    The caller has locked the lane. It publishes no token: nothing hurries, and the sweeper sees
    what waits.
    """
    values = {
        "agent": agent_id,
        "id": uuid4(),
        "kind": DROP_KIND,
        "payload": json.dumps({"targets": sorted(targets)}),
        "source": JobSource.READ,
    }
    connection.exec_driver_sql(_SUBMIT, values)
