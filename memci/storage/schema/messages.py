"""Tables of messages, their vectors and terms, summaries and plans."""

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
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema.metadata import Instant, Json, agent_column, made_at, metadata

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


_ZERO = text("0")
_EMPTY = text("''")

# One row a session, made with the first thing that is said in it, and replaced each time that the
# summary goes on; its text is empty until there is one. Where several users speak in a session,
# each has a row besides, of what is in that user's sight.
summary = Table(
    "summary",
    metadata,
    agent_column(),
    Column("session_id", Text, primary_key=True),  # '': what was said in no session
    Column("user_id", Text, primary_key=True),  # '': of all that was said in it
    # Whose words are in it.
    Column("users", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("from_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("through_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("text", Text, nullable=False, server_default=_EMPTY),
    Column("tokens", Integer, nullable=False, server_default=_ZERO),
    Column("model", Text, nullable=False, server_default=_EMPTY),
    # The session has ended, and all of it is covered.
    Column("final", Boolean, nullable=False, server_default=false()),
    # So many tokens were said after through_seq, up to here: nothing is counted twice.
    Column("counted_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("counted_tokens", BigInteger, nullable=False, server_default=_ZERO),
    made_at("made_at"),
    # Sessions that may end.
    Index("summary_open", "agent_id", "session_id",
          postgresql_where=text("NOT final AND user_id = '' AND session_id <> ''")),
    postgresql_with={"fillfactor": 70},
)  # fmt: skip


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
