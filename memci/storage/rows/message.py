"""Raw messages, the write-back store, and what finds them."""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    false,
    text,
)

from memci.storage.rows.metadata import Instant, Json, agent_column, made_at, metadata

message = Table(
    "message",
    metadata,
    agent_column(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("content", Text),
    Column("name", Text),
    Column("tool_calls", Json),
    Column("tool_call_id", Text),
    Column("metadata", Json),
    Column("session_id", Text),
    Column("user_id", Text),
    Column("said_at", Instant, nullable=False),
    made_at("received_at"),
    Column("remember", Text, nullable=False),
    # none, pending, made, filtered: what memory made of it (R2), and why not.
    Column("memory_state", Text, nullable=False, server_default=text("'none'")),
    Column("memory_reason", Text),
    # False: not yet in message_term and message_vector; part of the raw tail (R10b).
    Column("indexed", Boolean, nullable=False, server_default=false()),
    # Where it stands among the indexed ones (R11b); null until it is indexed.
    Column("position", BigInteger),
    # Minutes east of UTC of the clock it was said by; null: UTC.
    Column("said_offset", SmallInteger),
    Index("message_id", "agent_id", "id", unique=True),
    Index(
        "message_position",
        "agent_id",
        "position",
        unique=True,
        postgresql_include=["seq"],
        postgresql_where=text("position IS NOT NULL"),
    ),
    Index("message_tail", "agent_id", "seq", postgresql_where=text("NOT indexed")),
    Index("message_session", "agent_id", "session_id", "seq"),
    Index("message_said", "agent_id", "said_at", "seq", postgresql_where=text("indexed")),
)

message_vector = Table(
    "message_vector",
    metadata,
    agent_column(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("embedding", HALFVEC(), nullable=False),
    Column("model", Text, nullable=False),
)

# The vector of each message summed with its neighbours', which search compares (R11b).
message_around = Table(
    "message_around",
    metadata,
    agent_column(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, nullable=False),
    Column("embedding", HALFVEC(), nullable=False),
    Column("model", Text, nullable=False),
)

# Postings: how often a term stands in a message of how many terms.
message_term = Table(
    "message_term",
    metadata,
    agent_column(),
    Column("term", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("tf", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("position", BigInteger, nullable=False),
)
