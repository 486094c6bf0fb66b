"""Plans of sessions (R7), and how far messages were looked through for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text

from memci.storage.rows.metadata import agent_column, made_at, metadata

# Named by the message that made it. The newest of a session is its plan, the others were before it.
plan = Table(
    "plan",
    metadata,
    agent_column(),
    Column("made_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("session_id", Text),
    # In whose sessions alone it is seen; none: in all.
    Column("user_id", Text),
    made_at(),
    Index("plan_session", "agent_id", "session_id", "made_seq"),
)

plan_step = Table(
    "plan_step",
    metadata,
    agent_column(),
    Column("made_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    # The message whose words it is.
    Column("said_seq", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    # Which messages of the session belong to it, both ends included.
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
)

# Messages up to this one were looked through for key messages and plans.
tracking = Table(
    "tracking",
    metadata,
    agent_column(),
    Column("seq", BigInteger, nullable=False),
    postgresql_with={"fillfactor": 50},
)
