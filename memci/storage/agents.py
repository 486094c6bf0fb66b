"""Which agents exist, and the parameters that each has of its own (M1, M25)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy.engine import RowMapping

from memci.domain.agent_id import no_agent
from memci.domain.parameter_definitions import P, settings_of
from memci.storage.session import Connection, Database

# A condition on ``lane``. The lane of an erased agent stays, so that its ids are never reused; the
# next message or page creates the agent again.
IS_THERE = "NOT (epoch > 0 AND message_seq = erased_messages AND written_at IS NULL)"
# The same, for lanes that were not made by a claim or an unreadable broker message alone.
IS_AGENT = f"message_seq > 0 AND {IS_THERE}"
_FIND = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE}"


def check_there(connection: Connection, agent_id: str) -> None:
    """Raise ``NotFoundError`` if the agent does not exist."""
    if not is_there(connection, agent_id):
        raise no_agent(agent_id)


def is_there(connection: Connection, agent_id: str) -> bool:
    """Return True if the agent exists."""
    return connection.exec_driver_sql(_FIND, (agent_id,)).first() is not None


@contextmanager
def snapshot_of(database: Database, agent_id: str) -> Iterator[Connection]:
    """Open a snapshot of an agent; raises ``NotFoundError`` if it does not exist."""
    with database.agent_snapshot(agent_id) as connection:
        check_there(connection, agent_id)
        yield connection


_READ = "SELECT parameters FROM agent_setting WHERE agent_id = %s"
_WRITE = """
INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s::jsonb)
ON CONFLICT (agent_id) DO UPDATE SET parameters = excluded.parameters, changed_at = now()
"""


def own_parameters(connection: Connection, agent_id: str) -> dict[str, Any]:
    """Return the parameters that differ from the defaults; empty if none was ever set."""
    return connection.exec_driver_sql(_READ, (agent_id,)).scalar() or {}


def parameters_of(connection: Connection, agent_id: str, defaults: P) -> P:
    """Return the agent's memory parameters or page rules: its own values over the defaults."""
    return own_of(defaults, own_parameters(connection, agent_id))


def own_of(defaults: P, own: Mapping[str, Any]) -> P:
    """Return the defaults with the values in ``own`` that name one of their fields."""
    mine = settings_of(defaults).keys() & own.keys()
    return defaults.with_values({name: own[name] for name in mine}) if mine else defaults


def redaction_of(connection: Connection, agent_id: str, default: str) -> str:
    """Return what placeholders replace in an agent's messages, as its setting ``redact`` says."""
    return str(own_parameters(connection, agent_id).get("redact", default))


def replace_parameters(connection: Connection, agent_id: str, values: Mapping[str, Any]) -> None:
    """Replace all of the agent's own parameters by these."""
    connection.exec_driver_sql(_WRITE, (agent_id, json.dumps(values)))


# All dead jobs are few and have an index; for one agent all its done jobs would be read.
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
   AND (%(find)s = '' OR strpos(lower(l.agent_id), lower(%(find)s)) > 0)
   AND (NOT %(busy)s::boolean OR l.paused OR l.halted_by IS NOT NULL OR d.jobs > 0
        OR l.compress_req > l.compress_done
        OR EXISTS (SELECT FROM job j WHERE j.agent_id = l.agent_id AND j.state = 'queued'))
   AND {IS_THERE}
 ORDER BY l.agent_id LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
_LANE = f"""
SELECT l.fence, l.paused, l.halted_by, l.compress_req > l.compress_done AS compress,
       CASE WHEN l.lease_owner IS NOT NULL AND l.lease_until > now() THEN l.lease_until END
            AS lease_until,
       under_way.number AS pass_number,
       coalesce((SELECT p.scanned FROM pass_log p
                  WHERE p.agent_id = l.agent_id AND p.number = under_way.number), 0) AS scanned,
       (SELECT count(*) FROM node n
         WHERE n.agent_id = l.agent_id AND n.last_pass < under_way.number) AS unscanned,
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
  FROM lane l CROSS JOIN LATERAL (SELECT (l.compress_cursor->>'pass')::bigint AS number) under_way
 WHERE l.agent_id = %s AND {IS_THERE}
"""  # noqa: S608 - a constant of this module
# As LIKE patterns: ours are * and ?, and characters special to LIKE are escaped.
_LIKE = str.maketrans({"*": "%", "?": "_", "%": "\\%", "_": "\\_", "\\": "\\\\"})


def like_patterns(patterns: str) -> list[str]:
    """Return patterns of * and ?, with commas between, as patterns of LIKE."""
    return patterns.translate(_LIKE).split(",")


def list_agents(
    connection: Connection,
    *,
    pattern: str,
    after: str,
    limit: int,
    find: str = "",
    busy: bool = False,
) -> list[RowMapping]:
    """Return rows of agents whose ids match a pattern of * and ?, after one id.

    Several patterns are separated by commas. ``find``: only ids with this text, in small or capital
    letters. ``busy``: only lanes with open or dead jobs, or that stand still.
    """
    like = like_patterns(pattern)
    values = {"after": after, "like": like, "limit": limit, "find": find, "busy": busy}
    return list(connection.exec_driver_sql(_LIST, values).mappings())


def holdings(connection: Connection, agent_id: str) -> RowMapping | None:
    """Return the counts of an agent's rows, its lane and its pass; None if it does not exist."""
    return connection.exec_driver_sql(_LANE, (agent_id,)).mappings().first()


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


# The latest jobs alone: an agent may have many that are done.
_DONE_LATELY = """
SELECT count(*) FROM (SELECT finished_at FROM job WHERE agent_id = %s AND state = 'done'
                       ORDER BY ordinal DESC LIMIT 1000) AS latest
 WHERE finished_at > now() - make_interval(secs => %s::float8)
"""


def done_lately(connection: Connection, agent_id: str, seconds: float) -> int:
    """Return how many of the latest 1,000 done jobs ended within these seconds."""
    values = (agent_id, seconds)
    return int(connection.exec_driver_sql(_DONE_LATELY, values).scalar_one())


def read_job(connection: Connection, agent_id: str, job_id: UUID) -> RowMapping | None:
    """Return one job."""
    statement = _JOB.format_map({"conditions": "AND id = %(id)s"})
    values = {"agent": agent_id, "id": job_id, "limit": 1}
    return connection.exec_driver_sql(statement, values).mappings().first()


# Each text once, however often it was sent.
_ASKED = """
WITH said AS MATERIALIZED (
    SELECT DISTINCT content, encode(sha256(convert_to(content, 'UTF8')), 'hex') AS digest
      FROM message WHERE agent_id = %(agent)s AND role = 'user' AND content <> ''
       AND withheld IS NULL)
SELECT r.id AS receipt_id, said.content AS query, r.session_id, r.created_at AS as_of,
       (r.body->>'budget_tokens')::bigint AS budget_tokens
  FROM receipt r JOIN said ON said.digest = r.body->>'query_sha256'
 WHERE r.agent_id = %(agent)s AND r.kind = 'context'
 ORDER BY r.created_at DESC, r.id LIMIT %(most)s
"""


def last_asked(connection: Connection, agent_id: str, most: int) -> list[RowMapping]:
    """Return the latest ``most`` questions whose text is stored and shown, the oldest first.

    Each with the receipt of its context and that receipt's time.
    """
    rows = connection.exec_driver_sql(_ASKED, {"agent": agent_id, "most": most})
    return list(rows.mappings())[::-1]
