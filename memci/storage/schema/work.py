"""Tables of lanes, jobs, receipts, usage and tombstones."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.job import JobSource, JobState
from memci.storage.schema import value_types
from memci.storage.schema.columns import (
    Instant,
    Json,
    agent_table,
    counter,
    index,
    key,
    metadata,
    moment,
    optional,
    required,
)

# The mailbox. Payloads name stored messages and never contain their text.
job = agent_table(
    "job",
    key("id", sa.Uuid),
    # Assigned under the lane's row lock, so its order is the order of commits.
    sa.Column("ordinal", sa.BigInteger, sa.Identity(always=True), nullable=False),
    required("kind", sa.Text),
    required("payload", Json, holds=value_types.JobPayload),
    required("source", sa.Text, holds=JobSource),
    required("state", sa.Text, "'queued'", holds=JobState),
    optional("first_seq", sa.BigInteger),
    optional("last_seq", sa.BigInteger, at_most="lane.message_seq"),
    required("attempts", sa.Integer, "0"),
    required("started", sa.Integer, "0"),
    optional("not_before", Instant),
    optional("last_error", sa.Text),
    optional("result", Json),
    # The usage of language models, over all tries.
    optional("models", Json, holds=value_types.ModelUses),
    optional("traceparent", sa.Text),
    moment(),
    optional("started_at", Instant),
    optional("finished_at", Instant),
    index("job_head", "ordinal", where="state = 'queued'"),
    # Finds a waiting job that names pages.
    index("job_naming", where="state = 'queued' AND kind = 'memci.page.name'"),
    # Finds a waiting job that looks for key messages and plans.
    index("job_tracking", where="state = 'queued' AND kind = 'memci.message.track'"),
    # Finds a waiting job that summarises sessions.
    index("job_summing", where="state = 'queued' AND kind = 'memci.session.summarise'"),
    index("job_dead", where="state = 'dead'"),
    storage={"fillfactor": 70},
    # A job that continues a rebuilt network is useless without one.
    exported="NOT (state = 'queued' AND kind = 'memci.memory.rebuild')",
)

# The bytes of unreadable broker messages, under their dead job's id.
letter = agent_table(
    "letter",
    key("job_id", sa.Uuid, references="job.id"),
    required("body", sa.LargeBinary),
    moment(),
    no_content="bytes: the erasure reads them, and drops those that hold a message",
)


def _usage_columns() -> list[sa.Column[object]]:
    return [
        counter("calls"),
        counter("failures"),
        counter("prompt_tokens"),
        counter("completion_tokens"),
        # US dollars; null: no price is known.
        optional("cost", sa.Double),
        counter("unpriced"),
        counter("over_budget"),
        counter("fell_back"),
    ]


model_usage = agent_table(
    "model_usage",
    # UTC.
    key("day", sa.Date),
    key("task", sa.Text),
    key("model", sa.Text),
    *_usage_columns(),
    # Every call writes twice.
    storage={"fillfactor": 50},
    left_out="the server's account of what it has paid for",
    no_content="names of models, and numbers",
)

# For Prometheus: not of an agent, so without row-level security.
model_total = sa.Table(
    "model_total",
    metadata,
    key("task", sa.Text),
    key("model", sa.Text),
    *_usage_columns(),
    postgresql_with={"fillfactor": 20},
)

agent_setting = agent_table(
    "agent_setting",
    required("parameters", Json, holds=value_types.Parameters),
    moment("changed_at"),
    no_content="ids and numbers alone",
)

receipt = agent_table(
    "receipt",
    key("id", sa.Uuid),
    required("kind", sa.Text),
    # Of an assembled context: its session, so that the next one can be compared with it (R16).
    optional("session_id", sa.Text),
    required("body", Json, holds=value_types.ReceiptBody),
    # Of a read: the agent's last message at the time; messages that the receipt names; those of
    # them that the agent was given; memories that it was given. All null: unknown.
    optional("at_seq", sa.BigInteger, at_most="lane.message_seq"),
    optional("seqs", ARRAY(sa.BigInteger)),
    optional("given", ARRAY(sa.BigInteger)),
    optional("nodes", ARRAY(sa.BigInteger)),
    moment(),
    # Finds receipts that are old enough to delete.
    index("receipt_age", "created_at"),
    index("receipt_given", "at_seq", where="at_seq IS NOT NULL"),
    index("receipt_last", "session_id", "created_at", where="kind = 'context'"),
    # A receipt of an erasure remains after it.
    outlives="kind = 'erasure'",
)

# A trigger on ``message`` refuses messages with a tombstone here.
erased_message = agent_table(
    "erased_message",
    # SHA-256 of the message's id.
    key("digest", sa.LargeBinary, holds=value_types.Digest),
    moment("erased_at"),
    no_content="tombstones, without content",
    outlives="true",
)

# One row per agent that ever had work. No content, so no row-level security.
lane = agent_table(
    "lane",
    # Who may work: a claim increments the fence and draws a nonce, an effect checks both.
    counter("fence", local=True),
    optional("lease_owner", sa.Uuid, local=True),
    optional("lease_until", Instant, local=True),
    # When a wakeup was published on memci.lane / memci.compress for it; null: none is out.
    optional("wake_at", Instant, local=True),
    optional("compress_at", Instant, local=True),
    optional("not_before", Instant, local=True),
    # Compression is due while requested > done, regardless of the number of requests.
    counter("compress_req"),
    counter("compress_done"),
    optional("compress_cursor", Json, holds=value_types.PassCursorValue),
    required("paused", sa.Boolean, "false"),
    optional("halted_by", sa.Uuid, references="job.id"),
    # Counts of the agent's rows.
    counter("message_seq"),
    counter("last_node_id"),
    counter("pass_number"),
    counter("mentions"),
    counter("indexed_messages"),
    counter("indexed_terms"),
    # Of documents: their number, the last ids, and the indexed chunks (R9).
    counter("documents"),
    counter("last_document_id"),
    counter("last_chunk_id"),
    counter("indexed_chunks"),
    counter("chunk_terms"),
    # How many of the messages up to message_seq were erased.
    counter("erased_messages"),
    required("epoch", sa.Integer, "0", local=True),
    # The columns that beat reads (M16).
    optional("written_at", Instant),
    optional("read_at", Instant),
    optional("beat_at", Instant),
    # No receipt is older; null: there is none. Upkeep reads this, since it sees no receipts.
    optional("receipts_from", Instant),
    # Memories made since similar ones were last merged, and the earliest end of a short term (R5).
    # Null: there is none. Upkeep reads this, since it sees no nodes.
    counter("new_memories"),
    optional("expire_at", Instant),
    moment(),
    # Only due work is indexed: claims, renewals and counters stay HOT updates.
    sa.Index("lane_due", "wake_at", postgresql_where=sa.text("wake_at IS NOT NULL")),
    sa.Index(
        "lane_compress_due", "compress_at", postgresql_where=sa.text("compress_at IS NOT NULL")
    ),
    sa.Index("lane_expire", "expire_at", postgresql_where=sa.text("expire_at IS NOT NULL")),
    storage={"fillfactor": 50},
    no_content="ids never come back: its counters go on",
    outlives="true",
)

vector_model = sa.Table(
    "vector_model",
    metadata,
    sa.Column("only_one", sa.Boolean, primary_key=True, server_default=sa.text("true")),
    required("model", sa.Text),
    required("dimension", sa.Integer),
    # The number of changes: each change asks every agent once for new vectors.
    required("change", sa.Integer, "1"),
    moment("changed_at"),
    sa.CheckConstraint("only_one"),
)
