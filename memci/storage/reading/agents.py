"""Agents: who there is, and what one holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from memci.storage.erasure.gone import IS_THERE

# All dead jobs are few and have an index; those of one agent would be sought among its done ones.
_LIST = f"""
SELECT l.agent_id, l.message_seq - l.erased_messages AS messages, l.paused, l.written_at,
       l.compress_req > l.compress_done AS compress_pending,
       (SELECT count(*) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'queued') AS queued,
       coalesce(d.jobs, 0) AS dead
  FROM lane l
  LEFT JOIN (SELECT agent_id, count(*) AS jobs FROM job
              WHERE state = 'dead' GROUP BY agent_id) d USING (agent_id)
 WHERE l.agent_id > %(after)s AND l.agent_id LIKE ANY (%(like)s)
   AND NOT starts_with(l.agent_id, 'collection/')
   AND {IS_THERE}
 ORDER BY l.agent_id LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
_LANE = f"""
SELECT l.message_seq, l.fence, l.paused, l.halted_by, l.compress_req > l.compress_done AS compress,
       CASE WHEN l.lease_owner IS NOT NULL AND l.lease_until > now() THEN l.lease_until END
            AS lease_until,
       (l.compress_cursor->>'pass')::bigint AS pass_number,
       (SELECT count(*) FROM pass_log p
         WHERE p.agent_id = l.agent_id AND p.finished_at IS NOT NULL) AS passes,
       (SELECT count(*) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'queued') AS queued,
       (SELECT count(*) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'dead') AS dead,
       (SELECT count(*) FROM message m WHERE m.agent_id = l.agent_id) AS messages,
       (SELECT count(*) FROM node n WHERE n.agent_id = l.agent_id) AS nodes,
       (SELECT count(*) FROM link k WHERE k.agent_id = l.agent_id) AS links,
       (SELECT count(*) FROM page p WHERE p.agent_id = l.agent_id
           AND (p.parent IS NOT NULL OR p.cold)) AS pages,
       l.documents,
       (SELECT count(*) FROM item i WHERE i.agent_id = l.agent_id
           AND (i.expires_at IS NULL OR i.expires_at > now())) AS items,
       (SELECT count(*) FROM checkpoint c WHERE c.agent_id = l.agent_id) AS checkpoints,
       (SELECT count(DISTINCT session_id) FROM summary s
         WHERE s.agent_id = l.agent_id AND s.text <> '') AS summaries,
       (SELECT count(*) FROM pin
         WHERE pin.agent_id = l.agent_id AND pin.unpinned_at IS NULL) AS pins,
       (SELECT count(*) FROM plan WHERE plan.agent_id = l.agent_id) AS plans,
       (SELECT count(*) FROM link k WHERE k.agent_id = l.agent_id AND NOT EXISTS (
               SELECT 1 FROM node n WHERE n.agent_id = k.agent_id AND n.id = k.target)) AS dangling
  FROM lane l WHERE l.agent_id = %s AND {IS_THERE}
"""  # noqa: S608 - a constant of this module
_SCANNED = """
SELECT coalesce((SELECT p.scanned FROM pass_log p WHERE p.agent_id = %(agent)s
                    AND p.number = %(number)s), 0),
       (SELECT count(*) FROM node n WHERE n.agent_id = %(agent)s AND n.last_pass < %(number)s)
"""
# As LIKE reads them: ours are * and ?, and what LIKE would read is meant as it stands.
_LIKE = str.maketrans({"*": "%", "?": "_", "%": "\\%", "_": "\\_", "\\": "\\\\"})


@dataclass(frozen=True, slots=True)
class PassUnderWay:
    """Nodes that the pass has scanned, and that it has still to scan."""

    number: int
    scanned: int
    left: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """What one agent holds, and what is still to do for it. ``lease_until``: a worker is at it."""

    message_seq: int
    fence: int
    paused: bool
    halted_by: Any
    compress: bool
    lease_until: datetime | None
    pass_number: int | None
    passes: int
    queued: int
    dead: int
    messages: int
    nodes: int
    links: int
    dangling: int
    pages: int
    documents: int
    items: int
    checkpoints: int
    summaries: int
    pins: int
    plans: int


def list_agents(
    connection: Connection, *, pattern: str, after: str, limit: int
) -> list[RowMapping]:
    """Return lines of agents whose ids match a pattern of * and ?, after one id.

    There may be several, with commas between.
    """
    values = {"after": after, "like": pattern.translate(_LIKE).split(","), "limit": limit}
    return list(connection.exec_driver_sql(_LIST, values).mappings())


def holdings(connection: Connection, agent_id: str) -> Holdings | None:
    """Return what an agent holds; None for one that is not there."""
    row = connection.exec_driver_sql(_LANE, (agent_id,)).mappings().first()
    return Holdings(**row) if row else None


def pass_under_way(connection: Connection, agent_id: str, number: int) -> PassUnderWay:
    """Return how far a pass is."""
    scanned, left = connection.exec_driver_sql(
        _SCANNED, {"agent": agent_id, "number": number}
    ).one()
    return PassUnderWay(number, scanned, left)
