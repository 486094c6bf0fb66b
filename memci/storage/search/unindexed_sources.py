"""Searches pages, pins, plans and summaries, which have no index (R11b).

There is no index of its words: the newest of each source are looked at, by how they begin. Those
that hold a part of any word are read, the most of them first, and scored in Python as messages are
that wait for their index. Each is bound by what
``Restriction.values`` names; who may see what is as in windows (``Viewer``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator

from memci.domain.pages.pins import Maker
from memci.domain.search.bm25 import MOST_CHARACTERS, probes_of
from memci.domain.search.candidate import KEPT, UNTIMED, Candidate, Kept, Source
from memci.domain.session.plan import StepState
from memci.language.key_messages.rules import PinKind
from memci.language.times.calendar import at_offset
from memci.storage.search.filters import Row

MOST_KEPT = 15  # of each source
MOST_LOOKED_AT = 500  # of each source, the newest: every search looks for its words in them
_KEY_BITS = 48  # with the source's number above them no key is a message's, or a chunk's

# As rows of the other sources: what tells where it comes from stands in place of tool calls.
_ROWS = """
(SELECT '{source}' AS source, NULL::bigint AS key, NULL::float8 AS dense, NULL::float8 AS lexical,
        NULL::float8 AS linked,
        k.text, k.kind AS role, k.name, k.more AS tool_calls, k.session_id, k.at, k.seqs,
        NULL::bigint AS position, NULL::integer[] AS counts, k.said_offset
   FROM (SELECT * FROM ({rows}) k WHERE true {conditions}
          ORDER BY k.at DESC NULLS LAST LIMIT %(most_looked_at)s) k
  CROSS JOIN LATERAL (SELECT left(k.text, %(most_characters)s) AS text OFFSET 0) begin
  CROSS JOIN LATERAL (
        SELECT lower(CASE WHEN octet_length(begin.text) = length(begin.text) THEN begin.text
                          ELSE normalize(begin.text, NFKC) END) AS text OFFSET 0) low
  CROSS JOIN LATERAL (SELECT count(*) AS held FROM unnest(%(probes)s::text[]) AS probe
                       WHERE strpos(low.text, probe) > 0) h
  WHERE h.held > 0
  ORDER BY h.held DESC, k.at DESC NULLS LAST, k.name DESC LIMIT %(most_kept)s)
"""
_CONDITIONS = {
    "since": "k.at >= %(since)s",
    "until": "k.at < %(until)s",
    "as_of": "k.at <= %(as_of)s",
    "sessions": "k.session_id = ANY(%(sessions)s)",
}
_PIN = """
SELECT coalesce(substr(m.content, coalesce(p.span_start, 0) + 1,
                       coalesce(p.span_end - p.span_start, length(m.content))), p.text) AS text,
       p.kind, p.number::text AS name, to_jsonb(p.pinned_by) AS more, m.session_id,
       coalesce(m.said_at, p.created_at) AS at, array_remove(ARRAY[p.message_seq], NULL) AS seqs,
       m.said_offset
  FROM pin p LEFT JOIN message m ON m.agent_id = p.agent_id AND m.seq = p.message_seq
 WHERE p.agent_id = %(agent)s AND p.unpinned_at IS NULL {user}
   AND (p.pinned_by <> 'detector' OR p.kind <> 'task' OR %(session)s::text IS NULL
        OR coalesce(m.session_id = %(session)s, true))
 ORDER BY p.number DESC LIMIT %(most_looked_at)s
"""
# The last plan of each session, or of the session that is asked from.
_PLAN = """
SELECT s.text, s.state AS kind, s.position::text AS name, to_jsonb(s.made_seq) AS more,
       c.session_id, coalesce(m.said_at, c.created_at) AS at, ARRAY[s.said_seq] AS seqs,
       m.said_offset
  FROM (SELECT DISTINCT ON (session_id) * FROM (
            (SELECT * FROM plan p
              WHERE p.agent_id = %(agent)s AND p.session_id = %(session)s {user} {sessions}
              ORDER BY p.made_seq DESC LIMIT 1)
            UNION ALL
            (SELECT * FROM plan p
              WHERE p.agent_id = %(agent)s AND %(session)s::text IS NULL {user} {sessions}
              ORDER BY p.made_seq DESC LIMIT %(most_looked_at)s)) newest
         ORDER BY session_id, made_seq DESC) c
 CROSS JOIN LATERAL (SELECT * FROM plan_step WHERE agent_id = %(agent)s
                        AND made_seq = c.made_seq OFFSET 0) s
  LEFT JOIN message m ON m.agent_id = %(agent)s AND m.seq = s.said_seq
"""
# As ``read_summary`` has it: of several in a user's sight the one that goes furthest. Which are the
# newest is told without their texts.
_SUMMARY = """
SELECT p.text, NULL AS kind, '' AS name, to_jsonb(p.user_id) AS more,
       nullif(p.session_id, '') AS session_id, coalesce(m.said_at, p.made_at) AS at,
       ARRAY[p.from_seq, p.through_seq] AS seqs, m.said_offset
  FROM (SELECT DISTINCT ON (session_id) session_id, user_id FROM (
            SELECT p.session_id, p.user_id, p.through_seq FROM summary p
             WHERE p.agent_id = %(agent)s AND p.text <> '' AND {whose} {sessions}
             ORDER BY p.through_seq DESC, p.user_id {newest}) newest
         ORDER BY session_id, through_seq DESC, user_id) c
 CROSS JOIN LATERAL (
       SELECT * FROM summary p WHERE p.agent_id = %(agent)s AND p.session_id = c.session_id
          AND p.user_id = c.user_id OFFSET 0) p
  LEFT JOIN message m ON m.agent_id = %(agent)s AND m.seq = p.through_seq
"""
# What somebody wrote, removed or not, and the interactions that lie in folders: of others, in
# active chapters or removed, the messages are found. What lies in a folder is seen with it or not
# at all. System prompts are none of it.
_PAGE = """
WITH RECURSIVE written AS MATERIALIZED (
    SELECT id, kind, parent, place, name, description, cold, text_version, user_id FROM page
     WHERE agent_id = %(agent)s AND first_seq IS NULL AND segment <> 'sys'),
seen AS (
    SELECT p.* FROM written p WHERE p.parent IS NULL {user}
    UNION ALL
    SELECT p.* FROM seen JOIN written p ON p.parent = seen.id {user})
SELECT concat_ws(E'\\n', nullif(p.name, ''), nullif(p.description, ''), nullif(note.text, ''))
           AS text,
       NULL AS kind, p.id AS name, NULL::jsonb AS more, NULL AS session_id, note.created_at AS at,
       NULL::bigint[] AS seqs, NULL::smallint AS said_offset
  FROM (SELECT * FROM seen WHERE parent IS NOT NULL OR cold
         ORDER BY place DESC LIMIT %(most_looked_at)s) p
  LEFT JOIN page_text note
    ON note.agent_id = %(agent)s AND note.page_id = p.id AND note.version = p.text_version
UNION ALL
SELECT concat_ws(E'\\n', p.name, nullif(p.description, ''), array_to_string(p.entries, E'\\n')),
       NULL, p.id, NULL, p.session_id, m.said_at, ARRAY[p.first_seq, p.last_seq],
       m.said_offset
  FROM (SELECT inside.*
          FROM (SELECT id FROM seen WHERE kind = 'contents' AND parent IS NOT NULL AND NOT cold) f
         CROSS JOIN LATERAL (
               SELECT * FROM page p WHERE p.agent_id = %(agent)s AND p.parent = f.id AND NOT p.cold
                  AND p.first_seq IS NOT NULL {user} OFFSET 0) inside
         ORDER BY inside.first_seq DESC LIMIT %(most_looked_at)s) p
  LEFT JOIN message m ON m.agent_id = %(agent)s AND m.seq = p.first_seq
"""
_KEPT_ROWS = {
    Source.PAGE: _PAGE,
    Source.SUMMARY: _SUMMARY,
    Source.PIN: _PIN,
    Source.PLAN: _PLAN,
}
_OF_USER = "AND (p.user_id IS NULL OR p.user_id = ANY(%(seen_by)s))"
_SUMMARY_OF_USER = "p.users <@ %(seen_by)s::text[]"
_SUMMARY_OF_ALL = "p.user_id = ''"
_OF_SESSIONS = "AND p.session_id = ANY(%(sessions)s)"
_NEWEST = "LIMIT %(most_looked_at)s"
# When a summary ends is known by its message: all of them have to be looked up.
_OF_TIMES = frozenset({"since", "until"})
# It tells what is so now, whenever that was said (R6).
_OF_NOW = frozenset({Source.PAGE, Source.SUMMARY, Source.PLAN})
# What is asked for by these only messages have, and memories of them.
_OF_MESSAGES = frozenset({"roles", "names", "types", "tags", "metadata"})


def kept_asked(sources: Collection[Source], restricted: Collection[str]) -> frozenset[Source]:
    """Return those of the sources that are kept, and may hold what is asked for."""
    kept = KEPT.intersection(sources)
    if not _OF_MESSAGES.isdisjoint(restricted):
        return frozenset()
    return kept - _OF_NOW if "as_of" in restricted else kept


def kept_rows(sources: Collection[Source], restricted: Collection[str]) -> Iterator[str]:
    """Yield a part of the statement for each of these sources; it takes ``kept_values``."""
    own = "seen_by" in restricted
    conditions = [f"AND {_CONDITIONS[name]}" for name in sorted(restricted) if name in _CONDITIONS]
    for source in sorted(KEPT.intersection(sources)):
        names = {
            "user": _OF_USER if own else "",
            "whose": _SUMMARY_OF_USER if own else _SUMMARY_OF_ALL,
            "sessions": _OF_SESSIONS if "sessions" in restricted else "",
            "newest": _NEWEST if _OF_TIMES.isdisjoint(restricted) else "",
        }
        yield _ROWS.format(
            source=source.value,
            rows=_KEPT_ROWS[source].format_map(names),
            conditions=" ".join(conditions),
        )


def kept_values(terms: Iterable[str], session_id: str | None) -> dict[str, object]:
    """Return what ``kept_rows`` is asked with, beside the agent and the restrictions."""
    return {
        "probes": probes_of(list(terms)),
        "session": session_id,
        "most_kept": MOST_KEPT,
        "most_looked_at": MOST_LOOKED_AT,
        "most_characters": MOST_CHARACTERS,
    }


def kept_candidate(row: Row) -> Candidate:
    """Return what a row tells of; it has no score yet."""
    source = Source(row.source)
    seqs: list[int] = list(row.seqs or ())
    about = (seqs[0], seqs[-1]) if seqs else None
    told = row.tool_calls
    kept = Kept(row.name, about)
    if source is Source.PIN:
        kept = kept._replace(kind=PinKind(row.role), by=Maker(told))
    elif source is Source.PLAN:
        kept = kept._replace(state=StepState(row.role))
    name = f"{row.name}\n{row.session_id}\n{told}"
    key = _key(source, name)
    at = at_offset(row.at, row.said_offset) if row.at else UNTIMED
    return Candidate(source, key, row.text, tuple(dict.fromkeys(seqs)), at, row.session_id,
                     kept=kept)  # fmt: skip


def _key(source: Source, name: str) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=_KEY_BITS // 8).digest()
    return (1 + len(Source) + list(Source).index(source) << _KEY_BITS) + int.from_bytes(digest)
