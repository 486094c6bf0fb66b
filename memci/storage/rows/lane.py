"""Lanes, their mailboxes, and letters that could not be read (queue.md, "Tables")."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
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

from memci.storage.rows.metadata import Instant, Json, agent_column, made_at, metadata

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
