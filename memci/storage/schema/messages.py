"""Tables of messages, their vectors and terms, summaries and plans."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.memory.message_filter import FilterReason, MemoryState
from memci.domain.session.plan import StepState
from memci.message import Remember, Role
from memci.storage.schema import value_types
from memci.storage.schema.columns import (
    Instant,
    Json,
    agent_table,
    counter,
    index,
    key,
    moment,
    optional,
    required,
)

message = agent_table(
    "message",
    key("seq", sa.BigInteger, at_most="lane.message_seq"),
    required("id", sa.Text, holds=value_types.Name),
    required("role", sa.Text, holds=Role),
    optional("content", sa.Text),
    optional("name", sa.Text),
    optional("tool_calls", Json, holds=value_types.Objects),
    optional("tool_call_id", sa.Text),
    optional("metadata", Json),
    optional("session_id", sa.Text),
    optional("user_id", sa.Text),
    required("said_at", Instant),
    moment("received_at"),
    required("remember", sa.Text, holds=Remember),
    # none, pending, made, filtered: the memory state (R2), and the reason for no memory.
    required("memory_state", sa.Text, "'none'", holds=MemoryState),
    optional("memory_reason", sa.Text, holds=FilterReason),
    # False: not yet in message_term and message_vector; part of the raw tail (R10b).
    required("indexed", sa.Boolean, "false"),
    # Its position among the indexed messages (R11b); null until it is indexed.
    optional("position", sa.BigInteger, holds=value_types.Position),
    # The sender's UTC offset in minutes; null: UTC.
    optional("said_offset", sa.SmallInteger),
    index("message_id", "id", unique=True),
    index(
        "message_position", "position", unique=True, include=["seq"], where="position IS NOT NULL"
    ),
    index("message_tail", "seq", where="NOT indexed"),
    index("message_session", "session_id", "seq"),
    index("message_said", "said_at", "seq", where="indexed"),
)

# The vector of each message summed with its neighbours', which search compares (R11b).
message_around = agent_table(
    "message_around",
    key("seq", sa.BigInteger, references="message.seq"),
    required("position", sa.BigInteger),
    required("embedding", HALFVEC()),
    required("model", sa.Text),
    left_out="sums of message_vector: whoever imports makes them",
)

message_vector = agent_table(
    "message_vector",
    key("seq", sa.BigInteger, references="message.seq"),
    required("embedding", HALFVEC()),
    required("model", sa.Text),
)

# Postings: how often a term occurs in a message, and the message's number of terms.
message_term = agent_table(
    "message_term",
    key("term", sa.Text),
    key("seq", sa.BigInteger, references="message.seq"),
    required("tf", sa.Integer, holds=value_types.Frequency),
    required("length", sa.Integer),
    required("position", sa.BigInteger, holds=value_types.Position),
)

# One row a session, created with its first message and replaced with each new summary; its text is
# empty before the first. If several users speak in a session, each user has a further row, of the
# messages that this user may see.
summary = agent_table(
    "summary",
    key("session_id", sa.Text),  # '': of messages without a session
    key("user_id", sa.Text),  # '': of all messages of the session
    # The users whose words it contains.
    required("users", ARRAY(sa.Text), "'{}'"),
    counter("from_seq"),
    counter("through_seq", at_most="lane.message_seq"),
    required("text", sa.Text, "''"),
    required("tokens", sa.Integer, "0"),
    required("model", sa.Text, "''"),
    # The session has ended, and the summary covers all of it.
    required("final", sa.Boolean, "false"),
    # The tokens of the messages after through_seq and up to here: none is counted twice.
    counter("counted_seq", at_most="lane.message_seq"),
    counter("counted_tokens"),
    moment("made_at"),
    # Sessions that may end.
    index("summary_open", "session_id", where="NOT final AND user_id = '' AND session_id <> ''"),
    storage={"fillfactor": 70},
)

# Sessions that were ended by request, and at which message. Others end by silence, without a row.
session_end = agent_table(
    "session_end",
    key("session_id", sa.Text),
    required("seq", sa.BigInteger, at_most="lane.message_seq"),
    moment("ended_at"),
)

# Identified by the message that made it. The newest plan of a session is the current one.
plan = agent_table(
    "plan",
    key("made_seq", sa.BigInteger, references="message.seq"),
    optional("session_id", sa.Text),
    # The user in whose sessions alone it is visible; null: in all.
    optional("user_id", sa.Text),
    moment(),
    index("plan_session", "session_id", "made_seq"),
)

plan_step = agent_table(
    "plan_step",
    key("made_seq", sa.BigInteger, references="plan.made_seq"),
    key("position", sa.Integer, holds=value_types.StepNumber),
    required("text", sa.Text),
    # The message that contains its text.
    required("said_seq", sa.BigInteger, references="message.seq"),
    required("state", sa.Text, holds=StepState),
    # The messages of the session that belong to it, both ends included.
    optional("first_seq", sa.BigInteger),
    optional("last_seq", sa.BigInteger, at_most="lane.message_seq"),
)

# Messages up to this one were searched for key messages and plans.
tracking = agent_table(
    "tracking",
    required("seq", sa.BigInteger, at_most="lane.message_seq"),
    storage={"fillfactor": 50},
    no_content="ids and numbers alone",
)
