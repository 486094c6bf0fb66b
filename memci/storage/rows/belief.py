"""What was believed when: claims of memories, versions that were replaced, ended sessions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, SmallInteger, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.rows.metadata import Instant, agent_column, made_at, metadata

# What living memories say to be so (R6); goes with its memory.
claim = Table(
    "claim",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("subject", Text, primary_key=True),
    Column("attribute", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("value", Text),
    Column("ended", Text),
    Column("said_at", Instant, nullable=False),
    Index("claim_about", "agent_id", "subject", "attribute"),
    Index("claim_message", "agent_id", "seq"),
)

# Memories as they were when another took their place: merged (R5) or superseded (R6). They outlive
# both; an erasure removes them by node or by message.
node_version = Table(
    "node_version",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("replaced_by", BigInteger, primary_key=True, autoincrement=False),
    # merged or superseded
    Column("reason", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("phrase", Text, nullable=False),
    Column("keywords", ARRAY(Text), nullable=False),
    Column("language", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("message_seqs", ARRAY(BigInteger), nullable=False),
    Column("session_id", Text),
    Column("user_id", Text),
    Column("said_at", Instant),
    # Of a superseded one: since when the other holds.
    Column("until", Instant),
    made_at("replaced_at"),
    Column("said_offset", SmallInteger),
    Index("node_version_successor", "agent_id", "replaced_by"),
    Index("node_version_superseded", "agent_id", postgresql_where=text("reason = 'superseded'")),
)

# Sessions that somebody has ended: up to which message. Others end by silence, which needs no row.
session_end = Table(
    "session_end",
    metadata,
    agent_column(),
    Column("session_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    made_at("ended_at"),
)
