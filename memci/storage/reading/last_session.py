"""The conversation before the one in which something is asked (R10)."""

from __future__ import annotations

from datetime import datetime

from memci.domain.context.query.last_session import Talk, talk_before
from memci.storage.search import Restriction
from memci.storage.search_restrictions import message_filters
from memci.storage.session import Connection, rows

# What was said in no session is looked through so far.
_MOST = 500
_BEFORE = "FROM message m WHERE m.agent_id = %(agent)s AND m.said_at <= %(now)s {filters}"
# By the index on times, which has all that is indexed; of the rest there is little.
_NEWEST = "ORDER BY said_at DESC, seq DESC LIMIT %(most)s"
_LATEST = f"""
(SELECT m.session_id, m.said_at, m.seq {_BEFORE} AND m.indexed {_NEWEST}) UNION ALL
(SELECT m.session_id, m.said_at, m.seq {_BEFORE} AND NOT m.indexed {_NEWEST}) {_NEWEST}
"""
_LENGTH = f"""
SELECT min(m.said_at) AS began, max(m.said_at) AS ended {_BEFORE} AND m.session_id = %(session)s
"""
_ELSEWHERE = "AND m.session_id IS DISTINCT FROM %(here)s"
_IN_NONE = "AND m.session_id IS NULL"


def last_session(
    connection: Connection, agent_id: str, restriction: Restriction, now: datetime
) -> Talk | None:
    """Return when the last session before ``now`` (aware) was; None: there was none.

    It is another than ``restriction.session_id``, and holds what the restriction asks for. What was
    said in no session is cut by its silences.
    """
    values = restriction.values()
    filters = message_filters(values)
    values |= {"agent": agent_id, "now": now, "here": restriction.session_id}
    elsewhere = f"{filters} {_ELSEWHERE}" if restriction.session_id else filters
    latest = rows(connection, _LATEST.format(filters=elsewhere), values | {"most": 1})
    if not latest:
        return None
    values |= {"session": latest[0].session_id, "most": _MOST}
    if latest[0].session_id is None:
        said = rows(connection, _LATEST.format(filters=f"{filters} {_IN_NONE}"), values)
        return talk_before((each.said_at for each in said), now)
    (length,) = rows(connection, _LENGTH.format(filters=filters), values)
    return Talk(length.began, length.ended)
