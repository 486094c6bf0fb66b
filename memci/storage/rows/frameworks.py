"""What agent frameworks keep (docs/frameworks.md): items of a store, and checkpoints of threads."""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import Column, Double, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.rows.metadata import Instant, Json, agent_column, made_at, metadata

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
