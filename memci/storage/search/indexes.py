"""The indexes that a search looks into, and the rows that it answers with (R11b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


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
