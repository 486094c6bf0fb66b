"""Conditions of a search, the indexes that it uses and the rows that it returns (R5, R6, R11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from memci.domain.search.candidate import WRITTEN, Source

# Restrictions on messages, and on memories: one of a memory's messages has to be so.
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
    "since": "m.said_at >= %(since)s",
    "until": "m.said_at < %(until)s",
    "roles": _OF_ITS_MESSAGES.format("o.role = ANY(%(roles)s)"),
    "names": _OF_ITS_MESSAGES.format("o.name = ANY(%(names)s)"),
    "sessions": "m.session_id = ANY(%(sessions)s)",
    "types": "m.type = ANY(%(types)s)",
    "user": "m.user_id = %(user)s",
    "as_of": "m.said_at <= %(as_of)s",
    "tags": _OF_ITS_MESSAGES.format("jsonb_exists_any(o.metadata->'tags', %(tags)s::text[])"),
    "metadata": _OF_ITS_MESSAGES.format("o.metadata @> %(metadata)s::jsonb"),
}
# Short-term memories of other sessions are out of sight (R5). They are few: what hides them is
# read once, and the nodes themselves need not be joined. "": of no session.
HIDDEN = """AND {} NOT IN (
    SELECT h.id FROM node h WHERE h.agent_id = %(agent)s AND h.tier = 'short'
       AND h.session_id IS DISTINCT FROM %(tier)s)"""
_ON_CHUNK = {
    "code": "AND m.kind = 'code'",
    "document": "AND m.kind <> 'code'",
    "as_of": "AND m.created_at <= %(as_of)s",
}


def node_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``node m`` for what ``Restriction.values`` names."""
    hidden = [HIDDEN.format("m.id")] if "tier" in restricted else []
    return " ".join([memory_filters(restricted), *hidden])


def message_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``message m`` for what ``Restriction.values`` names."""
    return " ".join(
        f"AND {_ON_MESSAGE[name]}" for name in sorted(restricted) if name in _ON_MESSAGE
    )


def memory_filters(restricted: Iterable[str]) -> str:
    """Return those of them that are not about what is in sight."""
    return " ".join(f"AND {_ON_NODE[name]}" for name in sorted(restricted) if name in _ON_NODE)


def chunk_filters(sources: Collection[Source], restricted: Collection[str]) -> str:
    """Return the conditions on a ``chunk m`` where only some ``sources`` are asked for."""
    wanted = WRITTEN.intersection(sources)
    conditions = [_ON_CHUNK[each.value] for each in wanted] if len(wanted) == 1 else []
    if "as_of" in restricted:
        conditions.append(_ON_CHUNK["as_of"])
    return " ".join(conditions)


class Row(NamedTuple):
    """What the statement of a search answers with, whatever the source: columns by place."""

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
    """Names of one source's tables and columns; ``size`` counts texts and gives their length."""

    name: str
    table: str  # of texts, and of postings with _term behind it
    vectors: str
    key: str
    entry: str
    where: str
    size: str
    columns: str


CHAT = Index(
    name="chat",
    table="message",
    vectors="message_around",
    key="seq",
    entry="seq",
    where="",
    size="""SELECT greatest(indexed_messages, 1)::float8 AS texts,
                   greatest(indexed_terms, 1)::float8 / greatest(indexed_messages, 1) AS length
              FROM lane WHERE agent_id = %(agent)s""",
    columns="""m.content AS text, m.role, m.name, m.tool_calls, m.session_id, m.said_at AS at,
               NULL::bigint[] AS seqs, m.position, NULL::integer[] AS counts, m.said_offset""",
)
# The mean length of memories is taken from the postings that are read: they have no counter, and
# it moves all scores of one question by nearly the same factor.
MEMORY = Index(
    name="memory",
    table="node",
    vectors="node_vector",
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
# Of an agent, and of each collection, an index of its own: ids of chunks are unique in it alone.
CHUNK = Index(
    name="chunk",
    table="chunk",
    vectors="chunk_vector",
    key="chunk_id",
    entry="id",
    where="",
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
