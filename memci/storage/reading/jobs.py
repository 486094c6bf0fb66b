"""Jobs, read for lists."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

_JOB = """
SELECT ordinal, id, agent_id, kind, source, state, first_seq, last_seq, attempts, started,
       not_before, last_error AS error, result, models, created_at, started_at, finished_at
  FROM job WHERE agent_id = %(agent)s {conditions} ORDER BY ordinal LIMIT %(limit)s
"""


def list_jobs(
    connection: Connection, agent_id: str, *, state: str | None, after: int, limit: int
) -> Sequence[RowMapping]:
    """Return jobs after an ordinal, in the order of the mailbox."""
    in_state = "" if state is None else "AND state = %(state)s"
    statement = _JOB.format_map({"conditions": f"AND ordinal > %(after)s {in_state}"})
    values = {"agent": agent_id, "state": state, "after": after, "limit": limit}
    return connection.exec_driver_sql(statement, values).mappings().all()


def read_job(connection: Connection, agent_id: str, job_id: UUID) -> RowMapping | None:
    """Return one job."""
    statement = _JOB.format_map({"conditions": "AND id = %(id)s"})
    values = {"agent": agent_id, "id": job_id, "limit": 1}
    return connection.exec_driver_sql(statement, values).mappings().first()
