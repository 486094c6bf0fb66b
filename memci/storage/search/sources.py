"""The sources of a search: their conditions, indexes and rows (R5, R6, R11).

Pages, pins, plans and summaries have no index (R11b). The beginnings of the newest are searched for
parts of words, those with the most parts are read completely, and Python scores them like messages
that are not indexed yet. They are visible as in windows (``Viewer``).
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from memci.domain.pages.pins import Maker, PinKind
from memci.domain.search.bm25 import MOST_CHARACTERS, probes_of
from memci.domain.search.candidate import KEPT, UNTIMED, WRITTEN, Candidate, Kept, Source
from memci.domain.session.plan import StepState
from memci.language.times.calendar import at_offset

# Restrictions on messages, and on memories: one of a memory's messages has to meet them.
_ON_MESSAGE = {
    "since": "m.said_at >= %(since)s",
    "until": "m.said_at < %(until)s",
    "roles": "m.role = ANY(%(roles)s)",
    "names": "m.name = ANY(%(names)s)",
    "sessions": "m.session_id = ANY(%(sessions)s)",
    "user": "m.user_id = %(user)s",
    "as_of": "m.said_at <= %(as_of)s",
    "tags": "jsonb_exists_any(m.metadata->'tags', %(tags)s::text[])",
    "metadata": "m.metadata @> %(metadata)s::jsonb",
}
_OF_ITS_MESSAGES = (
    "EXISTS (SELECT 1 FROM message o"
    " WHERE o.agent_id = m.agent_id AND o.seq = ANY(m.message_seqs) AND {})"
)
_ON_NODE = {
    **_ON_MESSAGE,
    "types": "m.type = ANY(%(types)s)",
    **{
        name: _OF_ITS_MESSAGES.format(_ON_MESSAGE[name].replace("m.", "o."))
        for name in ("roles", "names", "tags", "metadata")
    },
}
# Short-term memories of other sessions are not visible (R5). "": without a session.
_IN_SIGHT = "(m.tier = 'long' OR m.session_id = %(tier)s)"
# The same without a join: they are few, and their ids are read once.
HIDDEN = """AND {} NOT IN (
    SELECT h.id FROM node h WHERE h.agent_id = %(agent)s AND h.tier = 'short'
       AND h.session_id IS DISTINCT FROM %(tier)s)"""
_ON_CHUNK = {
    "code": "AND m.kind = 'code'",
    "document": "AND m.kind <> 'code'",
    "as_of": "AND m.created_at <= %(as_of)s",
}


def node_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``node m`` for the names in ``Restriction.values``."""
    return _filters({**_ON_NODE, "tier": _IN_SIGHT}, restricted)


def message_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``message m`` for the names in ``Restriction.values``."""
    return _filters(_ON_MESSAGE, restricted)


def memory_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``node m``, except that on the tier."""
    return _filters(_ON_NODE, restricted)


def _filters(conditions: Mapping[str, str], restricted: Iterable[str]) -> str:
    return " ".join(f"AND {conditions[name]}" for name in sorted(restricted) if name in conditions)


def chunk_filters(sources: Collection[Source], restricted: Collection[str]) -> str:
    """Return the conditions on a ``chunk m`` if only some ``sources`` are searched."""
    searched = WRITTEN.intersection(sources)
    conditions = [_ON_CHUNK[each.value] for each in searched] if len(searched) == 1 else []
    if "as_of" in restricted:
        conditions.append(_ON_CHUNK["as_of"])
    return " ".join(conditions)


class Row(NamedTuple):
    """A result row of any source; columns by position."""

    source: str
    key: Any
    dense: Any
    lexical: Any
    linked: Any
    text: Any
    role: Any
    name: Any
    tool_calls: Any
    session_id: Any
    at: Any
    seqs: Any
    position: Any
    counts: Any
    said_offset: Any


@dataclass(frozen=True, slots=True)
class Index:
    """Names of the tables and columns of one source."""

    name: str
    table: str  # of texts; with _term or _vector appended, of postings or vectors
    key: str
    entry: str
    size: str  # a query for the number of texts and their mean length
    columns: str
    where: str = ""


CHAT = Index(
    name="chat",
    table="message",
    key="seq",
    entry="seq",
    size="""SELECT greatest(indexed_messages, 1)::float8 AS texts,
                   greatest(indexed_terms, 1)::float8 / greatest(indexed_messages, 1) AS length
              FROM lane WHERE agent_id = %(agent)s""",
    columns="""m.content AS text, m.role, m.name, m.tool_calls, m.session_id, m.said_at AS at,
               NULL::bigint[] AS seqs, m.position, NULL::integer[] AS counts, m.said_offset""",
)
# The mean length of memories is that of the postings read: they have no counter, and it changes all
# scores of a query by nearly the same factor.
MEMORY = Index(
    name="memory",
    table="node",
    key="node_id",
    entry="id",
    where="AND m.kind = 'memory'",
    size="""SELECT greatest((SELECT count(*) FROM node WHERE agent_id = %(agent)s), 1)::float8
                       AS texts,
                   coalesce(sum(total) / sum(df), 1)::float8 AS length FROM memory_df""",
    columns="""m.content AS text, NULL AS role, NULL AS name, NULL::jsonb AS tool_calls,
               m.session_id, coalesce(m.said_at, m.created_at) AS at, m.message_seqs AS seqs,
               NULL::bigint AS position, NULL::integer[] AS counts, m.said_offset""",
)
# An agent and each collection have an index of their own, in which ids of chunks are unique.
CHUNK = Index(
    name="chunk",
    table="chunk",
    key="chunk_id",
    entry="id",
    size="""SELECT greatest(indexed_chunks, 1)::float8 AS texts,
                   greatest(chunk_terms, 1)::float8 / greatest(indexed_chunks, 1) AS length
              FROM lane WHERE agent_id = {owner}""",
    columns="""m.text, m.kind AS role,
               (SELECT d.name FROM document d
                 WHERE d.agent_id = m.agent_id AND d.id = m.document_id) AS name,
               jsonb_build_array(m.path, m.symbol, m.first_line, m.last_line, m.page,
                                 m.document_id) AS tool_calls,
               NULL AS session_id, m.created_at AS at, NULL::bigint[] AS seqs,
               NULL::bigint AS position, NULL::integer[] AS counts,
               NULL::smallint AS said_offset""",
)


_MOST_READ = 15  # of each source
MOST_SEARCHED = 500  # of each source, the newest: every search reads their words
_KEY_BITS = 48  # with the source's number above them they differ from keys of messages and chunks

# As rows of the other sources, with the origin in place of the tool calls.
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
# The last plan of each session, or of the requested session.
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
# As in ``read_summary``: of several visible ones the one that reaches furthest. The newest are
# found without their texts.
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
# Notes, removed or not, and interactions in folders; search finds the messages of other
# interactions, in active chapters or removed. A page in a folder is visible with it or not at all.
# System prompts are left out.
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
_UNINDEXED_ROWS = {
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
# The end of a summary is known by its message: all of them have to be read.
_OF_TIMES = frozenset({"since", "until"})
# They describe the present, regardless of their time (R6).
_OF_NOW = frozenset({Source.PAGE, Source.SUMMARY, Source.PLAN})
# Only messages and memories have these.
_OF_MESSAGES = frozenset({"roles", "names", "types", "tags", "metadata"})


def searched_unindexed(
    sources: Collection[Source], restricted: Collection[str]
) -> frozenset[Source]:
    """Return the sources without an index that may contain matches."""
    searched = KEPT.intersection(sources)
    if not _OF_MESSAGES.isdisjoint(restricted):
        return frozenset()
    return searched - _OF_NOW if "as_of" in restricted else searched


def unindexed_rows(sources: Collection[Source], restricted: Collection[str]) -> Iterator[str]:
    """Yield the part of the statement for each source without an index."""
    of_user = "seen_by" in restricted
    for source in sorted(KEPT.intersection(sources)):
        names = {
            "user": _OF_USER if of_user else "",
            "whose": _SUMMARY_OF_USER if of_user else _SUMMARY_OF_ALL,
            "sessions": _OF_SESSIONS if "sessions" in restricted else "",
            "newest": _NEWEST if _OF_TIMES.isdisjoint(restricted) else "",
        }
        yield _ROWS.format(
            source=source.value,
            rows=_UNINDEXED_ROWS[source].format_map(names),
            conditions=_filters(_CONDITIONS, restricted),
        )


def unindexed_values(terms: Iterable[str], session_id: str | None) -> dict[str, object]:
    """Return the values of ``unindexed_rows``, without the agent and the restrictions."""
    return {
        "probes": probes_of(list(terms)),
        "session": session_id,
        "most_kept": _MOST_READ,
        "most_looked_at": MOST_SEARCHED,
        "most_characters": MOST_CHARACTERS,
    }


def unindexed_candidate(row: Row) -> Candidate:
    """Return a row as a candidate without a score."""
    source = Source(row.source)
    seqs: list[int] = list(row.seqs or ())
    about = (seqs[0], seqs[-1]) if seqs else None
    extra = row.tool_calls
    kept = Kept(row.name, about)
    if source is Source.PIN:
        kept = kept._replace(kind=PinKind(row.role), by=Maker(extra))
    elif source is Source.PLAN:
        kept = kept._replace(state=StepState(row.role))
    name = f"{row.name}\n{row.session_id}\n{extra}"
    digest = hashlib.blake2b(name.encode(), digest_size=_KEY_BITS // 8).digest()
    number = 1 + len(Source) + list(Source).index(source)
    key = (number << _KEY_BITS) + int.from_bytes(digest)
    at = at_offset(row.at, row.said_offset) if row.at else UNTIMED
    return Candidate(source, key, row.text, tuple(dict.fromkeys(seqs)), at, row.session_id,
                     kept=kept)  # fmt: skip
