"""What made a network, and the tables for one that is rebuilt beside it (M24)."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, Table, Text, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.rows.belief import claim, node_version
from memci.storage.rows.metadata import Instant, Json, agent_column, made_at, metadata
from memci.storage.rows.network import (
    focus,
    link,
    node,
    node_term,
    node_vector,
    pass_log,
    trail,
)

# The schema of the tables that hold a rebuilt network, until it is switched to or dropped.
EDITION_SCHEMA = "memci_edition"
_ZERO = text("0")

# What has made the network, in order; jobs are pruned, this is kept. No text, save the names of
# entities that somebody has mentioned.
replay_log = Table(
    "replay_log",
    metadata,
    agent_column(),
    Column("place", BigInteger, Identity(always=True), primary_key=True),
    Column("event", Text, nullable=False),
    Column("job_id", Uuid),
    # Messages that a creation took, as it took them.
    Column("seqs", ARRAY(BigInteger), nullable=False, server_default=text("'{}'")),
    Column("pass_number", BigInteger, nullable=False, server_default=_ZERO),
    # Of a pass: how many nodes it scanned before something else happened, and if it ended then.
    Column("scanned", BigInteger, nullable=False, server_default=_ZERO),
    Column("ended", Boolean, nullable=False, server_default=text("false")),
    Column("details", Json, nullable=False, server_default=text("'{}'")),
    made_at("at"),
)

edition = Table(
    "edition",
    metadata,
    agent_column(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
    Column("up_to_seq", BigInteger),
    # Places in the replay log: its end when this edition was begun; the first entry that takes a
    # message beyond up_to_seq; the entry that was replayed last, and how far.
    Column("begun_at", BigInteger, nullable=False),
    Column("cut_at", BigInteger),
    Column("place", BigInteger, nullable=False, server_default=_ZERO),
    Column("scanned", BigInteger, nullable=False, server_default=_ZERO),
    Column("settled", Boolean, nullable=False, server_default=text("true")),
    made_at(),
    Column("finished_at", Instant),
    Index("edition_open", "agent_id", unique=True,
          postgresql_where=text("state IN ('building', 'ready', 'switching')")),
)  # fmt: skip

# The same tables once more, in a schema of their own: statements find them by the search path.
TWINNED = (
    node,
    node_vector,
    node_term,
    link,
    focus,
    claim,
    node_version,
    trail,
    pass_log,
    replay_log,
)
TWINS = tuple(table.to_metadata(metadata, schema=EDITION_SCHEMA) for table in TWINNED)
