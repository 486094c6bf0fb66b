"""The conversation before the one in which something is asked (R10)."""

from __future__ import annotations

from datetime import datetime

from memci.domain.context.query.talks import Talk, talk_before
from memci.storage.messages import IS_NOTE
from memci.storage.search import Restriction
from memci.storage.search_restrictions import message_filters
from memci.storage.session import Connection, tuples
from memci.storage.viewers import viewer_asking

# So many messages are looked through, of the session in which it is asked and of all others.
_MOST = 2_000
_SAID = f"""
SELECT m.session_id, m.said_at, m.seq FROM message m
 WHERE m.agent_id = %(agent)s AND m.said_at <= %(now)s AND m.role IN ('user', 'assistant')
   AND NOT {IS_NOTE} {{conditions}}
"""  # noqa: S608 - a constant of another module
# By the index on times, which has all that is indexed; of the rest there is little.
_NEWEST = "ORDER BY said_at DESC, seq DESC LIMIT %(most)s"
_LATEST = f"({_SAID} AND m.indexed {_NEWEST}) UNION ALL ({_SAID} AND NOT m.indexed {_NEWEST})"
_HERE = "AND m.session_id = %(here)s"
_ELSEWHERE = "AND m.session_id IS DISTINCT FROM %(here)s"
# Whoever records an assistant may leave the user out: it speaks to the one of its session.
_WITH = """
AND (m.user_id = %(whose)s OR m.user_id IS NULL AND %(whose)s = (
    SELECT o.user_id FROM message o
     WHERE o.agent_id = m.agent_id AND o.session_id = m.session_id AND o.seq < m.seq
       AND o.user_id IS NOT NULL
     ORDER BY o.session_id DESC, o.seq DESC LIMIT 1))
"""


def last_session(
    connection: Connection, agent_id: str, restriction: Restriction, now: datetime
) -> Talk | None:
    """Return the last conversation before ``now`` (aware), if there was one.

    It is another than the one that goes on in ``restriction.session_id``, of the user who is there,
    and holds what the restriction asks for.
    """
    here, user = restriction.session_id, restriction.user_id
    whose = viewer_asking(connection, agent_id, here, user).user_id
    values = restriction.values()
    conditions = message_filters(values) + (_WITH if whose and not user else "")
    values |= {"agent": agent_id, "now": now, "here": here, "whose": whose, "most": _MOST}
    places = (_HERE, _ELSEWHERE) if here else ("",)
    statements = (_LATEST.format(conditions=f"{conditions} {place}") for place in places)
    found = [row for each in statements for row in tuples(connection, each, values)]
    found.sort(key=lambda row: row[1:], reverse=True)
    return talk_before(((session, at) for session, at, _ in found), here, now)
