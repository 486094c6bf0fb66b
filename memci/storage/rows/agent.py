"""An agent's settings, and receipts of what was assembled for it."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.rows.metadata import Json, agent_column, made_at, metadata

agent_setting = Table(
    "agent_setting",
    metadata,
    agent_column(),
    Column("parameters", Json, nullable=False),
    made_at("changed_at"),
)

receipt = Table(
    "receipt",
    metadata,
    agent_column(),
    Column("id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    # Of an assembled context: whose, so that the next one can be compared with it (R16).
    Column("session_id", Text),
    Column("body", Json, nullable=False),
    # Of a read: the agent's last message at the time; messages that the receipt speaks of, and
    # those of them that the agent was given; memories that it was given. All null: not known.
    Column("at_seq", BigInteger),
    Column("seqs", ARRAY(BigInteger)),
    Column("given", ARRAY(BigInteger)),
    Column("nodes", ARRAY(BigInteger)),
    made_at(),
    # How upkeep finds those that are old enough to go.
    Index("receipt_age", "agent_id", "created_at"),
    Index("receipt_given", "agent_id", "at_seq", postgresql_where=text("at_seq IS NOT NULL")),
    Index(
        "receipt_last",
        "agent_id",
        "session_id",
        "created_at",
        postgresql_where=text("kind = 'context'"),
    ),
)
