"""Documents and their chunks, of an agent or of a collection (R9).

``agent_id`` is the owner's id: an agent's, or ``collection/NAME``.
"""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    false,
    text,
)

from memci.storage.rows.metadata import Instant, agent_column, made_at, metadata

document = Table(
    "document",
    metadata,
    agent_column(),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    # SHA-256 of the file's bytes.
    Column("digest", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    Column("error", Text),
    Column("chunks", Integer, nullable=False, server_default=text("0")),
    Column("indexed_chunks", Integer, nullable=False, server_default=text("0")),
    Column("job_id", Uuid, nullable=False),
    made_at(),
    # When its present bytes came, and when all of them could be found.
    made_at("sent_at"),
    Column("indexed_at", Instant),
    Index("document_name", "agent_id", "name", unique=True),
)

# The bytes of a file until they have been read.
document_body = Table(
    "document_body",
    metadata,
    agent_column(),
    Column("document_id", BigInteger, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    made_at(),
)

chunk = Table(
    "chunk",
    metadata,
    agent_column(),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("document_id", BigInteger, nullable=False),
    # Its position in the document, from 0.
    Column("place", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Headings above it, or the symbol that it is: "Guide › Install".
    Column("path", Text, nullable=False),
    Column("symbol", Text),
    # The last part of the symbol, in small letters.
    Column("symbol_key", Text),
    Column("language", Text, nullable=False),
    Column("first_line", Integer),
    Column("last_line", Integer),
    Column("page", Integer),
    # False: not yet in chunk_term and chunk_vector.
    Column("indexed", Boolean, nullable=False, server_default=false()),
    made_at(),
    Index("chunk_document", "agent_id", "document_id", "place", unique=True),
    Index(
        "chunk_symbol", "agent_id", "symbol_key", postgresql_where=text("symbol_key IS NOT NULL")
    ),
    Index("chunk_waiting", "agent_id", "document_id", "id", postgresql_where=text("NOT indexed")),
)

chunk_vector = Table(
    "chunk_vector",
    metadata,
    agent_column(),
    Column("chunk_id", BigInteger, primary_key=True, autoincrement=False),
    Column("embedding", HALFVEC(), nullable=False),
    Column("model", Text, nullable=False),
)

# Postings: how often a term stands in a chunk of how many terms.
chunk_term = Table(
    "chunk_term",
    metadata,
    agent_column(),
    Column("term", Text, primary_key=True),
    Column("chunk_id", BigInteger, primary_key=True, autoincrement=False),
    Column("tf", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Index("chunk_term_chunk", "agent_id", "chunk_id"),
)
