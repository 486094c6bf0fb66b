"""Tables of lanes, jobs, receipts, usage and tombstones."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.job import JobSource, JobState
from memci.storage.schema import archive_values, columns

# The mailbox. Payloads name stored messages and never contain their text.
job = columns.agent_table(
    "job",
    columns.key("id", sa.Uuid),
    # Assigned under the lane's row lock, so its order is the order of commits.
    sa.Column("ordinal", sa.BigInteger, sa.Identity(always=True), nullable=False),
    columns.required("kind", sa.Text),
    columns.required("payload", columns.Json, holds=archive_values.JobPayload),
    columns.required("source", sa.Text, holds=JobSource),
    columns.required("state", sa.Text, "'queued'", holds=JobState),
    columns.optional("first_seq", sa.BigInteger),
    columns.optional("last_seq", sa.BigInteger, at_most="lane.message_seq"),
    columns.required("attempts", sa.Integer, "0"),
    columns.required("started", sa.Integer, "0"),
    columns.optional("not_before", columns.Instant),
    columns.optional("last_error", sa.Text),
    columns.optional("result", columns.Json),
    # The usage of language models, over all tries.
    columns.optional("models", columns.Json, holds=archive_values.ModelUses),
    columns.optional("traceparent", sa.Text),
    columns.moment(),
    columns.optional("started_at", columns.Instant),
    columns.optional("finished_at", columns.Instant),
    # A job that continues a rebuilt network is useless without one.
    exported="NOT (state = 'queued' AND kind = 'memci.memory.rebuild')",
)

# The bytes of unreadable broker messages, under their dead job's id.
dead_letter = columns.agent_table(
    "dead_letter",
    columns.key("job_id", sa.Uuid, references="job.id"),
    columns.required("body", sa.LargeBinary),
    columns.moment(),
    no_content="bytes: the erasure reads them, and drops those that hold a message",
)


model_usage = columns.agent_table(
    "model_usage",
    # UTC.
    columns.key("day", sa.Date),
    columns.key("task", sa.Text),
    columns.key("model", sa.Text),
    *columns.counters("calls", "failures", "prompt_tokens", "completion_tokens"),
    # US dollars; null: no price is known.
    columns.optional("cost", sa.Double),
    *columns.counters("unpriced", "over_budget", "fell_back"),
    left_out="the server's account of what it has paid for",
    no_content="names of models, and numbers",
)

agent_setting = columns.agent_table(
    "agent_setting",
    columns.required("parameters", columns.Json, holds=archive_values.Parameters),
    columns.moment("changed_at"),
    no_content="ids and numbers alone",
)

receipt = columns.agent_table(
    "receipt",
    columns.key("id", sa.Uuid),
    columns.required("kind", sa.Text),
    # Of an assembled context: its session, so that the next one can be compared with it (R16).
    columns.optional("session_id", sa.Text),
    columns.required("body", columns.Json, holds=archive_values.ReceiptBody),
    # Of a read: the agent's last message at the time; messages that the receipt names; those of
    # them that the agent was given; memories that it was given. All null: unknown.
    columns.optional("at_seq", sa.BigInteger, at_most="lane.message_seq"),
    columns.optional("seqs", ARRAY(sa.BigInteger)),
    columns.optional("given", ARRAY(sa.BigInteger)),
    columns.optional("nodes", ARRAY(sa.BigInteger)),
    columns.moment(),
    # A receipt of an erasure remains after it.
    outlives="kind = 'erasure'",
)

# What webhooks and streams are told, added by triggers, and by ``storage.events`` for erasures. Its
# position is its transaction and its place.
event = columns.agent_table(
    "event",
    sa.Column("tx", sa.BigInteger, primary_key=True, server_default=sa.FetchedValue()),
    sa.Column("place", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    columns.required("type", sa.Text),
    columns.required("data", columns.Json),
    columns.moment("at"),
    left_out="what this server has told",
    no_content="ids and numbers alone",
    outlives="type = 'agent.erased'",
)

# A trigger on ``message`` refuses messages with a tombstone here.
erased_message = columns.agent_table(
    "erased_message",
    # SHA-256 of the message's id.
    columns.key("digest", sa.LargeBinary, holds=archive_values.Digest),
    columns.moment("erased_at"),
    no_content="tombstones, without content",
    outlives="true",
)

# One row per agent that ever had work. No content, so no row-level security.
lane = columns.agent_table(
    "lane",
    # Who may work: a claim increments the fence and draws a nonce, an effect checks both.
    columns.counter("fence", local=True),
    columns.optional("lease_owner", sa.Uuid, local=True),
    columns.optional("lease_until", columns.Instant, local=True),
    # When a wakeup was published on memci.lane / memci.compress for it; null: none is out.
    columns.optional("wake_at", columns.Instant, local=True),
    columns.optional("compress_at", columns.Instant, local=True),
    columns.optional("not_before", columns.Instant, local=True),
    # Compression is due while requested > done, regardless of the number of requests.
    *columns.counters("compress_req", "compress_done"),
    columns.optional("compress_cursor", columns.Json, holds=archive_values.PassCursorValue),
    columns.required("paused", sa.Boolean, "false"),
    columns.optional("halted_by", sa.Uuid, references="job.id"),
    # Counts of the agent's rows.
    *columns.counters("message_seq", "last_node_id", "pass_number", "mentions"),
    *columns.counters("indexed_messages", "indexed_terms"),
    # Of documents: their number, the last ids, and the indexed chunks (R9).
    *columns.counters("documents", "last_document_id", "last_chunk_id"),
    *columns.counters("indexed_chunks", "chunk_terms"),
    # How many of the messages up to message_seq were erased.
    columns.counter("erased_messages"),
    # Bytes of its messages and documents, for the quotas of keys.
    columns.counter("stored_bytes", local=True),
    columns.required("epoch", sa.Integer, "0", local=True),
    # The columns that beat reads (M16).
    columns.optional("written_at", columns.Instant),
    columns.optional("read_at", columns.Instant),
    columns.optional("beat_at", columns.Instant),
    # No receipt is older; null: there is none. Upkeep reads this, since it sees no receipts.
    columns.optional("receipts_from", columns.Instant),
    # Memories made since similar ones were last merged, and the earliest end of a short term (R5).
    # Null: there is none. Upkeep reads this, since it sees no nodes.
    columns.counter("new_memories"),
    columns.optional("expire_at", columns.Instant),
    columns.moment(),
    no_content="ids never come back: its counters go on",
    outlives="true",
)
