"""Tables of messages, their vectors and terms, summaries and plans."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.memory.message_filter import FilterReason, MemoryState
from memci.domain.session.plan import StepState
from memci.message import Remember, Role
from memci.storage.schema import archive_values, columns

message = columns.agent_table(
    "message",
    columns.key("seq", sa.BigInteger, at_most="lane.message_seq"),
    columns.required("id", sa.Text, holds=archive_values.Name),
    columns.required("role", sa.Text, holds=Role),
    columns.optional("content", sa.Text),
    columns.optional("name", sa.Text),
    columns.optional("tool_calls", columns.Json, holds=archive_values.Objects),
    columns.optional("tool_call_id", sa.Text),
    columns.optional("metadata", columns.Json),
    columns.optional("session_id", sa.Text),
    columns.optional("user_id", sa.Text),
    columns.required("said_at", columns.Instant),
    columns.moment("received_at"),
    columns.required("remember", sa.Text, holds=Remember),
    # none, pending, made, filtered: the memory state (R2), and the reason for no memory.
    columns.required("memory_state", sa.Text, "'none'", holds=MemoryState),
    columns.optional("memory_reason", sa.Text, holds=FilterReason),
    # False: not yet in message_term and message_vector; part of the raw tail (R10b).
    columns.required("indexed", sa.Boolean, "false"),
    # Its position among the indexed messages (R11b); null until it is indexed.
    columns.optional("position", sa.BigInteger, holds=archive_values.Position),
    # The sender's UTC offset in minutes; null: UTC.
    columns.optional("said_offset", sa.SmallInteger),
    # What reads do not show, since its memory was deleted or corrected: [start, stop, …) of the
    # text in characters, ascending.
    columns.optional("withheld", ARRAY(sa.Integer), holds=archive_values.Withheld),
)

message_vector = columns.agent_table(
    "message_vector",
    columns.key("seq", sa.BigInteger, references="message.seq"),
    columns.required("embedding", HALFVEC()),
    columns.required("model", sa.Text),
)

# The sign bits of a message's tokens, one token after another (E8): search reads those of its best
# candidates, so they are not in the rows of vectors.
message_tokens = columns.agent_table(
    "message_tokens",
    columns.key("seq", sa.BigInteger, references="message.seq"),
    columns.required("bits", sa.LargeBinary),
    columns.required("model", sa.Text),
)

# Vectors of what lies beyond the text that the vector of a long message covers (E6): characters of
# its searched text.
message_passage = columns.agent_table(
    "message_passage",
    columns.key("seq", sa.BigInteger, references="message.seq"),
    columns.key("start", sa.Integer, holds=archive_values.Count),
    columns.required("stop", sa.Integer, holds=archive_values.Count),
    columns.required("embedding", HALFVEC()),
    columns.required("model", sa.Text),
)

# Postings: how often a term occurs in a message, and the message's number of terms.
message_term = columns.agent_table(
    "message_term",
    columns.key("term", sa.Text),
    columns.key("seq", sa.BigInteger, references="message.seq"),
    columns.required("tf", sa.Integer, holds=archive_values.Frequency),
    columns.required("length", sa.Integer),
    columns.required("position", sa.BigInteger, holds=archive_values.Position),
)

# One row a session, created with its first message and replaced with each new summary; its text is
# empty before the first. If several users speak in a session, each user has a further row, of the
# messages that this user may see.
summary = columns.agent_table(
    "summary",
    columns.key("session_id", sa.Text),  # '': of messages without a session
    columns.key("user_id", sa.Text),  # '': of all messages of the session
    # The users whose words it contains.
    columns.required("users", ARRAY(sa.Text), "'{}'"),
    columns.counter("from_seq"),
    columns.counter("through_seq", at_most="lane.message_seq"),
    columns.required("text", sa.Text, "''"),
    columns.required("tokens", sa.Integer, "0"),
    columns.required("model", sa.Text, "''"),
    # The session has ended, and the summary covers all of it.
    columns.required("final", sa.Boolean, "false"),
    # The tokens of the messages after through_seq and up to here: none is counted twice.
    columns.counter("counted_seq", at_most="lane.message_seq"),
    columns.counter("counted_tokens"),
    columns.moment("made_at"),
)

# Sessions that were ended by request, and at which message. Others end by silence, without a row.
session_end = columns.agent_table(
    "session_end",
    columns.key("session_id", sa.Text),
    columns.required("seq", sa.BigInteger, at_most="lane.message_seq"),
    columns.moment("ended_at"),
)

# Identified by the message that made it. The newest plan of a session is the current one.
plan = columns.agent_table(
    "plan",
    columns.key("made_seq", sa.BigInteger, references="message.seq"),
    columns.optional("session_id", sa.Text),
    # The user in whose sessions alone it is visible; null: in all.
    columns.optional("user_id", sa.Text),
    columns.moment(),
)

plan_step = columns.agent_table(
    "plan_step",
    columns.key("made_seq", sa.BigInteger, references="plan.made_seq"),
    columns.key("position", sa.Integer, holds=archive_values.StepNumber),
    columns.required("text", sa.Text),
    # The message that contains its text.
    columns.required("said_seq", sa.BigInteger, references="message.seq"),
    columns.required("state", sa.Text, holds=StepState),
    # The messages of the session that belong to it, both ends included.
    columns.optional("first_seq", sa.BigInteger),
    columns.optional("last_seq", sa.BigInteger, at_most="lane.message_seq"),
)

# Messages up to this one were searched for key messages and plans.
tracking = columns.agent_table(
    "tracking",
    columns.required("seq", sa.BigInteger, at_most="lane.message_seq"),
    no_content="ids and numbers alone",
)
