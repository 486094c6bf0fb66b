"""Tables of agents, lanes, jobs, receipts, usage and tombstones."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema.metadata import Instant, Json, agent_column, made_at, metadata

_ZERO = text("0")

# One row per agent that ever had work. No content, so no row-level security.
lane = Table(
    "lane",
    metadata,
    agent_column(),
    # Who may work: a claim raises the fence and draws a nonce, an effect checks both.
    Column("fence", BigInteger, nullable=False, server_default=_ZERO),
    Column("lease_owner", Uuid),
    Column("lease_until", Instant),
    # When a token was put on memci.lane / memci.compress for it; null: none is out.
    Column("wake_at", Instant),
    Column("compress_at", Instant),
    Column("not_before", Instant),
    # Compression is wanted while requested > done, however often it was asked for.
    Column("compress_req", BigInteger, nullable=False, server_default=_ZERO),
    Column("compress_done", BigInteger, nullable=False, server_default=_ZERO),
    Column("compress_cursor", Json),
    Column("paused", Boolean, nullable=False, server_default=false()),
    Column("halted_by", Uuid),
    # Counters of what the agent holds.
    Column("message_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("last_node_id", BigInteger, nullable=False, server_default=_ZERO),
    Column("pass_number", BigInteger, nullable=False, server_default=_ZERO),
    Column("mentions", BigInteger, nullable=False, server_default=_ZERO),
    Column("indexed_messages", BigInteger, nullable=False, server_default=_ZERO),
    Column("indexed_terms", BigInteger, nullable=False, server_default=_ZERO),
    # Of documents: how many there are, ids given out, and the chunks that can be found (R9).
    Column("documents", BigInteger, nullable=False, server_default=_ZERO),
    Column("last_document_id", BigInteger, nullable=False, server_default=_ZERO),
    Column("last_chunk_id", BigInteger, nullable=False, server_default=_ZERO),
    Column("indexed_chunks", BigInteger, nullable=False, server_default=_ZERO),
    Column("chunk_terms", BigInteger, nullable=False, server_default=_ZERO),
    # How many of the messages up to message_seq were erased.
    Column("erased_messages", BigInteger, nullable=False, server_default=_ZERO),
    Column("epoch", Integer, nullable=False, server_default=_ZERO),
    # What beat looks at (M16).
    Column("written_at", Instant),
    Column("read_at", Instant),
    Column("beat_at", Instant),
    # No receipt is older; null: there is none. Upkeep looks here, since it sees no receipts.
    Column("receipts_from", Instant),
    # Memories made since alike ones were last merged, and no short term ends earlier (R5). Null:
    # there is none. Upkeep looks here, since it sees no nodes.
    Column("new_memories", BigInteger, nullable=False, server_default=_ZERO),
    Column("expire_at", Instant),
    made_at(),
    # Only what is waited for is indexed: claims, renewals and counters stay HOT updates.
    Index("lane_due", "wake_at", postgresql_where=text("wake_at IS NOT NULL")),
    Index("lane_compress_due", "compress_at", postgresql_where=text("compress_at IS NOT NULL")),
    Index("lane_expire", "expire_at", postgresql_where=text("expire_at IS NOT NULL")),
    postgresql_with={"fillfactor": 50},
)

# The mailbox. Payloads name stored messages and never hold their text.
job = Table(
    "job",
    metadata,
    agent_column(),
    Column("id", Uuid, primary_key=True),
    # Given out under the lane's row lock, so its order is the order of commits.
    Column("ordinal", BigInteger, Identity(always=True), nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("source", Text, nullable=False),
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("attempts", Integer, nullable=False, server_default=_ZERO),
    Column("started", Integer, nullable=False, server_default=_ZERO),
    Column("not_before", Instant),
    Column("last_error", Text),
    Column("result", Json),
    # What language models took for it, over all its tries.
    Column("models", Json),
    Column("traceparent", Text),
    made_at(),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Index("job_head", "agent_id", "ordinal", postgresql_where=text("state = 'queued'")),
    # Whether a job that names pages waits already.
    Index(
        "job_naming",
        "agent_id",
        postgresql_where=text("state = 'queued' AND kind = 'memci.page.name'"),
    ),
    # Whether a job that looks for key messages and plans waits already.
    Index(
        "job_tracking",
        "agent_id",
        postgresql_where=text("state = 'queued' AND kind = 'memci.message.track'"),
    ),
    # … and one that sums up sessions.
    Index(
        "job_summing",
        "agent_id",
        postgresql_where=text("state = 'queued' AND kind = 'memci.session.summarise'"),
    ),
    Index("job_dead", "agent_id", postgresql_where=text("state = 'dead'")),
    postgresql_with={"fillfactor": 70},
)

# The bytes of broker messages that could not be taken in, under their dead job's id.
letter = Table(
    "letter",
    metadata,
    agent_column(),
    Column("job_id", Uuid, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    made_at(),
)


def _usage_columns() -> list[Column[object]]:
    zero = text("0")
    return [
        Column("calls", BigInteger, nullable=False, server_default=zero),
        Column("failures", BigInteger, nullable=False, server_default=zero),
        Column("prompt_tokens", BigInteger, nullable=False, server_default=zero),
        Column("completion_tokens", BigInteger, nullable=False, server_default=zero),
        # US dollars; null: no price is known.
        Column("cost", Double),
        Column("unpriced", BigInteger, nullable=False, server_default=zero),
        Column("over_budget", BigInteger, nullable=False, server_default=zero),
        Column("fell_back", BigInteger, nullable=False, server_default=zero),
    ]


model_usage = Table(
    "model_usage",
    metadata,
    agent_column(),
    # UTC.
    Column("day", Date, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_usage_columns(),
    # Every call writes twice.
    postgresql_with={"fillfactor": 50},
)

# For Prometheus: of no agent, so outside row-level security.
model_total = Table(
    "model_total",
    metadata,
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_usage_columns(),
    postgresql_with={"fillfactor": 20},
)


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


# A trigger on ``message`` refuses whatever has a tombstone here.
erased_message = Table(
    "erased_message",
    metadata,
    agent_column(),
    # SHA-256 of the message's id.
    Column("digest", LargeBinary, primary_key=True),
    made_at("erased_at"),
)


vector_model = Table(
    "vector_model",
    metadata,
    Column("only_one", Boolean, primary_key=True, server_default=text("true")),
    Column("model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    # How often it was changed: each change asks every agent for new vectors, once.
    Column("change", Integer, nullable=False, server_default=text("1")),
    made_at("changed_at"),
    CheckConstraint("only_one"),
)
