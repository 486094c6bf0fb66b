"""Tables of the memory network: nodes, links, focus, claims, histories, passes, editions."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier, NodeType, VersionReason
from memci.language.detection import Language
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

_NUMBERS = "ids and numbers alone"

node = agent_table(
    "node",
    key("id", sa.BigInteger, at_most="lane.last_node_id"),
    required("slot", sa.BigInteger),
    required("kind", sa.Text, holds=NodeKind),
    required("type", sa.Text, holds=NodeType),
    required("content", sa.Text),
    required("original_length", sa.Integer),
    required("phrase", sa.Text),
    required("keywords", ARRAY(sa.Text)),
    required("language", sa.Text, holds=Language),
    # The case-folded name of an entity; identifies its one living node.
    optional("entity_key", sa.Text),
    required("worth", sa.Double, "0", holds=value_types.Worth),
    required("message_seqs", ARRAY(sa.BigInteger)),
    optional("session_id", sa.Text),
    optional("user_id", sa.Text),
    # When the content of a memory was said; null for an entity.
    optional("said_at", Instant),
    # short or long (R3); a short-term memory is judged again when its term ends (R5).
    required("tier", sa.Text, "'long'", holds=NodeTier),
    optional("expires_at", Instant),
    # When a reason kept it at the end of its short term; whether it was compared with others.
    optional("promoted_at", Instant),
    required("compared", sa.Boolean, "false"),
    # The memory that contradicts it now, and since when (R6).
    optional("superseded_by", sa.BigInteger, at_most="lane.last_node_id"),
    optional("superseded_at", Instant),
    counter("scan_count"),
    counter("last_pass", at_most="lane.pass_number"),
    # Small-model calls of the present compression (M13), in which pass, and when to retry.
    required("attempts", sa.Integer, "0"),
    counter("attempts_pass"),
    optional("retry_at", Instant),
    moment(),
    # The speaker's UTC offset in minutes; null: UTC.
    optional("said_offset", sa.SmallInteger),
    index("node_slot", "slot", unique=True),
    index("node_entity", "entity_key", unique=True, where="entity_key IS NOT NULL"),
    # Finds the last memory of a session: the one with the latest last message (M7).
    index(
        "node_session",
        "session_id",
        sa.text("(message_seqs[cardinality(message_seqs)])"),
        "id",
        where="kind = 'memory'",
    ),
    index("node_short", "expires_at", where="tier = 'short'"),
    storage={"fillfactor": 80},
)

# Only of memories, like node_term: an entity is found by its name.
node_vector = agent_table(
    "node_vector",
    key("node_id", sa.BigInteger, references="node.id"),
    required("embedding", HALFVEC()),
    required("model", sa.Text),
)

node_term = agent_table(
    "node_term",
    key("term", sa.Text),
    key("node_id", sa.BigInteger, references="node.id"),
    required("tf", sa.Integer, holds=value_types.Frequency),
    required("length", sa.Integer),
    index("node_term_node", "node_id"),
)

# A link belongs to its source; its target may be removed, and then it dangles (M14, M15).
link = agent_table(
    "link",
    key("source", sa.BigInteger, references="node.id"),
    key("target", sa.BigInteger, references="node.id", dangling=True, at_most="lane.last_node_id"),
    required("relation", sa.Text),
    required("strength", sa.Double, holds=value_types.Strength),
    required("hint", sa.Text),
    index("link_target", "target"),
    # Room for the new versions that every pass writes.
    storage={"fillfactor": 50},
)

focus = agent_table(
    "focus",
    key("node_id", sa.BigInteger, references="node.id"),
    # The value of lane.mentions at the last mention: the least is evicted first (M5).
    required("mentioned", sa.BigInteger, at_most="lane.mentions"),
)

# Claims of living memories (R6); deleted with the memory.
claim = agent_table(
    "claim",
    key("node_id", sa.BigInteger, references="node.id"),
    key("subject", sa.Text),
    key("attribute", sa.Text),
    key("seq", sa.BigInteger, references="message.seq"),
    optional("value", sa.Text),
    optional("ended", sa.Text),
    required("said_at", Instant),
    index("claim_about", "subject", "attribute"),
    index("claim_message", "seq"),
)

# Memories as they were when another replaced them: merged (R5) or superseded (R6). They remain
# after both are forgotten; an erasure deletes them by node or by message.
node_version = agent_table(
    "node_version",
    key("node_id", sa.BigInteger, at_most="lane.last_node_id"),
    key("replaced_by", sa.BigInteger, at_most="lane.last_node_id"),
    required("reason", sa.Text, holds=VersionReason),
    required("content", sa.Text),
    required("phrase", sa.Text),
    required("keywords", ARRAY(sa.Text)),
    required("language", sa.Text, holds=Language),
    required("type", sa.Text, holds=NodeType),
    required("message_seqs", ARRAY(sa.BigInteger), references="message.seq"),
    optional("session_id", sa.Text),
    optional("user_id", sa.Text),
    optional("said_at", Instant),
    # Of a superseded one: since when the other is valid.
    optional("until", Instant),
    moment("replaced_at"),
    optional("said_offset", sa.SmallInteger),
    index("node_version_successor", "replaced_by"),
    index("node_version_superseded", where="reason = 'superseded'"),
)

trail = agent_table(
    "trail",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("node_id", sa.BigInteger, at_most="lane.last_node_id"),
    required("event", sa.Text, holds=NodeEvent),
    required("pass_number", sa.BigInteger),
    required("details", Json),
    moment("at"),
    index("trail_node", "node_id"),
    no_content=_NUMBERS,
)

# The events that made the network, in order; jobs are pruned, but not these. No text, except the
# names of mentioned entities.
replay_log = agent_table(
    "replay_log",
    sa.Column("place", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("event", sa.Text, holds=ReplayEvent),
    optional("job_id", sa.Uuid),
    # The messages of a creation, in its order.
    required("seqs", ARRAY(sa.BigInteger), "'{}'"),
    counter("pass_number"),
    # Of a pass: how many nodes it scanned before the next event, and whether it ended then.
    counter("scanned"),
    required("ended", sa.Boolean, "false"),
    required("details", Json, "'{}'"),
    moment("at"),
)

pass_log = agent_table(
    "pass_log",
    key("number", sa.BigInteger, at_most="lane.pass_number"),
    # The position in the messages at which it ran (M18).
    required("message_seq", sa.BigInteger),
    moment("started_at"),
    optional("finished_at", Instant),
    counter("scanned"),
    counter("compressed"),
    counter("forgotten"),
    counter("broken"),
    counter("given_up"),
    # The usage of language models.
    optional("models", Json, holds=value_types.ModelUses),
    no_content=_NUMBERS,
)

# The network after a pass: ids and numbers, no text. Arrays of one kind are parallel.
pass_snapshot = agent_table(
    "pass_snapshot",
    key("number", sa.BigInteger, at_most="lane.pass_number"),
    moment("taken_at"),
    # Nodes, ascending; which of them are entities, and which focus points, latest mention first.
    required("node_ids", ARRAY(sa.BigInteger)),
    required("lengths", ARRAY(sa.Integer)),
    required("original_lengths", ARRAY(sa.Integer)),
    required("importances", ARRAY(sa.REAL)),
    required("entities", ARRAY(sa.BigInteger)),
    required("focus", ARRAY(sa.BigInteger)),
    # Links, ascending by source and target.
    required("sources", ARRAY(sa.BigInteger)),
    required("targets", ARRAY(sa.BigInteger)),
    required("strengths", ARRAY(sa.REAL)),
    # Short arrays are compressed as well, and stored outside of the row: more rows fit a page, and
    # computing their size reads none.
    storage={"toast_tuple_target": 128},
    no_content=_NUMBERS,
)

edition = agent_table(
    "edition",
    key("number", sa.BigInteger),
    required("state", sa.Text),
    optional("up_to_seq", sa.BigInteger),
    # Positions in the replay log: its end when this edition was begun, the first entry that takes a
    # message after up_to_seq, and the last replayed entry with the progress in it.
    required("begun_at", sa.BigInteger),
    optional("cut_at", sa.BigInteger),
    counter("place"),
    counter("scanned"),
    required("settled", sa.Boolean, "true"),
    moment(),
    optional("finished_at", Instant),
    index("edition_open", unique=True, where="state IN ('building', 'ready', 'switching')"),
    left_out="a network that is rebuilt beside the current one: rebuild it anew",
    no_content="numbers; a network that is rebuilt is dropped at any erasure",
)

# The schema of the tables of a rebuilt network, until it is switched to or dropped.
EDITION_SCHEMA = "memci_edition"
# The same tables again, in that schema: statements find them by the search path.
EDITION_TABLES = (
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
for _table in EDITION_TABLES:
    _table.to_metadata(metadata, schema=EDITION_SCHEMA)
