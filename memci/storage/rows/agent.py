"""An agent's settings, and receipts of what was assembled for it."""

from __future__ import annotations

from sqlalchemy import Column, Index, Table, Text, Uuid

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
    made_at(),
    # How upkeep finds those that are old enough to go.
    Index("receipt_age", "agent_id", "created_at"),
    Index("receipt_session", "agent_id", "session_id", "created_at"),
)
