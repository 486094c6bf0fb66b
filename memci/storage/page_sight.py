"""What of a tree its windows show: read without what lies hidden, however much that is (P12)."""

from __future__ import annotations

from sqlalchemy import Connection

# From the roots down through folders that are open; into the conversation and the archive even when
# they are closed, since pages leave them (P7, P8), and into ``sys``, which has the guide (P15).
# Then what is named, the last page of each session that goes on, and the folders above these.
# ``inside``: how many pages lie in a closed folder. Row by row, by index: a plan that believes in
# small trees would read all of a large one.
SHOWN_PAGES = """
WITH RECURSIVE seen AS (
    SELECT id, kind, expanded FROM page
    WHERE agent_id = %(agent)s AND parent IS NULL AND NOT cold
    UNION ALL
    SELECT below.* FROM seen, LATERAL (
        SELECT id, kind, expanded FROM page
        WHERE agent_id = %(agent)s AND parent = seen.id AND NOT cold
          AND (seen.id <> %(root)s OR NOT coalesce(number > 0, false)
               OR coalesce(nullif(chapter, ''), '+' || session_id, '-')
                  = ANY(%(sessions)s::text[])) OFFSET 0) AS below
    WHERE seen.kind = 'contents'
      AND (seen.expanded OR seen.id IN (%(archive)s, %(root)s, %(system)s))),
latest AS (
    SELECT last.id FROM unnest(%(sessions)s::text[]) AS session (key), LATERAL (
        SELECT id FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
            AND session_id = substr(session.key, 2) AND session.key <> '-'
        ORDER BY last_seq DESC LIMIT 1) AS last
    UNION
    (SELECT id FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
            AND session_id IS NULL AND '-' = ANY(%(sessions)s::text[])
        ORDER BY last_seq DESC LIMIT 1)),
above AS (
    SELECT page.* FROM (
        SELECT unnest(%(named)s::text[]) AS id UNION SELECT id FROM latest) AS meant, LATERAL (
        SELECT id, parent FROM page
        WHERE agent_id = %(agent)s AND page.id = meant.id LIMIT 1) AS page
    UNION
    SELECT page.* FROM above, LATERAL (
        SELECT id, parent FROM page
        WHERE agent_id = %(agent)s AND id = above.parent LIMIT 1) AS page)
SELECT page.*, CASE WHEN kind = 'contents' AND NOT expanded THEN (
    SELECT count(*) FROM page AS within
    WHERE within.agent_id = %(agent)s AND within.parent = page.id AND NOT within.cold
      AND page.id <> %(root)s
      AND (%(all)s OR within.user_id IS NULL OR within.user_id = %(user)s)) END AS inside
FROM (SELECT id FROM seen UNION SELECT id FROM above) AS wanted, LATERAL (
    SELECT * FROM page WHERE agent_id = %(agent)s AND page.id = wanted.id LIMIT 1) AS page
ORDER BY place, page.id
"""
# Interactions that are over, since another of their session has begun or they lie elsewhere.
_UNNAMED = """
SELECT id FROM page
WHERE agent_id = %(agent)s AND number > 0 AND NOT (named AND summed) AND (cold
    OR EXISTS (SELECT FROM page AS later
        WHERE later.agent_id = %(agent)s AND later.first_seq IS NOT NULL
          AND later.session_id = page.session_id AND later.last_seq > page.last_seq)
    OR page.session_id IS NULL AND EXISTS (SELECT FROM page AS later
        WHERE later.agent_id = %(agent)s AND later.first_seq IS NOT NULL
          AND later.session_id IS NULL AND later.number > 0 AND later.last_seq > page.last_seq))
ORDER BY number DESC LIMIT %(most)s
"""
_STORED = "SELECT count(*) FROM message WHERE agent_id = %s AND seq = ANY(%s)"


def unnamed_pages(connection: Connection, agent_id: str, most: int) -> list[str]:
    """Return the indexes of stored pages that the summarizer has to name, the newest first."""
    values = {"agent": agent_id, "most": most}
    return list(connection.exec_driver_sql(_UNNAMED, values).scalars())


def all_stored(connection: Connection, agent_id: str, seqs: list[int]) -> bool:
    """Tell whether all of these messages are there: none was erased."""
    found = connection.exec_driver_sql(_STORED, (agent_id, seqs)).scalar_one()
    return int(found) == len(set(seqs))
