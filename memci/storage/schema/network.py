"""Tables of the memory network: nodes, links, focus, claims, histories, passes, editions."""

from __future__ import annotations

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    Uuid,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema.metadata import Instant, Json, agent_column, made_at, metadata

_ZERO = text("0")

node = Table(
    "node",
    metadata,
    agent_column(),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("slot", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("original_length", Integer, nullable=False),
    Column("phrase", Text, nullable=False),
    Column("keywords", ARRAY(Text), nullable=False),
    Column("language", Text, nullable=False),
    # Of an entity: its name, case folded; finds the one living node of that name.
    Column("entity_key", Text),
    Column("worth", Double, nullable=False, server_default=_ZERO),
    Column("message_seqs", ARRAY(BigInteger), nullable=False),
    Column("session_id", Text),
    Column("user_id", Text),
    # When what it tells was said; null for an entity.
    Column("said_at", Instant),
    # short or long (R3); a short-term memory is judged anew when its time is over (R5).
    Column("tier", Text, nullable=False, server_default=text("'long'")),
    Column("expires_at", Instant),
    # When something spoke for it at the end of its short term; whether it was compared with others.
    Column("promoted_at", Instant),
    Column("compared", Boolean, nullable=False, server_default=false()),
    # The memory that says otherwise now, and since when (R6).
    Column("superseded_by", BigInteger),
    Column("superseded_at", Instant),
    Column("scan_count", BigInteger, nullable=False, server_default=_ZERO),
    Column("last_pass", BigInteger, nullable=False, server_default=_ZERO),
    # Small-model calls of the compression under way (M13), in which pass, and when to try again.
    Column("attempts", Integer, nullable=False, server_default=_ZERO),
    Column("attempts_pass", BigInteger, nullable=False, server_default=_ZERO),
    Column("retry_at", Instant),
    made_at(),
    # Minutes east of UTC of the clock what it tells was said by; null: UTC.
    Column("said_offset", SmallInteger),
    Index("node_slot", "agent_id", "slot", unique=True),
    Index("node_entity", "agent_id", "entity_key", unique=True,
          postgresql_where=text("entity_key IS NOT NULL")),
    # Finds the last memory of a session: the one with the latest last message (M7).
    Index("node_session", "agent_id", "session_id",
          text("(message_seqs[cardinality(message_seqs)])"), "id",
          postgresql_where=text("kind = 'memory'")),
    Index("node_short", "agent_id", "expires_at", postgresql_where=text("tier = 'short'")),
    postgresql_with={"fillfactor": 80},
)  # fmt: skip

# Of memory nodes alone, as node_term is: an entity is found by its name.
node_vector = Table(
    "node_vector",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("embedding", HALFVEC(), nullable=False),
    Column("model", Text, nullable=False),
)

node_term = Table(
    "node_term",
    metadata,
    agent_column(),
    Column("term", Text, primary_key=True),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("tf", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Index("node_term_node", "agent_id", "node_id"),
)

# A link belongs to its source; its target may be gone, and then it dangles (M14, M15).
link = Table(
    "link",
    metadata,
    agent_column(),
    Column("source", BigInteger, primary_key=True, autoincrement=False),
    Column("target", BigInteger, primary_key=True, autoincrement=False),
    Column("relation", Text, nullable=False),
    Column("strength", Double, nullable=False),
    Column("hint", Text, nullable=False),
    Index("link_target", "agent_id", "target"),
    # Room for the new versions that every pass writes.
    postgresql_with={"fillfactor": 50},
)

focus = Table(
    "focus",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    # Value of lane.mentions at the last mention: the least is evicted first (M5).
    Column("mentioned", BigInteger, nullable=False),
)

trail = Table(
    "trail",
    metadata,
    agent_column(),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("node_id", BigInteger, nullable=False),
    Column("event", Text, nullable=False),
    Column("pass_number", BigInteger, nullable=False),
    Column("details", Json, nullable=False),
    made_at("at"),
    Index("trail_node", "agent_id", "node_id"),
)

pass_log = Table(
    "pass_log",
    metadata,
    agent_column(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    # Position in the raw log at which it ran (M18).
    Column("message_seq", BigInteger, nullable=False),
    made_at("started_at"),
    Column("finished_at", Instant),
    Column("scanned", BigInteger, nullable=False, server_default=_ZERO),
    Column("compressed", BigInteger, nullable=False, server_default=_ZERO),
    Column("forgotten", BigInteger, nullable=False, server_default=_ZERO),
    Column("broken", BigInteger, nullable=False, server_default=_ZERO),
    Column("given_up", BigInteger, nullable=False, server_default=_ZERO),
    # What language models took for it.
    Column("models", Json),
)

# The network as a pass left it: ids and numbers, no text. Arrays of one kind are parallel.
pass_snapshot = Table(
    "pass_snapshot",
    metadata,
    agent_column(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    made_at("taken_at"),
    # Nodes, ascending; which of them are entities, and which focus points, latest mention first.
    Column("node_ids", ARRAY(BigInteger), nullable=False),
    Column("lengths", ARRAY(Integer), nullable=False),
    Column("original_lengths", ARRAY(Integer), nullable=False),
    Column("importances", ARRAY(REAL), nullable=False),
    Column("entities", ARRAY(BigInteger), nullable=False),
    Column("focus", ARRAY(BigInteger), nullable=False),
    # Links, ascending by source and target.
    Column("sources", ARRAY(BigInteger), nullable=False),
    Column("targets", ARRAY(BigInteger), nullable=False),
    Column("strengths", ARRAY(REAL), nullable=False),
    # Short arrays are compressed as well, and lie beside the row: more of them fit, and weighing
    # them reads none.
    postgresql_with={"toast_tuple_target": 128},
)


# What living memories say to be so (R6); goes with its memory.
claim = Table(
    "claim",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("subject", Text, primary_key=True),
    Column("attribute", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("value", Text),
    Column("ended", Text),
    Column("said_at", Instant, nullable=False),
    Index("claim_about", "agent_id", "subject", "attribute"),
    Index("claim_message", "agent_id", "seq"),
)

# Memories as they were when another took their place: merged (R5) or superseded (R6). They outlive
# both; an erasure removes them by node or by message.
node_version = Table(
    "node_version",
    metadata,
    agent_column(),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    Column("replaced_by", BigInteger, primary_key=True, autoincrement=False),
    # merged or superseded
    Column("reason", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("phrase", Text, nullable=False),
    Column("keywords", ARRAY(Text), nullable=False),
    Column("language", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("message_seqs", ARRAY(BigInteger), nullable=False),
    Column("session_id", Text),
    Column("user_id", Text),
    Column("said_at", Instant),
    # Of a superseded one: since when the other holds.
    Column("until", Instant),
    made_at("replaced_at"),
    Column("said_offset", SmallInteger),
    Index("node_version_successor", "agent_id", "replaced_by"),
    Index("node_version_superseded", "agent_id", postgresql_where=text("reason = 'superseded'")),
)

# Sessions that somebody has ended: up to which message. Others end by silence, which needs no row.
session_end = Table(
    "session_end",
    metadata,
    agent_column(),
    Column("session_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    made_at("ended_at"),
)


# The schema of the tables that hold a rebuilt network, until it is switched to or dropped.
EDITION_SCHEMA = "memci_edition"


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
