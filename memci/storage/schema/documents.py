"""Tables of documents, chunks, items and checkpoints.

``agent_id`` is the owner's id: an agent's, or ``collection/NAME``.
"""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema.metadata import Instant, Json, agent_column, made_at, metadata

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


item = Table(
    "item",
    metadata,
    agent_column(),
    Column("namespace", ARRAY(Text), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Json, nullable=False),
    # What it is searched by; none: it is found by its place and value alone.
    Column("text", Text),
    made_at(),
    made_at("updated_at"),
    # Minutes after the last look at it, and when that is.
    Column("ttl_minutes", Double),
    Column("expires_at", Instant),
    # How often a term stands in the text of how many terms; none: it is still to be indexed.
    Column("terms", Json),
    Column("length", Integer),
    Column("embedding", HALFVEC()),
    Column("model", Text),
    Index("item_unindexed", "agent_id", "updated_at",
          postgresql_where=text("text IS NOT NULL AND terms IS NULL")),
    Index("item_term", "agent_id", "expires_at",
          postgresql_where=text("expires_at IS NOT NULL")),
)  # fmt: skip

# Kinds and bodies are a framework's own: they are kept as bytes and never read here.
checkpoint = Table(
    "checkpoint",
    metadata,
    agent_column(),
    Column("thread", Text, primary_key=True),
    Column("namespace", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("parent", Text),
    Column("kind", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    # Of each channel the version that its value has here.
    Column("versions", Json, nullable=False),
    Column("metadata", Json, nullable=False),
    made_at(),
)

checkpoint_value = Table(
    "checkpoint_value",
    metadata,
    agent_column(),
    Column("thread", Text, primary_key=True),
    Column("namespace", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

checkpoint_write = Table(
    "checkpoint_write",
    metadata,
    agent_column(),
    Column("thread", Text, primary_key=True),
    Column("namespace", Text, primary_key=True),
    Column("checkpoint_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("channel", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("path", Text, nullable=False, server_default=text("''")),
)
